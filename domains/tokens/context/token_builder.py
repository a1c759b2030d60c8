"""What token hierarchies have in common: they are made from an image, and their cut becomes tokens."""

from __future__ import annotations

from abc import abstractmethod
from typing import Generic, TypeVar

import numpy as np

from hra.domains.tokens.context.choice import Choice
from hra.domains.tokens.context.context import TokenContext
from hra.domains.tokens.token_sets.token_set import TokenSet
from hra.model.builder import HierarchyBuilder
from hra.model.hierarchy import Hierarchy
from hra.model.metrics import ErrorMetric

Tokens = TypeVar("Tokens", bound=TokenSet, covariant=True)


class TokenBuilder(HierarchyBuilder, Generic[Tokens]):
    """Builds a hierarchy whose nodes are tokens, each of cost 1, and turns its cuts into token sets.

    Examples
    --------
    >>> import numpy as np
    >>> from hra.domains import tokens
    >>> image = np.random.default_rng(0).random((128, 192, 3), dtype=np.float32)
    >>> context = tokens.PyramidSampling().context(image, "what is at the top left?")
    >>> builder = tokens.GridBuilder()
    >>> isinstance(builder, tokens.TokenBuilder), builder.build(context)
    (True, Hierarchy(forest of 96 refinements over 96 nodes, cost in tokens))
    """

    @abstractmethod
    def build(self, context: TokenContext) -> Hierarchy:
        """The hierarchy of ``context``, in tokens."""

    @abstractmethod
    def tokens(self, context: TokenContext, hierarchy: Hierarchy, cut: np.ndarray) -> Tokens:
        """The tokens of the nodes ``cut`` int [K] of a ``hierarchy`` that `build` made of ``context``."""


class DirectBuilder(TokenBuilder[Tokens]):
    """A token builder that also knows a short way from errors to a cut, for the metrics that it is made for."""

    @abstractmethod
    def choose(self, context: TokenContext, metric: ErrorMetric, budget: int) -> Choice | None:
        """Exactly ``budget`` tokens, chosen as well as `Hull(spend_all=True)` does or better.

        None if that is not proven, the budget is too small or beyond full detail, or ``metric`` is another one: then
        the hierarchy has to be built.
        """

    @abstractmethod
    def chosen(self, context: TokenContext, cut: np.ndarray) -> Tokens:
        """The tokens of a cut that `choose` found."""

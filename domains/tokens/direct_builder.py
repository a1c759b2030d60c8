"""Builders that can choose without building: a batch of images then takes no Python objects per refinement."""

from __future__ import annotations

from abc import abstractmethod

import numpy as np

from hra.domains.tokens.choice import Choice
from hra.domains.tokens.context import TokenContext
from hra.domains.tokens.token_builder import TokenBuilder, Tokens
from hra.model.metrics import ErrorMetric


class DirectBuilder(TokenBuilder[Tokens]):
    """A token builder that also knows a short way from errors to a cut, for the metrics that it is made for."""

    @abstractmethod
    def choose(self, context: TokenContext, metric: ErrorMetric, budget: int) -> Choice | None:
        """Exactly ``budget`` tokens, chosen as well as `Hull(exact=True)` does or better.

        None if that is not proven, the budget is too small or beyond full detail, or ``metric`` is another one: then
        the hierarchy has to be built.
        """

    @abstractmethod
    def chosen(self, context: TokenContext, cut: np.ndarray) -> Tokens:
        """The tokens of a cut that `choose` found."""

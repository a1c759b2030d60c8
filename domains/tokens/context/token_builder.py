"""What token hierarchies have in common: they are made from an image, and their cut becomes tokens.

Also what was chosen for one image of a batch, with its certificate, and the best of independent patches without any
hierarchy.
"""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass
from typing import ClassVar, Generic, TypeVar

import numpy as np

from hra.allocating.allocation import Allocation, ratio
from hra.domains.tokens.context.context import TokenContext
from hra.domains.tokens.token_sets.token_set import TokenSet
from hra.model.builder import HierarchyBuilder
from hra.model.hierarchy import Hierarchy
from hra.model.metrics import ErrorMetric
from hra.model.precise import ceiling
from hra.model.short_repr import ShortRepr
from hra.traversals.base import Traversal
from hra.traversals.hull import Hull


@dataclass(frozen=True, eq=False, repr=False)
class Choice(ShortRepr):
    """The cut of one image, without the objects that a single allocation carries.

    Attributes
    ----------
    context : the image.
    cut : int64 [K], nodes of the builder's hierarchy, ascending.
    gain, base_error : in the metric's unit.
    shortfall : no choice within the budget gains more than so much more; None where the metric's gains do not add up.
    allocation : the whole allocation, where there was no faster way; else None.
    """

    context: TokenContext
    cut: np.ndarray
    gain: float
    base_error: float
    shortfall: float | None
    allocation: Allocation | None = None

    @classmethod
    def of(cls, allocation: Allocation) -> Choice:
        """An allocation of a `TokenContext` as a choice."""
        shortfall = allocation.shortfall if allocation.problem.additive else None
        numbers = (allocation.gain, allocation.base_error, shortfall)
        return cls(allocation.context, allocation.cut, *numbers, allocation=allocation)

    def __len__(self) -> int:
        """Number of tokens."""
        return len(self.cut)

    @property
    def residual(self) -> float:
        """Error that remains."""
        return max(self.base_error - self.gain, 0.0)

    @property
    def residual_gap(self) -> float | None:
        """(residual - least possible residual) / least possible residual; None without a certificate."""
        if self.shortfall is None:
            return None
        return ratio(self.shortfall, self.residual - self.shortfall)

    @property
    def upper_bound(self) -> float | None:
        """No choice within the budget gains more; None without a certificate."""
        return None if self.shortfall is None else ceiling((self.gain, self.shortfall))


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

    in_time: ClassVar[bool] = False
    """Whether it takes the contexts of videos."""
    with_copy: ClassVar[bool] = False
    """Whether it takes those of pictures with a small copy."""

    @abstractmethod
    def build(self, context: TokenContext) -> Hierarchy:
        """The hierarchy of ``context``, in tokens."""

    @abstractmethod
    def tokens(self, context: TokenContext, hierarchy: Hierarchy, cut: np.ndarray) -> Tokens:
        """The tokens of the nodes ``cut`` int [K] of a ``hierarchy`` that `build` made of ``context``."""


class DirectBuilder(TokenBuilder[Tokens]):
    """A token builder that also knows a short way from errors to a cut, for the metrics that it is made for."""

    rule: ClassVar[Traversal] = Hull(spend_all=True)
    """What chooses the same cuts of its hierarchies."""

    @abstractmethod
    def choose(self, context: TokenContext, metric: ErrorMetric, budget: int) -> Choice | None:
        """Exactly ``budget`` tokens, those that `rule` chooses.

        None if that is not proven, the budget is too small or beyond full detail, or ``metric`` is another one: then
        the hierarchy has to be built.
        """

    @abstractmethod
    def chosen(self, context: TokenContext, cut: np.ndarray) -> Tokens:
        """The tokens of a cut that `choose` found."""


def best_of(context: TokenContext, score: np.ndarray, budget: int, *, certified: bool) -> Choice | None:
    """The ``budget`` nodes of highest ``score`` [N], >= 0, the first of equals; None if there are no more than that."""
    if budget >= score.size:
        return None
    least = np.partition(score, score.size - budget)[score.size - budget] if budget else np.inf
    above = np.flatnonzero(score > least)
    equal = np.flatnonzero(score == least)[: budget - above.size]
    cut = np.union1d(above, equal)
    gain = float(score[cut].sum())
    return Choice(context, cut, gain, float(score.sum()), 0.0 if certified else None)

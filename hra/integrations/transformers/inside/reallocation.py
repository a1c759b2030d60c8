"""Which visual tokens a step of an answer sees: allocated again from the attention of the step before."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from math import ceil

import numpy as np

from hra.allocating.allocation import Allocation
from hra.allocating.solve import solve
from hra.model.hierarchy import Hierarchy
from hra.traversals.base import Traversal
from hra.traversals.coherent import Coherent
from hra.traversals.hull import Hull

Rate = Callable[[float], float]
"""From the share of attention that visual tokens got, beside that in the prompt, to the share of them that stays."""


@dataclass(eq=False)
class Reallocation:
    """The visual tokens of one prompt, step by step.

    Parameters
    ----------
    number : of visual tokens.
    budget : of them, at most.
    traversal : with hysteresis and a limit of changes.
    rate : of the budget that stays; None for all of it.
    returning : whether tokens that went may come back.

    Attributes
    ----------
    kept : bool [number].
    churn : changes of every step.
    """

    number: int
    budget: int
    traversal: Coherent
    rate: Rate | None
    returning: bool
    kept: np.ndarray = field(init=False)
    churn: list[int] = field(default_factory=list)
    _first: float | None = None
    _previous: Allocation | None = None

    def __post_init__(self) -> None:
        self.kept = np.ones(self.number, np.bool_)

    def allocate(self, paid: np.ndarray) -> None:
        """Choose by the attention [number] of a token of the prompt or the answer."""
        before, count = self.kept, self._count(float(paid.sum()))
        self.kept = self._anew(paid, count) if self.returning else self._fewer(paid, count)
        self.churn.append(int(np.count_nonzero(before != self.kept)))

    def _count(self, share: float) -> int:
        if self._first is None:
            self._first = share
        if self.rate is None or not self._first > 0:
            return min(self.budget, self.number)
        return min(self.number, ceil(self.budget * min(1.0, max(0.0, self.rate(share / self._first)))))

    def _anew(self, paid: np.ndarray, count: int) -> np.ndarray:
        allocation = _solved(paid, count, self.traversal, self._previous)
        self._previous = allocation
        return _chosen(allocation, self.number)

    def _fewer(self, paid: np.ndarray, count: int) -> np.ndarray:
        """Choose among the tokens that are left; the limit on changes says how many may go."""
        held, limit = np.flatnonzero(self.kept), self.traversal.max_churn
        least = 0 if limit is None or self._previous is None else len(held) - limit
        self._previous = _solved(paid[held], min(len(held), max(count, least)), self.traversal.traversal, None)
        kept = np.zeros(self.number, np.bool_)
        kept[held[_chosen(self._previous, len(held))]] = True
        return kept


def dyrate(share: float) -> float:
    """DyRate-like: as many tokens as they get attention, beside the prompt's last token.

    X. Liang et al. (2025) learn the rate from the attention; here it follows it.

    Examples
    --------
    >>> from hra.integrations.transformers import dyrate
    >>> dyrate(0.25)
    0.25
    """
    return share


def traversal_of(hysteresis: float, max_churn: int | None) -> Coherent:
    """The best tokens, held close to those of the last step."""
    return Coherent(Hull(spend_all=True), hysteresis, max_churn)


def _solved(paid: np.ndarray, count: int, traversal: Traversal, previous: Allocation | None) -> Allocation:
    hierarchy = Hierarchy.flat(np.ones(len(paid)), cost_unit="tokens")
    return solve(hierarchy, count, gains=paid.astype(np.float64), traversal=traversal, previous=previous)


def _chosen(allocation: Allocation, number: int) -> np.ndarray:
    kept = np.zeros(number, np.bool_)
    kept[allocation.cut] = True
    return kept

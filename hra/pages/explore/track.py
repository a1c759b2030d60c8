"""What an allocator answers at a row of budgets, written as changes from each to the next."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from hra.allocating.allocation import Allocation
from hra.model.problem import Problem
from hra.pages.explore.packed import packed
from hra.traversals.base import Traversal
from hra.traversals.best_first import BestFirst
from hra.traversals.hull import Hull
from hra.traversals.threshold import Threshold

# The page's numbers of a hierarchy's nodes.
Number = Callable[[np.ndarray], np.ndarray]
# Steps of a slider.
STEPS = 64
USUAL: Mapping[str, Traversal] = {
    "hra: least error within the budget": Hull(),
    "one error for all, as engines have it": Threshold(),
    "refine the best ratio first": BestFirst(),
    "refine the largest error first": BestFirst(by="error"),
}


@dataclass(frozen=True, eq=False)
class Track:
    """The answers of one method at P budgets.

    Attributes
    ----------
    name : of the method.
    budgets : float64 [P], rising; cost : float64 [P], what was spent of each.
    residual : float64 [P], error that remains.
    least : float64 [P], error that no choice within the budget goes below; NaN where nothing proves one.
    cuts : int64 [K] each, nodes of every answer, ascending; empty where the method has no hierarchy.
    more : what else a page needs to draw the method.
    """

    name: str
    budgets: np.ndarray
    cost: np.ndarray
    residual: np.ndarray
    least: np.ndarray
    cuts: Sequence[np.ndarray] = ()
    more: dict[str, Any] = field(default_factory=dict)

    @classmethod
    def of(cls, name: str, allocations: Iterable[Allocation], **more: Any) -> Track:
        """Answers to one context, by rising budget."""
        rows, cuts = [], []
        for allocation in allocations:
            least = allocation.least_residual if allocation.problem.additive else np.nan
            rows.append((allocation.budget, allocation.cost, allocation.residual, least))
            cuts.append(allocation.cut)
        budgets, cost, residual, least = np.array(rows, np.float64).T
        return cls(name, budgets, cost, residual, least, cuts, more)

    def record(self, number: Number = np.asarray) -> dict[str, Any]:
        """The track as JSON, arrays packed; ``changed`` are nodes that come or go, ``ends`` where each step's end.

        ``number`` gives the page's numbers of nodes.
        """
        steps = [number(step) for step in changes(self.cuts)]
        ends = np.cumsum([len(step) for step in steps])
        numbers = {name: packed(getattr(self, name)) for name in ("budgets", "cost", "residual", "least")}
        nodes = np.concatenate([*steps, np.zeros(0, np.int64)])
        return {
            "name": self.name,
            **numbers,
            "changed": packed(nodes.astype(np.uint16 if nodes.max(initial=0) < 2**16 else np.uint32)),
            "ends": packed(ends.astype(np.uint32)),
            **self.more,
        }


def changes(cuts: Sequence[np.ndarray]) -> list[np.ndarray]:
    """Nodes in which each cut differs from the one before, int64 [C] each; the first differs in all."""
    before = np.zeros(0, np.int64)
    steps = []
    for cut in cuts:
        steps.append(np.setxor1d(before, cut, assume_unique=True))
        before = cut
    return steps


def budgets_between(base: float, total: float, count: int, also: Iterable[float] = ()) -> np.ndarray:
    """At most ``count`` whole budgets from ``base`` to ``total``, evenly on a logarithmic scale, and those ``also``."""
    low, high = np.ceil(base), np.floor(total)
    even = np.rint(np.geomspace(max(low, 1.0), max(high, 1.0), count))
    within = np.clip([*even, low, high, *also], low, high)
    return np.unique(within)


def tracks(problem: Problem, budgets: np.ndarray, methods: Mapping[str, Traversal] = USUAL) -> list[Track]:
    """What each method answers to a problem of unlimited budget at every budget [P]."""
    return [Track.of(name, allocate_all(problem, budgets, traversal)) for name, traversal in methods.items()]


def allocate_all(problem: Problem, budgets: np.ndarray, traversal: Traversal) -> Iterator[Allocation]:
    """An allocation for every budget [P]; gains do not depend on it, and are evaluated once."""
    for budget in budgets:
        limited = replace(problem, budget=float(budget))
        yield Allocation(limited, traversal.solve(limited), 0.0)


def slider(budgets: np.ndarray, start: float, unit: str, error: str) -> dict[str, Any]:
    """What every view says of its slider: its units, and at which step it begins, that of ``start``."""
    first = int(np.searchsorted(budgets, np.clip(start, budgets[0], budgets[-1])))
    return {"unit": unit, "error": error.replace("px2", "px²"), "start": first}

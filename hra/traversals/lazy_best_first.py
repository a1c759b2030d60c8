"""Best-first on demand: 20 levels and more, of which only what is visited is ever made."""

from __future__ import annotations

import heapq
import math
import time
import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from hra.errors import HraError, InvalidBudget, RepairWarning
from hra.model.budget import check_covered, check_number
from hra.model.lazy_hierarchy import LazyHierarchy, LazyMetric
from hra.model.units import exactly
from hra.solvers.lazy.allocation import LazyAllocation
from hra.solvers.lazy.tree import LazyStep, LazyTree

_TAKE, _EXPAND = 0, 1


@dataclass(frozen=True)
class LazyBestFirst:
    """Repeatedly take the refinement with the most gain per cost that still fits, making nodes only when it must.

    Takes what `BestFirst` takes on the whole tree. A node is expanded only once its error per least cost, the most that
    refining it could be worth, exceeds the worth of every refinement that is known (lazy evaluation: Minoux 1978).
    As for `BestFirst`, nothing guarantees the sum of errors, but the allocation's upper bound holds for the whole tree.

    Anytime: an answer found with fewer expansions is a prefix of one found with more, so more never gains less. What
    a limit leaves of the budget stays unspent.

    Parameters
    ----------
    max_expansions : nodes to expand at most, >= 1; None for no limit.
    seconds : no node is expanded after this time, but for the first; None for no limit.

    Examples
    --------
    >>> import hra
    >>> class Halves(hra.LazyHierarchy):
    ...     def roots(self):
    ...         return [(0.0, 1.0)]
    ...     def expand(self, node):
    ...         middle = sum(node) / 2
    ...         return [(node[0], middle), (middle, node[1])]
    >>> class Near(hra.LazyMetric):
    ...     def evaluate(self, nodes, context):
    ...         return [(high - low) * (low <= context < high) for low, high in nodes]
    >>> allocation = hra.LazyBestFirst().allocate(Halves(), Near(), budget=5, context=0.3)
    >>> allocation.cost, allocation.residual, allocation.expansions
    (5.0, 0.0625, 5)
    """

    max_expansions: int | None = None
    seconds: float | None = None

    def __post_init__(self) -> None:
        if self.max_expansions is not None and not self.max_expansions >= 1:
            raise HraError(f"max_expansions must be >= 1, got {self.max_expansions!r}", where="LazyBestFirst")
        if self.seconds is not None and not self.seconds >= 0:
            raise HraError(f"seconds must be >= 0, got {self.seconds!r}", where="LazyBestFirst")

    def allocate(
        self, hierarchy: LazyHierarchy, metric: LazyMetric, budget: float, context: Any = None
    ) -> LazyAllocation:
        """The allocation for ``context`` that costs at most ``budget``, as far as the limits allow.

        Raises
        ------
        InvalidBudget : not a number >= 0, or infinite without a limit.
        BudgetTooSmall : it does not cover the roots.
        HierarchyError, MetricError : what the hierarchy or the metric returned is not usable.

        Warns
        -----
        RepairWarning : children had more error than their parent; they were scaled down to it.
        """
        return next(self.improve(hierarchy, metric, budget, context))

    def improve(
        self, hierarchy: LazyHierarchy, metric: LazyMetric, budget: float, context: Any = None
    ) -> Iterator[LazyAllocation]:
        """Better and better allocations; the limits count again for each. Ends when nothing is left that fits."""
        tree = LazyTree(hierarchy, metric, context)
        search = _Search(tree, check_number(budget))
        fits = search.cost <= search.limit
        check_covered(search.budget, _covering(search.cost), hierarchy.cost_unit, fits=fits)
        if math.isinf(search.budget) and self.max_expansions is None and self.seconds is None:
            what = "an infinite budget never ends on a hierarchy that is made on demand"
            raise InvalidBudget(what, where="budget", fix="set max_expansions or seconds, or a finite budget")
        return self._improve(search)

    def _improve(self, search: _Search) -> Iterator[LazyAllocation]:
        while True:
            allocation = search.run(self.max_expansions or math.inf, math.inf if self.seconds is None else self.seconds)
            yield allocation
            if allocation.finished:
                return


class _Search:
    """The state of one search: the tree so far, which of it is active, and a heap of what may come next."""

    def __init__(self, tree: LazyTree, budget: float) -> None:
        self.tree, self.budget = tree, budget
        self.base_error = math.fsum(tree.error)
        self.cost = sum(map(tree.exact, range(len(tree.nodes))), Fraction(0))
        self.limit = Fraction(10) ** 400 if math.isinf(budget) else exactly(budget)
        self.gain, self.seconds, self.warned = 0.0, 0.0, 0
        self.active = set(range(len(tree.nodes)))
        # Most worth first; of equals what is known, which may make the expansion needless, then the order of making.
        self.heap: list[tuple[float, int, int, LazyStep | None]] = []
        for v in self.active:
            self._push_expansion(v)

    def run(self, expansions: float, seconds: float) -> LazyAllocation:
        """Continue until nothing is left or a limit is reached."""
        start = time.perf_counter()
        done = 0
        while self.heap:
            _, _, v, step = self.heap[0]
            if step is None and done and (done >= expansions or time.perf_counter() - start >= seconds):
                break
            heapq.heappop(self.heap)
            done += self._expand(v) if step is None else self._take(step)
        self.seconds += time.perf_counter() - start
        self._warn()
        return self._allocation()

    def _expand(self, v: int) -> int:
        """Make the children of ``v`` unless none of them could be paid; return how many nodes were expanded."""
        if self.cost + exactly(self.tree.least_cost[v]) > self.limit:
            return 0
        for step in self.tree.expand(v):
            if step.gain > 0:
                heapq.heappush(self.heap, (-_worth(step.gain, float(step.cost)), _TAKE, step.added[0], step))
        return 1

    def _take(self, step: LazyStep) -> int:
        """Take a refinement if it fits; one that does not is dropped for good, for what is left only shrinks."""
        if self.cost + step.cost > self.limit:
            return 0
        self.cost += step.cost
        self.gain += step.gain
        self.active.discard(step.removed)
        self.active.update(step.added)
        for v in step.added:
            self._push_expansion(v)
        return 0

    def _push_expansion(self, v: int) -> None:
        if self.tree.error[v] > 0:
            heapq.heappush(self.heap, (-_worth(self.tree.error[v], self.tree.least_cost[v]), _EXPAND, v, None))

    def _allocation(self) -> LazyAllocation:
        visited = self.tree.freeze()
        active = np.zeros(len(visited.nodes), np.bool_)
        active[list(self.active)] = True
        return LazyAllocation(
            visited, active, self.budget, float(self.cost), self.gain, self.base_error, not self.heap, self.seconds
        )

    def _warn(self) -> None:
        repaired, self.warned = self.tree.repaired - self.warned, self.tree.repaired
        if repaired:
            message = f"the metric is not monotone: at {repaired} nodes the children had more error; it was scaled down"
            warnings.warn(message, RepairWarning, stacklevel=4)


def _worth(gain: float, cost: float) -> float:
    return gain / cost if cost > 0 else math.inf


def _covering(cost: Fraction) -> float:
    """The least double that counts as at least ``cost``."""
    nearest = float(cost)
    return nearest if exactly(nearest) >= cost else math.nextafter(nearest, math.inf)

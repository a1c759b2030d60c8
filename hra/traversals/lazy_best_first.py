"""Best-first on demand: 20 levels and more, of which only what is visited is ever made."""

from __future__ import annotations

import heapq
import math
import time
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from hra.errors import HraError, InvalidBudget, check_kind, warn
from hra.model.arrays import is_number
from hra.model.lazy_hierarchy import LazyHierarchy, LazyMetric
from hra.model.precise import precise_total
from hra.model.problem import check_covered, check_number
from hra.model.units import exactly
from hra.solvers.lazy.allocation import LazyAllocation
from hra.solvers.lazy.tree import LazyStep, LazyTree, covering
from hra.solvers.lazy.visited_tree import VisitedTree
from hra.traversals.base import is_whole
from hra.traversals.exact import Exact

_TAKE, _EXPAND = 0, 1
# Nodes are looked into before the relaxation is solved again: one at first, later this part of those expanded.
_BATCH = 1 / 8
# A relative gap below which whole steps are not looked for.
_CLOSE_ENOUGH = 1e-3
# Of the search for the best visited cut, which takes a few milliseconds then.
_STATES = 2**18


@dataclass(frozen=True)
class LazyBestFirst:
    """Repeatedly take the refinement with the most gain per cost that still fits, making nodes only when it must.

    First takes what `BestFirst` takes on the whole tree. A node is expanded only once its potential per least cost, the
    most that refining it could be worth, exceeds the worth of every refinement that is known (lazy evaluation: Minoux
    1978). Best-first stops for good at steps that do not pay, whatever follows them. So the search then looks ahead: it
    expands what the best cut would refine if every node that is not expanded held its whole potential (optimism in the
    face of uncertainty: Munos 2014), on the concave envelope along chains of splits, until that cut is made of visited
    nodes. The answer is the best cut of the visited tree that `Exact` finds, or best-first's where that gains more; its
    upper bound holds for the whole tree.

    Anytime: more expansions never gain less.

    Parameters
    ----------
    max_expansions : nodes to expand at most, look-ahead included, >= 1; None for no limit.
    seconds : no node is expanded after this time, except for the first; None for no limit.
    look_ahead : nodes to expand at most once best-first has ended, >= 0; with 0 the answer is best-first's.

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
    look_ahead: int = 1000

    def __post_init__(self) -> None:
        if self.max_expansions is not None and not (is_whole(self.max_expansions) and self.max_expansions >= 1):
            raise HraError(
                f"max_expansions must be an integer >= 1, got {self.max_expansions!r}", where="LazyBestFirst"
            )
        if self.seconds is not None and not (is_number(self.seconds) and self.seconds >= 0):
            raise HraError(f"seconds must be >= 0, got {self.seconds!r}", where="LazyBestFirst")
        if not (is_whole(self.look_ahead) and self.look_ahead >= 0):
            raise HraError(f"look_ahead must be an integer >= 0, got {self.look_ahead!r}", where="LazyBestFirst")

    def allocate(
        self, hierarchy: LazyHierarchy, metric: LazyMetric, budget: float, context: Any = None
    ) -> LazyAllocation:
        """The allocation for ``context`` that costs at most ``budget``, as far as the limits allow.

        Raises
        ------
        HraError : something else in the place of the hierarchy or of the metric.
        InvalidBudget : not a number >= 0, or infinite without a limit.
        BudgetTooSmall : it does not cover the roots.
        HierarchyError, MetricError : what the hierarchy or the metric returned is not usable.

        Warns
        -----
        RepairWarning : children had more error than their parent; they were scaled down to it. Or more was gained below
            a node than its potential; bounds rest on errors then.
        """
        return next(self.improve(hierarchy, metric, budget, context))

    def improve(
        self, hierarchy: LazyHierarchy, metric: LazyMetric, budget: float, context: Any = None
    ) -> Iterator[LazyAllocation]:
        """Better and better allocations till the search ends; for each, the limits but ``look_ahead`` count again."""
        for name, value, kind in (("hierarchy", hierarchy, LazyHierarchy), ("metric", metric, LazyMetric)):
            check_kind(name, value, kind, "call allocate(hierarchy, metric, budget), both made on demand")
        tree = LazyTree(hierarchy, metric, context)
        search = _Search(tree, check_number(budget), self.look_ahead)
        fits = search.cost <= search.limit
        check_covered(search.budget, covering(search.cost), hierarchy.cost_unit, fits=fits)
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
            # What is known of a node may be more than what is known of its children.
            search.bound = allocation.upper_bound


class _Search:
    """The state of one search: the tree so far, which of it is active, and a heap of what may come next."""

    def __init__(self, tree: LazyTree, budget: float, look_ahead: int) -> None:
        self.tree, self.budget, self.look_ahead, self.left = tree, budget, look_ahead > 0, look_ahead
        self.base_error = math.fsum(tree.error)
        self.cost = sum(map(tree.exact, range(len(tree.nodes))), Fraction(0))
        self.limit = Fraction(10) ** 400 if math.isinf(budget) else exactly(budget)
        self.gain, self.seconds, self.warned, self.distrusted = 0.0, 0.0, 0, 0
        self.active = set(range(len(tree.nodes)))
        # Most worth first; of equals what is known, which may make the expansion needless, then the order of making.
        self.heap: list[tuple[float, int, int, LazyStep | None]] = []
        # The best cut of the visited tree: its nodes, cost and gain.
        self.best: tuple[set[int], float, float] = (set(), 0.0, -1.0)
        self.bound = math.inf
        for v in self.active:
            self._push_expansion(v)

    def run(self, expansions: float, seconds: float) -> LazyAllocation:
        """Continue until nothing is left or a limit is reached."""
        start = time.perf_counter()
        done = 0

        def limited() -> bool:
            return bool(done) and (done >= expansions or time.perf_counter() - start >= seconds)

        while self.heap:
            _, _, v, step = self.heap[0]
            if step is None and limited():
                break
            heapq.heappop(self.heap)
            done += self._expand(v) if step is None else self._take(step)
        while not self.heap and self.left and not limited():
            most = min(self.left, expansions - done)
            ahead = self._promising()[: int(min(most, 1 + sum(self.tree.expanded) * _BATCH))]
            self.left = self.left if ahead else 0
            for v in ahead:
                if not limited():
                    self.tree.expand(v)
                    self.left, done = self.left - 1, done + 1
        visited = self.tree.freeze()
        if self.look_ahead:
            self._choose(visited)
        self.seconds += time.perf_counter() - start
        self._warn()
        return self._allocation(visited)

    def _promising(self) -> list[int]:
        """What to look into next; nothing where the best cut is known, or all but known."""
        visited = self.tree.freeze()
        nodes = visited.promising(self.budget)
        if not nodes.size:  # whole steps may still fit better than those of the relaxation
            self._choose(visited)
            bound = visited.upper_bound(self.budget)
            lost = bound - max(self.best[2], self.gain)
            nodes = visited.promising(self.budget, lost) if lost > bound * _CLOSE_ENOUGH else nodes
        return nodes.tolist()

    def _choose(self, visited: VisitedTree) -> None:
        """Keep the best cut of the visited tree, if it gains more than the best so far."""
        problem = visited.problem(self.budget)
        selected = Exact(_STATES).solve(problem).selected
        active = np.flatnonzero(visited.hierarchy.active_nodes(selected)).tolist()
        cost, gain = sum(map(self.tree.exact, active), Fraction(0)), precise_total(problem.gain, selected)[0]
        if cost <= self.limit and gain > self.best[2]:
            self.best = set(active), float(cost), gain

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
        if worth := self.tree.worth(v):
            heapq.heappush(self.heap, (-worth, _EXPAND, v, None))

    def _allocation(self, visited: VisitedTree) -> LazyAllocation:
        greedy = self.active, float(self.cost), self.gain
        cut, cost, gain = self.best if self.best[2] > self.gain else greedy
        active = np.zeros(len(visited.nodes), np.bool_)
        active[list(cut)] = True
        finished, bound = not self.heap and not self.left, math.inf if self.tree.exceeded else self.bound
        return LazyAllocation(visited, active, self.budget, cost, gain, self.base_error, finished, self.seconds, bound)

    def _warn(self) -> None:
        exceeded, self.distrusted = self.tree.exceeded - self.distrusted, self.tree.exceeded
        if exceeded:
            message = f"below {exceeded} nodes more was gained than the metric's potential; bounds rest on errors"
            warn(message)
        repaired, self.warned = self.tree.repaired - self.warned, self.tree.repaired
        if repaired:
            message = f"the metric is not monotone: at {repaired} nodes the children had more error; it was scaled down"
            warn(message)


def _worth(gain: float, cost: float) -> float:
    return gain / cost if cost > 0 else math.inf

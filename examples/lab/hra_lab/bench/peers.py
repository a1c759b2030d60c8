"""What others run, as they run it: the rules that hra is compared with."""

from __future__ import annotations

import heapq
import operator
from dataclasses import dataclass, replace

import numpy as np

from hra.compiling import njit
from hra.errors import needs
from hra.model.hierarchy import Hierarchy
from hra.model.problem import Problem
from hra.traversals.best_first import BestFirst
from hra_lab.bench.harness import Contender

# Seconds after which HiGHS returns the best that it has.
_HIGHS_SECONDS = 10.0


@dataclass(frozen=True, eq=False)
class HeapBestFirst:
    """Best-first with Python's heapq: pop the ready refinement of most gain per cost until the first does not fit.

    This is how Potree and its kin spend a point budget; their priorities are errors on screen.
    """

    offsets: list[int]
    successors: list[int]
    waiting: list[int]
    cost: list[float]

    @classmethod
    def over(cls, hierarchy: Hierarchy) -> HeapBestFirst:
        """The hierarchy as Python lists, which heapq's loop reads fastest."""
        offsets, successors = hierarchy.successors
        waiting = np.diff(hierarchy.predecessors[0])
        return cls(offsets.tolist(), successors.tolist(), waiting.tolist(), hierarchy.cost.tolist())

    def prepare(self, problem: Problem) -> tuple[list[float], float]:
        """Keys, smallest first, and what may be spent."""
        return (-problem.gain / problem.hierarchy.cost).tolist(), problem.capacity

    def run(self, prepared: tuple[list[float], float]) -> np.ndarray:
        """Refinements taken, bool [R]."""
        key, left = prepared
        offsets, successors, cost, waiting = self.offsets, self.successors, self.cost, self.waiting.copy()
        ready = [(key[r], r) for r, count in enumerate(waiting) if count == 0]
        heapq.heapify(ready)
        taken = []
        while ready:
            _, r = heapq.heappop(ready)
            left -= cost[r]
            if left < 0:
                break
            taken.append(r)
            for s in successors[offsets[r] : offsets[r + 1]]:
                waiting[s] -= 1
                if waiting[s] == 0:
                    heapq.heappush(ready, (key[s], s))
        selected = np.zeros(len(cost), np.bool_)
        selected[taken] = True
        return selected


def heap_best_first(hierarchy: Hierarchy) -> Contender:
    """Best-first in pure Python."""
    peer = HeapBestFirst.over(hierarchy)
    return Contender("heapq best-first", peer.run, peer.prepare, warm_up=False)


def compiled_best_first() -> Contender:
    """The library's own best-first, compiled by Numba."""
    return Contender("best-first (Numba)", lambda problem: BestFirst().solve(problem).selected)


def sort_by_ratio() -> Contender:
    """Sort by gain per cost and take each refinement with its ancestors while they fit."""
    return Contender("sort by ratio", sorted_with_ancestors)


def one_by_one(contender: Contender) -> Contender:
    """The same peer on every problem of a batch."""
    return replace(
        contender,
        run=lambda batch: [contender.run(prepared) for prepared in batch],
        prepare=lambda problems: [contender.prepare(problem) for problem in problems],
    )


def highs(share: float) -> Contender:
    """The integer program of the first problem of a batch, which is ``share`` of all."""
    return Contender("HiGHS MILP", lambda problem: [solve_milp(problem)], operator.itemgetter(0), False, share)


def solve_milp(problem: Problem) -> np.ndarray:
    """Refinements taken by `scipy.optimize.milp`, bool [R]: proven optimal unless its time runs out.

    Raises
    ------
    MissingExtra : scipy is not installed.
    """
    with needs("scipy", "tokens"):
        from scipy import optimize, sparse
    edges, cost = problem.hierarchy.edges, problem.hierarchy.cost
    rows, ones = np.arange(len(edges)), np.ones(len(edges))
    closed = sparse.csr_matrix(
        (np.r_[ones, -ones], (np.r_[rows, rows], edges[:, ::-1].T.ravel())), (rows.size, cost.size)
    )
    within = sparse.vstack([closed, sparse.csr_matrix(cost[None])])
    limit = np.r_[np.zeros(rows.size), problem.capacity]
    answer = optimize.milp(
        -problem.gain,
        constraints=optimize.LinearConstraint(within, -np.inf, limit),
        integrality=np.ones(cost.size),
        bounds=optimize.Bounds(0, 1),
        options={"time_limit": _HIGHS_SECONDS, "mip_rel_gap": 1e-9},
    )
    return np.zeros(cost.size, np.bool_) if answer.x is None else answer.x > 0.5


def sorted_threshold(key: np.ndarray, weight: np.ndarray, capacity: float) -> float:
    """Where to cut the sorted keys so that the weights above fit: what `select_threshold` finds without sorting."""
    order = np.argsort(-key)
    last = int(np.searchsorted(np.cumsum(weight[order]), capacity, side="right"))
    return float(key[order[last]]) if last < key.size else -np.inf


@njit(cache=True)
def bisected_threshold(key, weight, capacity, steps):
    """The same by bisection of the threshold, a pass over all keys per step: how engines tune theirs."""
    low, high = 0.0, key.max()
    for _ in range(steps):
        middle = 0.5 * (low + high)
        total = 0.0
        for r in range(key.size):
            if key[r] > middle:
                total += weight[r]
        if total > capacity:
            low = middle
        else:
            high = middle
    return high


def sorted_with_ancestors(problem: Problem) -> np.ndarray:
    """Refinements in falling gain per cost, each with what must come before it, as far as they fit; bool [R]."""
    hierarchy = problem.hierarchy
    order = np.argsort(-problem.gain / hierarchy.cost)
    selected = np.zeros(len(hierarchy), np.bool_)
    _take_in_order(order, *hierarchy.predecessors, hierarchy.cost, problem.capacity, selected)
    return selected


@njit(cache=True)
def _take_in_order(order, offsets, predecessors, cost, capacity, selected):
    left = capacity
    needed, asked_by = np.empty(order.size, np.int32), np.full(order.size, -1, np.int32)
    for r in order:
        if selected[r] or cost[r] > left:
            continue
        needed[0], asked_by[r], count, done, total = r, r, 1, 0, 0.0
        while done < count and total <= left:
            v = needed[done]
            done += 1
            total += cost[v]
            for k in range(offsets[v], offsets[v + 1]):
                p = predecessors[k]
                if not selected[p] and asked_by[p] != r:
                    asked_by[p] = r
                    needed[count] = p
                    count += 1
        if total <= left:
            selected[needed[:count]] = True
            left -= total

"""Does a traversal keep what hra promises of every allocation?

The answers to compare with enumerate all selections, in exact arithmetic: slow but obvious.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fractions import Fraction
from typing import Any

import numpy as np

from hra.allocating.allocation import Allocation
from hra.allocating.allocator import HierarchicalResourceAllocator
from hra.allocating.verification import verify
from hra.errors import HraError
from hra.model.hierarchy import Hierarchy
from hra.model.metrics import ErrorMetric
from hra.model.problem import Problem
from hra.testing.instances import KINDS, CheckFailed, case, require
from hra.traversals.base import Traversal

# The largest hierarchy that is enumerated.
_LARGEST = 9


def closed_sets(hierarchy: Hierarchy) -> np.ndarray:
    """Every down-closed set of refinements, bool [S, R]; for at most 16 refinements."""
    size = len(hierarchy)
    sets = (np.arange(2**size)[:, None] >> np.arange(size) & 1).astype(bool)
    for before, after in hierarchy.edges:
        sets = sets[~sets[:, after] | sets[:, before]]
    return sets


def affordable_sets(problem: Problem) -> np.ndarray:
    """Every down-closed set within the budget that takes what is pinned, bool [S, R]; costs are exact."""
    sets = closed_sets(problem.hierarchy)
    if problem.pinned is not None:
        sets = sets[sets[:, problem.pinned].all(axis=1)]
    cost = np.array([problem.hierarchy.cost_of(selected) for selected in sets])
    return sets[cost <= problem.budget]


def exact_gain(problem: Problem, selected: np.ndarray) -> Fraction:
    """What ``selected`` [R] gains, as a fraction."""
    return sum(map(Fraction, problem.gain[selected].tolist()), Fraction(0))


def best_gain(problem: Problem) -> Fraction:
    """The most that any choice within the budget gains, as a fraction."""
    return max(exact_gain(problem, selected) for selected in affordable_sets(problem))


def check_traversal(traversal: Traversal, *, kinds: Sequence[str] | None = None, instances: int = 20) -> None:
    """Check a traversal on small random hierarchies of every kind, against all choices there are.

    What is chosen is valid and within the budget, whatever the costs are (whole, decimal, of 17 digits); no bound is
    below what some choice gains; what is pinned is there; a sequence works; and the same question gets the same answer.

    Parameters
    ----------
    kinds : of `hra.testing.instances.KINDS` ("replace", "child", "add", "chains", "flat", "dag", "groups"); all by
        default. Name those that the traversal is made for: on the others it should raise an `HraError`.
    instances : per kind.

    Raises
    ------
    CheckFailed : something does not hold; the message names the kind and the seed of the instance.

    Examples
    --------
    >>> import hra, hra.testing
    >>> hra.testing.check_traversal(hra.Hull(), kinds=["flat"], instances=3)
    """
    for kind in kinds or KINDS:
        for seed in range(instances):
            for name, hierarchy, values, budget in _variants(kind, seed):
                _check(traversal, hierarchy, values, budget, f"{traversal!r} on {kind!r} of seed {seed}, {name} costs")


def _variants(kind: str, seed: int) -> Iterator[tuple[str, Hierarchy, np.ndarray, float]]:
    """One hierarchy at whole costs, tenths of these, and costs of many digits, each with a budget."""
    hierarchy, values, rng = case(kind, seed, _LARGEST)
    share = float(rng.choice([0.0, rng.random(), 1.0]))
    for name, scale in (("whole", 1.0), ("decimal", 0.1), ("uneven", 0.1234567890123456)):
        cost = np.round(hierarchy.node_cost * scale, 1) if name == "decimal" else hierarchy.node_cost * scale
        scaled = Hierarchy.from_topology(cost, hierarchy.topology, node_parent=hierarchy.node_parent)
        budget = scaled.base_cost + share * (scaled.total_cost - scaled.base_cost)
        yield name, scaled, values, max(budget, scaled.base_cost)


def _check(traversal: Traversal, hierarchy: Hierarchy, values: np.ndarray, budget: float, where: str) -> None:
    allocator = _Values(hierarchy, _Given(), traversal)
    first = _answer(allocator, values, budget, where)
    _check_answer(first, where)
    same = _answer(allocator, values, budget, where)
    require(np.array_equal(first.selected, same.selected), "the same question got another answer", where=where)
    _check_answer(_answer(allocator, values[::-1].copy(), budget, where, previous=first), f"{where}, next step")
    added = np.flatnonzero(hierarchy.added_by >= 0)[:1]
    _check_answer(_answer(allocator, values, np.inf, where, pinned=added), f"{where}, pinned, budget inf")


def _answer(
    allocator: HierarchicalResourceAllocator, values: np.ndarray, budget: float, where: str, **options: Any
) -> Allocation:
    try:
        return allocator.allocate(values, budget, **options)
    except HraError as error:
        raise CheckFailed(error.what, where=f"{where}: {error.where}", fix=error.fix) from error


def _check_answer(allocation: Allocation, where: str) -> None:
    problem = allocation.problem
    best, gained = best_gain(problem), exact_gain(problem, allocation.selected)
    fix = "take only what is ready (all predecessors taken) and whose cost is at most what is left of problem.capacity"
    require(allocation.cost <= allocation.budget, "the budget is exceeded", where=where, fix=fix)
    require(gained <= best, "more is gained than any choice can", where=where, fix=fix)
    if allocation.solution.restricted:
        return
    fix = "leave shortfall and upper_bound None: hra bounds the answer from its price, or by itself"
    require(best <= allocation.upper_bound, f"a choice gains {float(best)!r}, above the bound", where=where, fix=fix)
    refuted = verify(allocation).refuted
    require(not refuted, f"not true: {'; '.join(refuted)}", where=where, fix=fix)


class _Given(ErrorMetric):
    """The context is the table of gains."""

    kind = "gain"

    def evaluate(self, hierarchy: Hierarchy, context: Any) -> np.ndarray:
        return context


class _Values(HierarchicalResourceAllocator):
    def realize(self, allocation: Allocation) -> np.ndarray:
        return allocation.cut

"""What a single allocation may add to a problem: nodes whose detail is sure, and the step before in a sequence."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from hra.allocating.allocation import Allocation
from hra.errors import BudgetTooSmall, HierarchyError, check_kind
from hra.model.arrays import indices
from hra.model.hierarchy import Hierarchy
from hra.model.problem import Problem, exact_number
from hra.model.sets import take_with_predecessors


def pin(problem: Problem, nodes: Any) -> Problem:
    """``problem`` with what adds ``nodes`` (int [K]) made part of the base.

    Raises
    ------
    ArrayError : not nodes of the hierarchy.
    BudgetTooSmall : the budget does not cover them; as for the base, what costs less than nothing comes later.
    """
    hierarchy = problem.hierarchy
    added_by = hierarchy.added_by[indices("pinned", nodes, 0, hierarchy.node_cost.size)]
    pinned = np.zeros(len(hierarchy), np.bool_)
    pinned[added_by[added_by >= 0]] = True
    take_with_predecessors(*hierarchy.predecessors, pinned)
    least = hierarchy.cost_of(pinned)
    if problem.budget < least:
        what = f"the pinned nodes cost {exact_number(least)} {hierarchy.cost_unit} with the coarsest level"
        fix = f"use at least {exact_number(least)} {hierarchy.cost_unit}"
        if hierarchy.shrinks:
            fix += ", or pin what refines them: finer nodes may cost less, but what is pinned is paid first"
        raise BudgetTooSmall(what, where="pinned", fix=fix)
    return replace(problem, gain=np.where(pinned, 0.0, problem.gain), pinned=pinned)


def in_sequence(problem: Problem, previous: Allocation) -> Problem:
    """``problem`` as the step after ``previous``.

    Raises
    ------
    HierarchyError : ``previous`` belongs to a hierarchy of other nodes.
    """
    check_kind("previous", previous, Allocation, "pass what the last allocate(...) returned")
    before, now = previous.hierarchy, problem.hierarchy
    if before is now or before.structure_digest == now.structure_digest:
        selected = previous.selected
    elif _has_the_nodes_of(before, now):
        selected = _carried(before, previous.selected, now)
    else:
        fix = (
            "start again without previous=, or keep to hierarchies of the same nodes (some are grown for each question)"
        )
        raise HierarchyError("the previous allocation belongs to a hierarchy of other nodes", where="previous", fix=fix)
    return replace(problem, previous=selected, price=previous.solution.price)


def _has_the_nodes_of(before: Hierarchy, now: Hierarchy) -> bool:
    """Whether both are trees of the same nodes that add them one at a time, in whatever order siblings come."""
    above, parents = before.node_parent, now.node_parent
    if above is None or parents is None or before.cost_unit != now.cost_unit or not np.array_equal(above, parents):
        return False
    one_by_one = (len(each) == np.count_nonzero(each.added_by >= 0) for each in (before, now))
    return all(one_by_one) and np.array_equal(before.node_cost, now.node_cost)


def _carried(before: Hierarchy, selected: np.ndarray, now: Hierarchy) -> np.ndarray:
    """``selected`` [R] of ``before`` as the refinements of ``now`` that add the same nodes, bool [R].

    The order of siblings is that of what each step gains, and so may what was taken be no longer closed by it: a child
    that is there may come after one that is not.
    """
    order = np.empty(len(now), np.int64)
    added = now.added_by >= 0
    order[now.added_by[added]] = before.added_by[added]
    return selected[order]

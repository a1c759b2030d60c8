"""The best cut of a patch pyramid straight from the errors of its patches, without a hierarchy in between.

The refinements are those of `PyramidBuilder`: children are added one at a time in falling inherited error, and the last
takes its parent away. What each image needs of its own, the order of siblings and the gains, takes less time in one
compiled pass than a checked `Hierarchy`, which matters for batches.
"""

from __future__ import annotations

import threading
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from hra.allocating.exact_batch import Forest, solve_forest
from hra.compiling import njit
from hra.domains.tokens.pyramid.pyramid import Quadtree
from hra.model.gains import step_gains
from hra.model.hierarchy import FREE_COST
from hra.model.problem import Problem
from hra.model.solution import Solution
from hra.model.topology import child_chains, sorted_siblings
from hra.solvers.search.pareto import States, new_states
from hra.traversals.hull import Hull

# Enough for nearly all pyramids of some thousand patches, and 7 MB: memory that is touched again and again.
_MAX_STATES = 2**18
_memory = threading.local()


class PatchCut(NamedTuple):
    """The best cut of one pyramid.

    active : bool [N]; gain, base_error, shortfall : in the unit of the errors.
    proven : whether nothing is better; spent : tokens; repaired : refinements whose finer error was capped.
    """

    active: np.ndarray
    gain: float
    base_error: float
    shortfall: float
    proven: bool
    spent: int
    repaired: int


def best_cut(tree: Quadtree, own: np.ndarray, inherited: np.ndarray, budget: int) -> PatchCut:
    """The cut of at most ``budget`` patches that leaves the least error, if the search proves it.

    Parameters
    ----------
    own, inherited : float64 [N], >= 0, error of a patch's region while the patch or its parent shows it.
    budget : at least the patches of the coarsest level.
    """
    active, selected = np.zeros(tree.parent.size, np.bool_), np.empty(tree.children.size, np.bool_)
    shape = tree.parent, tree.offsets, tree.children, tree.first_root
    found = _solve(shape, own, inherited, budget, _states(), active, selected)
    return PatchCut(active, *found)


@dataclass(frozen=True)
class BestCut(Hull):
    """`Hull` that answers as `best_cut` does where that proves its cut and spends the budget: one image or a batch."""

    spend_all: bool = True

    def select(self, problem: Problem) -> Solution:
        """The proven best set of a forest, or the hull point, filled up."""
        hierarchy, selected = problem.hierarchy, np.empty(len(problem.hierarchy), np.bool_)
        if hierarchy.parent is None:
            return super().select(problem)
        capacity, share = min(problem.capacity, problem.cost.sum()), np.ones(len(hierarchy.edges))
        forest = Forest(hierarchy.first_child, hierarchy.predecessors, problem.cost, problem.slope_cost)
        price, shortfall, proven = solve_forest(forest, share, problem.gain, capacity, _states(), selected)
        if proven and problem.cost[selected].sum() == capacity:
            return Solution(selected, price, shortfall=shortfall)
        return super().select(problem)


def _states() -> States:
    """This thread's memory of searches."""
    if not hasattr(_memory, "states"):
        _memory.states = new_states(_MAX_STATES)
    return _memory.states


@njit(cache=True, nogil=True)
def _solve(shape, own, inherited, budget, states, active, selected):
    """Mark the best cut in ``active`` [N]; returns the rest of `PatchCut`."""
    parent, offsets, children, first_root = shape
    roots = parent.size - first_root
    child = sorted_siblings(offsets, children, inherited)
    chains = child_chains(offsets, child, np.arange(first_root, parent.size))
    node, first_child, before, predecessors, last = chains
    cost, paid, gain, repaired = _steps(node, last, parent, inherited, own)
    capacity, share = min(float(budget - roots), cost.sum()), np.ones(predecessors.size)
    forest = Forest(first_child, (before, predecessors), cost, paid)
    _, shortfall, proven = solve_forest(forest, share, gain, capacity, states, selected)
    gained, spent = 0.0, roots
    active[first_root:] = True
    for r in range(node.size):
        if selected[r]:
            gained += gain[r]
            spent += int(cost[r])
            active[node[r]] = True
            if last[r]:
                active[parent[node[r]]] = False
    return gained, own[first_root:].sum(), shortfall, proven, spent, repaired


@njit(cache=True, nogil=True)
def _steps(node, last, parent, inherited, own):
    """Cost, cost to divide by, and gain of every refinement, as `hra.model.gains` has it; how many were repaired."""
    cost, paid, inherited_sum = np.empty(node.size), np.empty(node.size), np.zeros(parent.size)
    for r in range(node.size):
        cost[r], paid[r] = (0.0, FREE_COST) if last[r] else (1.0, 1.0)
        inherited_sum[parent[node[r]]] += inherited[node[r]]
    gain, at = np.zeros(node.size), np.arange(node.size + 1)
    return cost, paid, gain, step_gains(at, node, parent, inherited_sum, own.copy(), inherited, gain)

"""Token hierarchies built from an image: the flat grid and the patch pyramid. Every token costs 1.

The best cut of a pyramid is also found straight from the errors of its patches, without a hierarchy in between. The
refinements are those of `PyramidBuilder`: children are added one at a time in falling inherited error, and the last
takes its parent away. What each image needs of its own, the order of siblings and the gains, takes less time in one
compiled pass than a checked `Hierarchy`, which matters for batches.
"""

from __future__ import annotations

import threading
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

import numpy as np

from hra.allocating.exact_batch import Forest, solve_forest
from hra.compiling import njit
from hra.domains.tokens.context.context import TokenContext
from hra.domains.tokens.context.token_builder import Choice, DirectBuilder, best_of
from hra.domains.tokens.patches.boxes import BoxTokens, tree_in_time, tree_of_copy
from hra.domains.tokens.patches.metrics import RelevanceError, RelevanceGain
from hra.domains.tokens.patches.tokens import PatchBuilder, PatchTokens
from hra.domains.tokens.pyramid.pyramid import Quadtree
from hra.domains.tokens.token_sets.token_set import TokenSet
from hra.model.gains import step_gains, warn_of_repairs
from hra.model.hierarchy import FREE_COST, Hierarchy
from hra.model.metrics import ErrorMetric
from hra.model.problem import Problem
from hra.model.solution import Solution
from hra.model.topology import child_chains, sorted_siblings
from hra.solvers.search.pareto import States, new_states
from hra.traversals.base import Traversal
from hra.traversals.hull import Hull

# Enough for nearly all pyramids of some thousand patches, and 7 MB: memory that is touched again and again.
_MAX_STATES = 2**18
_memory = threading.local()


@dataclass(frozen=True)
class GridBuilder(PatchBuilder, DirectBuilder[PatchTokens]):
    """The finest patches, independent of each other; nothing is shown before the first is taken.

    Examples
    --------
    >>> import numpy as np
    >>> from hra.domains import tokens
    >>> image = np.random.default_rng(0).random((128, 192, 3), dtype=np.float32)
    >>> context = tokens.PyramidSampling().context(image, "what is at the top left?")
    >>> tokens.GridBuilder().build(context)
    Hierarchy(forest of 96 refinements over 96 nodes, cost in tokens)
    """

    in_time: ClassVar[bool] = True

    def build(self, context: TokenContext) -> Hierarchy:
        """A flat hierarchy with the attributes "level", "x", "y"."""
        count = context.pyramid.offsets[1]
        attributes = _places(context.pyramid.positions[:count])
        return Hierarchy.flat(np.ones(count), attributes=attributes, cost_unit="tokens")

    def choose(self, context: TokenContext, metric: ErrorMetric, budget: int) -> Choice | None:
        """The most relevant patches; see `DirectBuilder.choose`."""
        if not isinstance(metric, RelevanceGain):
            return None
        return best_of(context, context.relevance.ravel(), budget, certified=True)

    def chosen(self, context: TokenContext, cut: np.ndarray) -> PatchTokens:
        """The patches of ``cut``."""
        return PatchTokens.at(context, context.pyramid.positions[cut])


@dataclass(frozen=True)
class BestCut(Hull):
    """`Hull` that answers as `best_cut` does where that proves its cut and spends the budget: one image or a batch."""

    spend_all: bool = True

    def select(self, problem: Problem) -> Solution:
        """The proven best set of a forest, or the hull point, filled up."""
        hierarchy, selected = problem.hierarchy, np.empty(problem.gain.size, np.bool_)
        if hierarchy.parent is None:
            return super().select(problem)
        capacity, cost, paid = problem.capacity, problem.cost, problem.slope_cost
        capacity, share = min(capacity, cost.sum()), np.ones(len(hierarchy.edges))
        forest = Forest(hierarchy.first_child, hierarchy.predecessors, cost, paid)
        price, shortfall, proven = solve_forest(forest, share, problem.gain, capacity, _states(), selected)
        if proven and cost[selected].sum() == capacity:
            return Solution(selected, price, shortfall=shortfall)
        return super().select(problem)


@dataclass(frozen=True)
class PyramidBuilder(DirectBuilder[Any]):  # patches of pictures, boxes of videos
    """The patch pyramid as a quadtree whose children are added one at a time; a patch leaves with its last child.

    So every count from the coarsest level to all finest patches can be met. Siblings come in falling error while only
    their parent shows them: what lies below the first child then needs no other child. Videos, and pictures with a
    small copy, have trees of their own, see `hra.domains.tokens.patches.boxes`.

    Examples
    --------
    >>> import numpy as np
    >>> from hra.domains import tokens
    >>> image = np.random.default_rng(0).random((128, 192, 3), dtype=np.float32)
    >>> context = tokens.PyramidSampling().context(image, "what is at the top left?")
    >>> hierarchy = tokens.PyramidBuilder().build(context)
    >>> hierarchy.base_cost, hierarchy.total_cost
    (1.0, 96.0)
    """

    in_time: ClassVar[bool] = True
    with_copy: ClassVar[bool] = True
    rule: ClassVar[Traversal] = BestCut()

    def build(self, context: TokenContext) -> Hierarchy:
        """A tree with the attributes "level", "x", "y", "error" and "inherited_error" (see `RelevanceError`)."""
        if not _is_plain(context):
            return tree_in_time(context) if context.steps > 1 else tree_of_copy(context)
        pyramid = context.pyramid
        own, inherited = context.node_errors
        return Hierarchy.tree(
            pyramid.parents,
            np.ones(own.size),
            mode="child",
            order=inherited,
            attributes={**_places(pyramid.positions), "error": own, "inherited_error": inherited},
            cost_unit="tokens",
        )

    def tokens(self, context: TokenContext, hierarchy: Hierarchy, cut: np.ndarray) -> TokenSet:
        """The patches of ``cut``."""
        return (PatchTokens if _is_plain(context) else BoxTokens).of(context, hierarchy, cut)

    def choose(self, context: TokenContext, metric: ErrorMetric, budget: int) -> Choice | None:
        """The proven best cut; see `DirectBuilder.choose`.

        Warns
        -----
        RepairWarning : a finer level had more error than the coarser one.
        """
        pyramid = context.pyramid
        if not _is_plain(context):
            return None
        roots = pyramid.offsets[-1] - pyramid.offsets[-2]
        if not isinstance(metric, RelevanceError) or not roots <= budget < pyramid.offsets[1]:
            return None
        cut = best_cut(pyramid.tree, *context.node_errors, budget)
        if not cut.proven or cut.spent != budget:
            return None
        warn_of_repairs(cut.repaired)
        return Choice(context, np.flatnonzero(cut.active), cut.gain, cut.base_error, cut.shortfall)

    def chosen(self, context: TokenContext, cut: np.ndarray) -> PatchTokens:
        """The patches of ``cut``."""
        return PatchTokens.at(context, context.pyramid.positions[cut])


def _is_plain(context: TokenContext) -> bool:
    """Whether a context is that of one picture alone."""
    return context.steps == 1 and context.small is None


def _places(positions: np.ndarray) -> dict[str, np.ndarray]:
    return dict(zip(("level", "x", "y"), positions.T, strict=True))


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

"""What minimum shares ask for: how much each level has, needs, and what every refinement changes of it."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from hra.errors import ArrayError, HierarchyError
from hra.model.hierarchy import Hierarchy
from hra.model.problem import Problem
from hra.model.sets import cost_step
from hra.model.units import exactly


@dataclass(frozen=True, eq=False)
class Needs:
    """Quantities that a set of refinements must keep at or above zero: unused budget, and what levels have too much.

    Attributes
    ----------
    All are whole numbers of units (see `hra.model.units`).

    levels : int64 [K], the levels that need something.
    required : float64 [K], cost of the active nodes that each needs, base included.
    slack : float64 [1 + K], unused budget and excess of every level before any refinement (but with what is pinned).
    change : float64 [R, 1 + K], what each refinement adds to the slack; 0 for what is pinned.
    """

    levels: np.ndarray
    required: np.ndarray
    slack: np.ndarray
    change: np.ndarray

    @classmethod
    def of(
        cls,
        problem: Problem,
        level: str | None,
        shares: Mapping[int, float],
        least: Mapping[int, float],
        *,
        loose: bool = False,
    ) -> Needs:
        """What ``shares`` of the budget and the absolute ``least`` ask for in ``problem``, the larger of the two.

        Where costs have no common unit, sets that meet these needs meet the minimums; if ``loose``, sets that meet the
        minimums meet these needs, which is what bounds and refusals are made of.

        Raises
        ------
        HierarchyError : the nodes have no attribute ``level``.
        ArrayError : it is not one integer per node.
        """
        hierarchy, of_node = problem.hierarchy, node_levels(problem.hierarchy, level)
        levels = np.array(sorted({*shares, *least}), np.int64)
        count = hierarchy.units.exactly
        budget = count(min(problem.budget, hierarchy.total_cost))
        required, excess, change = np.empty(levels.size), np.empty(levels.size), [-problem.cost]
        for i, label in enumerate(levels.tolist()):
            here = of_node == label
            low, high = (np.where(here, units, 0.0) for units in (hierarchy.units.low, hierarchy.units.high))
            more, less = (high, low) if loose else (low, high)
            amount = max(exactly(shares.get(label, 0.0)) * budget, count(least.get(label, 0.0)))
            required[i] = _require(amount / hierarchy.units.size, more, rounds_up=hierarchy.units.exact or not loose)
            delta = _change(hierarchy, more, less)
            excess[i] = more[hierarchy.added_by < 0].sum() - required[i]
            if problem.pinned is not None:
                excess[i] += delta[problem.pinned].sum()
                delta[problem.pinned] = 0.0
            change.append(delta)
        return cls(levels, required, np.r_[problem.capacity, excess], np.stack(change, axis=1))

    def left(self, selected: np.ndarray) -> np.ndarray:
        """The slack [1 + K] once ``selected`` [R] is taken."""
        return self.slack + selected @ self.change

    def met_by(self, selected: np.ndarray) -> bool:
        """Whether ``selected`` [R] keeps the budget and every minimum."""
        return bool((self.left(selected) >= 0).all())


def node_levels(hierarchy: Hierarchy, name: str | None) -> np.ndarray:
    """The level of every node, int [N]: the attribute ``name``, or without a name how many steps it is below the base.

    Raises
    ------
    HierarchyError : the hierarchy has no such attribute.
    ArrayError : the attribute is not one integer per node.
    """
    if name is None:
        return _depths(hierarchy)
    if name not in hierarchy.node:
        fix = f"build the hierarchy with attributes={{{name!r}: ...}}, or use level=None for the depth, as in a pool"
        raise HierarchyError(f"the nodes have no attribute {name!r} to count by", where="LevelShares.level", fix=fix)
    levels = hierarchy.node[name]
    if levels.ndim != 1 or levels.dtype.kind not in "iu":
        what = f"attribute {name!r} is {levels.dtype} of shape {levels.shape}, expected one integer per node"
        raise ArrayError(what, where="LevelShares.level")
    return levels


def _depths(hierarchy: Hierarchy) -> np.ndarray:
    """Ancestors of every node of a tree; elsewhere the most refinements in a chain that leads to it."""
    parent = hierarchy.node_parent
    if parent is None:
        offsets = hierarchy.level_offsets
        step = 1 + np.r_[np.repeat(np.arange(offsets.size - 1), np.diff(offsets)), -1][hierarchy.added_by]
        return step - step.min() if step.size else step
    depth, above = (parent >= 0).astype(np.int64), parent
    while (above >= 0).any():  # every round doubles how far up each node has looked
        depth += np.where(above >= 0, depth[above], 0)
        above = np.where(above >= 0, above[above], -1)
    return depth


def _change(hierarchy: Hierarchy, more: np.ndarray, less: np.ndarray) -> np.ndarray:
    """What each refinement adds of ``more`` [N], less what it removes of ``less`` [N], float64 [R]."""
    added, removed = hierarchy.added_by >= 0, hierarchy.removed_by >= 0
    change = np.bincount(hierarchy.added_by[added], more[added], len(hierarchy)).astype(np.float64)
    return change - np.bincount(hierarchy.removed_by[removed], less[removed], len(hierarchy))


def _require(amount: Fraction, here: np.ndarray, *, rounds_up: bool) -> float:
    """The least total of a level's nodes of at least ``amount`` units, as far as their common divisor tells."""
    step = (int(cost_step(here)) or 1) if rounds_up else 1
    return float((math.ceil(amount / step) if rounds_up else math.floor(amount)) * step)

"""How one choice of a scene follows the other: what each instance had in the last step."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from hra.allocating.allocation import Allocation
from hra.domains.meshes.scene.placements import Placements
from hra.domains.meshes.scene.scene_allocation import SceneAllocation
from hra.errors import HierarchyError
from hra.model.budget import check_budget
from hra.model.hierarchy import Hierarchy
from hra.model.problem import Problem
from hra.pooling.copies_allocation import CopiesAllocation
from hra.pooling.pool import PooledAllocation
from hra.traversals.base import Solution


def check_own(allocation: SceneAllocation, placed: Placements, keys: np.ndarray | None) -> None:
    """Refuse an allocation of a scene with other instances, ``placed`` and named otherwise.

    Raises
    ------
    HierarchyError : it is one.
    """
    same = len(allocation.drawn) == len(placed.matrices)
    if keys is None or allocation.keys is None:
        same = same and keys is allocation.keys
    else:
        same = np.array_equal(keys, allocation.keys)
    if same:
        hierarchies, kind_of = allocation.hierarchies
        pairs = np.unique(placed.mesh_of[allocation.drawn] * len(hierarchies) + kind_of)
        same = all(
            hierarchies[pair % len(hierarchies)].same_as(placed.meshes[pair // len(hierarchies)].hierarchy)
            for pair in pairs.tolist()
        )
    if not same:
        raise HierarchyError("the allocation belongs to another scene", fix="use it where it was allocated")


def taken_before(previous: SceneAllocation, names: np.ndarray, hierarchy: Hierarchy) -> np.ndarray:
    """What the last step took of the instances ``names`` [I], bool [R, I]; nothing of those that were not in view.

    Raises
    ------
    HierarchyError : one of them was another mesh.
    """
    result, (hierarchies, kind_of) = None, previous.hierarchies
    member = _places(previous.names, names)
    for kind, before in enumerate(hierarchies):
        mine = np.flatnonzero((member >= 0) & (np.append(kind_of, -1)[member] == kind))
        if not mine.size:
            continue
        if before is not hierarchy and before.structure_digest != hierarchy.structure_digest:
            what = "an instance was another mesh in the last step"
            raise HierarchyError(what, where="previous", fix="give it another key")
        taken = _taken(previous.pooled, kind, member[mine])
        if mine.size == names.size:
            return taken
        result = np.zeros((len(hierarchy), len(names)), np.bool_) if result is None else result
        result[:, mine] = taken
    return np.zeros((len(hierarchy), len(names)), np.bool_) if result is None else result


def copies_before(known: np.ndarray, pooled: CopiesAllocation, names: np.ndarray) -> np.ndarray:
    """Which copy of the last step each of the instances ``names`` [I] was, int [I], -1 for none.

    ``known`` are the names of the last step's members.
    """
    member = _places(known, names)
    return np.where(member >= 0, pooled.order[member], -1)


def _places(known: np.ndarray, wanted: np.ndarray) -> np.ndarray:
    """Where each of the ``wanted`` [I] is among the ``known`` [M], int [I]; -1 for nowhere."""
    if not known.size:
        return np.full(wanted.shape, -1)
    order = np.argsort(known, kind="stable")
    place = order[np.minimum(np.searchsorted(known, wanted, sorter=order), known.size - 1)]
    return np.where(known[place] == wanted, place, -1)


def _taken(pooled: PooledAllocation | CopiesAllocation, kind: int, members: np.ndarray) -> np.ndarray:
    """What some members of one kind took, bool [R, K]."""
    if isinstance(pooled, CopiesAllocation):
        first = sum(pooled.copies.counts[:kind])
        return pooled.selected[kind].take(pooled.order[members] - first, axis=1)
    return np.stack([pooled.members[member].selected for member in members.tolist()], axis=1)


def seen_before(
    previous: SceneAllocation, names: Sequence[int], hierarchies: Sequence[Hierarchy], unit: str
) -> PooledAllocation:
    """The last step for the instances that are drawn now; those that were not in view start unrefined.

    Parameters
    ----------
    names, hierarchies : of the drawn instances, see `SceneAllocation.names`; unit : of their errors.
    """
    last = dict(zip(previous.names.tolist(), previous.members, strict=True))
    members = [
        last.get(name) or _unrefined(hierarchy, unit, hierarchy.base_cost, previous.last_price)
        for name, hierarchy in zip(names, hierarchies, strict=True)
    ]
    return PooledAllocation(previous.whole, tuple(members))


def nothing_drawn(cost_unit: str, unit: str, budget: float) -> PooledAllocation:
    """The allocation where no view sees anything.

    Raises
    ------
    InvalidBudget : the budget is not a number >= 0.
    """
    empty = Hierarchy.flat(np.empty(0), cost_unit=cost_unit)
    whole = _unrefined(empty, unit, check_budget(budget, empty), None)
    return PooledAllocation(whole, ())


def _unrefined(hierarchy: Hierarchy, unit: str, budget: float, price: float | None) -> Allocation:
    """The coarsest level, as if no error counted."""
    gain = np.zeros(len(hierarchy))
    problem = Problem(hierarchy, gain, 0.0, budget, unit, True, gain.copy)
    per_unit = None if price is None else price * float(hierarchy.units.size)
    return Allocation(problem, Solution(np.zeros(len(hierarchy), np.bool_), per_unit), 0.0)

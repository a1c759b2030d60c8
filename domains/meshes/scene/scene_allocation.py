"""What a scene draws of a budget, and how one choice follows the other: what each instance had in the last step."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from hra.allocating.allocation import Allocation
from hra.domains.meshes.scene.placements import Placements
from hra.errors import HierarchyError, check_kind
from hra.model.hierarchy import Hierarchy
from hra.model.problem import Problem, check_budget
from hra.pooling.bids import Bid
from hra.pooling.copies_allocation import CopiesAllocation
from hra.pooling.pool import PooledAllocation
from hra.traversals.base import Solution


@dataclass(frozen=True, eq=False, repr=False)
class SceneAllocation:
    """What the instances of a scene receive that some view may see; the others are not drawn and cost nothing.

    Where many instances are in view, `whole` and `members` are made when they are first read; `cost`, `churn` and what
    `Scene.realize` returns need neither.

    Attributes
    ----------
    pooled : what the drawn instances received.
    drawn : bool [B], which of the scene's B instances are drawn.
    keys : int64 [B], what the scene calls its instances; None for their numbers.

    Examples
    --------
    >>> import numpy as np, hra
    >>> from hra.domains import meshes
    >>> skull = meshes.build(hra.samples.path("skull.ply"))
    >>> placements = np.stack([np.eye(4)] * 2)
    >>> placements[1, 0, 3] = 1
    >>> camera = hra.Camera.orbit(skull.bounds, azimuth=30, up=(0, 0, 1))
    >>> allocation = meshes.Scene([(skull, placements)]).allocate(camera, budget=5_000)
    >>> len(allocation.members), allocation.whole.cost <= 5_000
    (1, True)
    """

    pooled: PooledAllocation | CopiesAllocation
    drawn: np.ndarray
    keys: np.ndarray | None = None

    @property
    def whole(self) -> Allocation:
        """The allocation over the drawn instances together."""
        return self.pooled.whole

    @property
    def members(self) -> tuple[Allocation, ...]:
        """One allocation for each drawn instance, in the order of the placements."""
        return self.pooled.members

    @property
    def price(self) -> float:
        """Lambda: gain per cost unit at which the budget is just used up; 0 if there is more than can be used."""
        return self.pooled.price

    @property
    def bids(self) -> tuple[Bid, ...]:
        """Per drawn instance, what its last unit gained and what the next one would."""
        return self.pooled.bids

    @property
    def cost(self) -> float:
        """Cost of all cuts."""
        return self.pooled.cost if isinstance(self.pooled, CopiesAllocation) else self.pooled.whole.cost

    @property
    def churn(self) -> int | None:
        """Number of refinements that changed since the last step of a sequence; None outside a sequence."""
        return self.pooled.churn if isinstance(self.pooled, CopiesAllocation) else self.pooled.whole.churn

    @property
    def cuts(self) -> tuple[np.ndarray, ...]:
        """Clusters of each drawn instance, ascending, int64 [K]."""
        if isinstance(self.pooled, CopiesAllocation):
            return self.pooled.cuts
        return tuple(member.cut for member in self.pooled.members)

    @property
    def last_price(self) -> float | None:
        """The price that the traversal ended at, None if it has none."""
        return self.pooled.price if isinstance(self.pooled, CopiesAllocation) else self.pooled.whole.price

    @property
    def hierarchies(self) -> tuple[list[Hierarchy], np.ndarray]:
        """The hierarchies of the drawn instances, each once, and which of them each instance has, int64 [M]."""
        if isinstance(self.pooled, CopiesAllocation):
            kinds = np.repeat(np.arange(len(self.pooled.kinds)), self.pooled.copies.counts)
            return [kind.hierarchy for kind in self.pooled.kinds], kinds[self.pooled.order]
        found = {id(member.hierarchy): member.hierarchy for member in self.pooled.members}
        number = {name: i for i, name in enumerate(found)}
        kind_of = [number[id(member.hierarchy)] for member in self.pooled.members]
        return list(found.values()), np.array(kind_of, np.int64)

    @property
    def names(self) -> np.ndarray:
        """The keys of the drawn instances, which are their numbers where the scene has none."""
        return np.flatnonzero(self.drawn) if self.keys is None else self.keys[self.drawn]

    def __repr__(self) -> str:
        share = f"{np.count_nonzero(self.drawn)} of {self.drawn.size} instances are drawn"
        if isinstance(self.pooled, CopiesAllocation):
            return (
                f"{self.cost:,.12g} of {self.pooled.budget:,.12g} {self.pooled.kinds[0].hierarchy.cost_unit}; {share}"
            )
        return f"{self.whole!r}; {share}"


def check_own(allocation: SceneAllocation, placed: Placements, keys: np.ndarray | None) -> None:
    """Refuse an allocation of a scene with other instances, ``placed`` and named otherwise.

    Raises
    ------
    HierarchyError : it is one.
    """
    check_kind("allocation", allocation, SceneAllocation, "pass what Scene.allocate(camera, budget) returned")
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

"""What a scene draws of a budget, and how one such choice follows the other."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from hra.allocating.allocation import Allocation
from hra.model.arrays import frozen
from hra.model.budget import check_budget
from hra.model.hierarchy import Hierarchy
from hra.model.problem import Problem
from hra.pooling.pool import PooledAllocation
from hra.traversals.base import Solution


@dataclass(frozen=True, eq=False, repr=False)
class SceneAllocation(PooledAllocation):
    """What the instances of a scene receive that some view may see; the others are not drawn and cost nothing.

    Attributes
    ----------
    whole : the allocation over the drawn instances together.
    members : one allocation for each drawn instance, in the order of the placements.
    drawn : bool [B], which of the scene's B instances are drawn.

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

    drawn: np.ndarray

    def __repr__(self) -> str:
        return f"{self.whole!r}; {np.count_nonzero(self.drawn)} of {self.drawn.size} instances are drawn"


def seen_before(
    previous: SceneAllocation, numbers: Sequence[int], hierarchies: Sequence[Hierarchy], unit: str
) -> PooledAllocation:
    """The last step for the instances that are drawn now; those that were not in view start unrefined.

    Parameters
    ----------
    numbers, hierarchies : of the drawn instances; unit : of their errors.
    """
    last = dict(zip(np.flatnonzero(previous.drawn).tolist(), previous.members, strict=True))
    members = [
        last.get(number) or _unrefined(hierarchy, unit, hierarchy.base_cost, previous.whole.price)
        for number, hierarchy in zip(numbers, hierarchies, strict=True)
    ]
    return PooledAllocation(previous.whole, tuple(members))


def nothing_drawn(cost_unit: str, unit: str, budget: float, instances: int) -> SceneAllocation:
    """The allocation where no view sees anything.

    Raises
    ------
    InvalidBudget : the budget is not a number >= 0.
    """
    empty = Hierarchy.flat(np.empty(0), cost_unit=cost_unit)
    whole = _unrefined(empty, unit, check_budget(budget, empty), None)
    return SceneAllocation(whole, (), frozen(np.zeros(instances, np.bool_)))


def _unrefined(hierarchy: Hierarchy, unit: str, budget: float, price: float | None) -> Allocation:
    """The coarsest level, as if no error counted."""
    gain = np.zeros(len(hierarchy))
    problem = Problem(hierarchy, gain, 0.0, budget, unit, True, gain.copy)
    per_unit = None if price is None else price * float(hierarchy.units.size)
    return Allocation(problem, Solution(np.zeros(len(hierarchy), np.bool_), per_unit), 0.0)

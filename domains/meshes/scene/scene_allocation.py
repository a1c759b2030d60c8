"""What a scene draws of a budget."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from hra.allocating.allocation import Allocation
from hra.model.hierarchy import Hierarchy
from hra.pooling.bids import Bid
from hra.pooling.copies_allocation import CopiesAllocation
from hra.pooling.pool import PooledAllocation


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
        """Those of the drawn instances, each once, and which of them each instance has, int64 [M]."""
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

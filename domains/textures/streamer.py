"""What an engine asks once a frame: which pages to drop, which to upload, and what is there then."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from hra.allocating.allocation import Allocation
from hra.domains.textures.allocator import TextureAllocator
from hra.domains.textures.resident import ResidentTextures
from hra.errors import check_kind
from hra.model.problem import check_budget
from hra.residency.live.explanation import Explanation
from hra.residency.live.items import ForestItems
from hra.residency.live.shared import SharedResidency


@dataclass(frozen=True, eq=False, repr=False)
class ResidencyUpdate:
    """What one frame asks for: first drop the evictions, then upload the loads, each in order.

    In this order the pool holds at every moment, and so does the rule that a page is there only with all coarser ones.

    Attributes
    ----------
    loads : int32 [L], pages to upload, coarser before finer, most gain per byte first; those of frames to come last.
    evictions : int32 [E], pages to drop, finer before coarser; none of them is wanted, and none is among the loads.
    resident : what is there after both.
    wanted : int64 [K], ascending: the best pages for the frame that fit into the pool, coarser ones included.
    queued : int32 [Q], what of it is not resident yet, in the order in which the next frames load it.
    allocation : how the wanted pages were chosen, and how far from the best choice they can be at most.

    Examples
    --------
    >>> import numpy as np
    >>> from hra.domains import textures
    >>> image = np.zeros((256, 256, 3), np.uint8)
    >>> allocator = textures.TextureAllocator(textures.TextureSet([textures.TiledTexture.from_image(image)]))
    >>> streamer = textures.TextureStreamer(allocator, pool_bytes=2**18, upload_bytes=2**16)
    >>> both = textures.Feedback(np.array([1, 3]), np.ones(2), np.array([50, 40]), viewport_pixels=90)
    >>> update = streamer.step(both)
    >>> update
    2 loads of 152,916 bytes, 0 evictions, 2 of 3 wanted pages there, 152,916 bytes resident
    >>> update.loads, update.queued
    (array([0, 1], dtype=int32), array([3], dtype=int32))
    """

    loads: np.ndarray
    evictions: np.ndarray
    resident: ResidentTextures
    wanted: np.ndarray
    queued: np.ndarray
    allocation: Allocation

    @property
    def loaded_bytes(self) -> int:
        """What is uploaded."""
        return int(self.allocation.hierarchy.node_cost[self.loads].sum())

    def __repr__(self) -> str:
        there = self.wanted.size - self.queued.size
        return (
            f"{self.loads.size} loads of {self.loaded_bytes:,} bytes, {self.evictions.size} evictions, "
            f"{there} of {self.wanted.size} wanted pages there, {self.resident.bytes:,} bytes resident"
        )


class TextureStreamer:
    """Keeps a pool of texture pages up to date, one frame after the other.

    Each step allocates the pool again, warm-started by the last one, and a `hra.residency.SharedResidency` follows as
    far as the upload limit allows. Mip tails are always there; what is not wanted any more stays until its room is
    needed. What is wanted and fits the pool is there once enough steps of one view have let it through the limit: a
    page never takes more than one frame's uploads, and nothing overtakes it for ever.

    Parameters
    ----------
    allocator : textures, metric and traversal. Its source reads cameras; without one each step is given a `Feedback`.
        With a `hra.Coherent` traversal pages stay wanted unless others are clearly better.
    pool_bytes : the most that is ever resident.
    upload_bytes : the most that one step uploads, None for no limit; mip tails, which the first step loads, do not
        count.

    Raises
    ------
    HraError : no allocator of textures.
    InvalidBudget : the pool is not a number >= 0.
    BudgetTooSmall : it does not hold the mip tails, or the upload limit not the largest page.

    Examples
    --------
    >>> import numpy as np
    >>> from hra import Camera
    >>> from hra.domains import textures
    >>> scene = textures.PlaneScene.ground(np.zeros((512, 1024, 3), np.uint8), width=100.0)
    >>> allocator = textures.TextureAllocator(scene.textures, textures.AnalyticFeedback(scene))
    >>> streamer = textures.TextureStreamer(allocator, pool_bytes=2**19, upload_bytes=2**18)
    >>> for x in (-30, -30, 30, 30):
    ...     update = streamer.step(Camera.perspective(eye=(x, 8, 20), target=(x, 0, 0)))
    ...     print(f"load {update.loads.tolist()}, evict {update.evictions.tolist()}, {update.queued.size} wait")
    load [0, 1, 3, 4, 7], evict [], 3 wait
    load [8, 28, 29], evict [], 0 wait
    load [2, 5, 6, 9], evict [29, 28, 8, 7], 3 wait
    load [10, 32, 33], evict [4, 3, 1], 0 wait
    """

    def __init__(self, allocator: TextureAllocator, pool_bytes: float, *, upload_bytes: int | None = None) -> None:
        check_kind("allocator", allocator, TextureAllocator, "pass TextureAllocator(textures)")
        hierarchy = allocator.textures.hierarchy
        self.allocator = allocator
        self.pool_bytes = check_budget(pool_bytes, hierarchy)
        self._shared = SharedResidency([ForestItems(hierarchy)], self.pool_bytes, upload_bytes=upload_bytes)
        self._previous: Allocation | None = None

    def step(self, demand: Any, upcoming: Sequence[Any] = ()) -> ResidencyUpdate:
        """One frame.

        Parameters
        ----------
        demand : a camera, or the `Feedback` that the engine has read back.
        upcoming : cameras or feedback that the next frames are expected to have, the next one first
            (`constant_motion` makes some). What is left of the upload limit prefetches for them.

        Raises
        ------
        MetricError : feedback of other textures, or a camera where the allocator has no source. Nothing has changed.
        """
        check_kind("upcoming", upcoming, Iterable, "pass a list of cameras, or of Feedback")
        allocation = self.allocator.allocate(demand, self.pool_bytes, previous=self._previous)
        return self.follow(allocation, [self.allocator.allocate(later, self.pool_bytes) for later in upcoming])

    def follow(self, allocation: Allocation, upcoming: Sequence[Allocation] = ()) -> ResidencyUpdate:
        """One frame whose pages are chosen already, for instance as a part of a `hra.pool`.

        Parameters
        ----------
        allocation : of these textures, within the pool.
        upcoming : those of the next frames, as far as they are known.

        Raises
        ------
        HierarchyError : an allocation of other textures.
        InvalidBudget : it is larger than the pool.
        """
        check_kind("upcoming", upcoming, Iterable, "pass a list of allocations")
        (part,) = self._shared.advance([allocation], [[ahead] for ahead in upcoming]).members
        self._previous = allocation
        resident = ResidentTextures(self.allocator.textures, part.resident)
        return ResidencyUpdate(part.loads, part.evictions, resident, part.wanted, part.queued, allocation)

    def explain(self, page: int) -> Explanation:
        """Why a page is resident, queued or evicted; ArrayError if the page does not exist."""
        return self._shared.explain(page)

"""What an engine asks once a frame: which pages of a mesh to drop, which to upload, and what to draw from them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from hra.allocating.allocation import Allocation
from hra.domains.meshes.asset.pages import Page
from hra.domains.meshes.asset.paging import PageAllocator
from hra.errors import check_kind
from hra.model.problem import check_budget
from hra.residency.live.explanation import Explanation
from hra.residency.live.items import PagedItems
from hra.residency.live.loading import ReadFailure, Reading
from hra.residency.live.shared import SharedResidency


@dataclass(frozen=True, eq=False, repr=False)
class MeshUpdate:
    """What one frame asks for: first drop the evictions, then upload the loads, each in order; then draw the cut.

    Attributes
    ----------
    loads : pages to upload, what others wait for first; evictions : pages to drop, none of which is wanted.
    resident : bool [P], what is there after both.
    wanted : int64 [n], the best pages for the view that fit into the pool; queued : those that are not resident yet.
    cut : int64 [K], clusters to draw: the best that the resident pages hold, a whole surface in every frame.
    pages : what was read, by page, of the loads; empty without a reader.
    failures : reads that failed for the first time.
    held_bytes : slots, reads in flight and data that waits for its upload, at the frame's fullest moment.
    allocation : how the wanted pages were chosen, and how far from the best choice they can be at most.

    Examples
    --------
    >>> import hra
    >>> from hra.domains import meshes
    >>> meshes.build(hra.samples.path("skull.ply")).save("skull.hra")
    >>> asset = meshes.open_asset("skull.hra")
    >>> streamer = meshes.MeshStreamer(meshes.PageAllocator(asset), pool_bytes=2**20)
    >>> update = streamer.step(hra.Camera.orbit(asset.bounds, azimuth=30, up=(0, 0, 1)))
    >>> update.held_bytes <= 2**20, len(update.queued), bool(update.resident[asset.pages_of(update.cut)].all())
    (True, 0, True)
    """

    loads: np.ndarray
    evictions: np.ndarray
    resident: np.ndarray
    wanted: np.ndarray
    queued: np.ndarray
    cut: np.ndarray
    pages: dict[int, Page]
    failures: tuple[ReadFailure, ...]
    held_bytes: int
    allocation: Allocation

    def __repr__(self) -> str:
        there = self.wanted.size - self.queued.size
        return (
            f"{self.loads.size} loads, {self.evictions.size} evictions, {there} of {self.wanted.size} wanted pages "
            f"there, {self.held_bytes:,} bytes held, {self.cut.size:,} clusters drawn"
        )


class MeshStreamer:
    """Keeps a pool of a mesh's pages up to date, one frame after the other.

    Each step allocates the pool again, warm-started by the last one, and a `hra.residency.SharedResidency` follows.
    Pages of the coarsest level are always there. With ``reading`` no step waits for data (see `read_ahead`).

    Parameters
    ----------
    allocator : asset, metric and traversal.
    pool_bytes : the most that is ever held: slots, and with ``reading`` also what is in flight.
    upload_bytes : the most slots in bytes that one step uploads, None for no limit; the coarsest level, which the first
        step loads, does not count.
    reading : reads pages on other threads, such as `read_ahead` makes; None where the caller reads the loads itself.

    Raises
    ------
    HraError : no allocator of pages, or something else in the place of the reader.
    InvalidBudget : the pool is not a number >= 0.
    BudgetTooSmall : it does not hold the coarsest level beside what is in flight, or the upload limit not one slot.

    Examples
    --------
    >>> import hra
    >>> from hra.domains import meshes
    >>> meshes.build(hra.samples.path("skull.ply")).save("skull.hra")
    >>> asset = meshes.open_asset("skull.hra")
    >>> streamer = meshes.MeshStreamer(meshes.PageAllocator(asset), pool_bytes=2**20, upload_bytes=2**18)
    >>> for azimuth in (0, 0, 0, 180):
    ...     update = streamer.step(hra.Camera.orbit(asset.bounds, azimuth=azimuth, up=(0, 0, 1)))
    ...     print(len(update.loads), "loads,", len(update.queued), "wait")
    3 loads, 5 wait
    2 loads, 3 wait
    2 loads, 1 wait
    1 loads, 0 wait
    """

    def __init__(
        self,
        allocator: PageAllocator,
        pool_bytes: float,
        *,
        upload_bytes: int | None = None,
        reading: Reading | None = None,
    ) -> None:
        self.allocator = _checked(allocator)
        self.pool_bytes = check_budget(pool_bytes, allocator.paged.hierarchy)
        members = [PagedItems(allocator.paged)]
        self._shared = SharedResidency(members, self.pool_bytes, upload_bytes=upload_bytes, reading=reading)
        self._previous: Allocation | None = None

    @property
    def peak_bytes(self) -> int:
        """The most that was ever held."""
        return self._shared.peak_bytes

    def step(self, context: Any, upcoming: Sequence[Any] = ()) -> MeshUpdate:
        """One frame.

        Parameters
        ----------
        context : a `hra.Camera` or what else the metric reads.
        upcoming : what the next frames are expected to see, the next one first. What is left of reads and uploads is
            spent on them.

        Raises
        ------
        MetricError : the metric returned unusable values; nothing has changed.
        FileError : a page of the coarsest level cannot be read, in the first step.
        """
        check_kind("upcoming", upcoming, Iterable, "pass a list of cameras, or what else the metric reads")
        allocation = self.allocator.allocate(context, self._shared.budget, previous=self._previous)
        return self.follow(allocation, [self.allocator.allocate(ahead, self._shared.budget) for ahead in upcoming])

    def follow(self, allocation: Allocation, upcoming: Sequence[Allocation] = ()) -> MeshUpdate:
        """One frame whose pages are chosen already, for instance as a part of a `hra.pool`.

        Raises
        ------
        HierarchyError : an allocation of another asset.
        InvalidBudget : it is larger than the pool.
        """
        check_kind("upcoming", upcoming, Iterable, "pass a list of allocations")
        frame = self._shared.advance([allocation], [[ahead] for ahead in upcoming])
        (part,), self._previous = frame.members, allocation
        pages = {page: data for (_, page), data in frame.data.items()}
        return MeshUpdate(
            part.loads,
            part.evictions,
            part.resident,
            part.wanted,
            part.queued,
            self.allocator.drawn(allocation, part.resident),
            pages,  # pyright: ignore[reportArgumentType]
            frame.failures,
            frame.held_bytes,
            allocation,
        )

    def explain(self, page: int) -> Explanation:
        """Why a page is resident, queued or evicted; ArrayError if the page does not exist."""
        return self._shared.explain(page)

    def close(self) -> None:
        """Cancel what is being read."""
        self._shared.close()


def read_ahead(allocator: PageAllocator, limit_bytes: int, *, threads: int = 2) -> Reading:
    """Reads pages of an asset on other threads: each is read from the mapped file, checked and decoded there.

    Parameters
    ----------
    limit_bytes : the most that pages take between request and upload, as arrays and in the file.

    Raises
    ------
    HraError : no allocator of pages.

    Examples
    --------
    >>> import hra
    >>> from hra.domains import meshes
    >>> meshes.build(hra.samples.path("skull.ply")).save("skull.hra")
    >>> allocator = meshes.PageAllocator(meshes.open_asset("skull.hra"))
    >>> camera = hra.Camera.orbit(allocator.asset.bounds, azimuth=30, up=(0, 0, 1))
    >>> streamer = meshes.MeshStreamer(allocator, pool_bytes=2**21, reading=meshes.read_ahead(allocator, 2**19))
    >>> while len((update := streamer.step(camera)).queued):
    ...     assert update.held_bytes <= 2**21
    >>> streamer.close()
    """
    asset = _checked(allocator).asset
    return Reading(asset.read_page, asset.read_bytes, limit_bytes, threads)


def _checked(allocator: PageAllocator) -> PageAllocator:
    check_kind("allocator", allocator, PageAllocator, "pass PageAllocator(open_asset(path))")
    return allocator

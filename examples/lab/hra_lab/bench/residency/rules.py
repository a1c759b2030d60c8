"""What each rule holds of a mesh's pages in every frame of a path."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from hra.camera import Camera
from hra.domains import meshes
from hra.model.arrays import offsets_of
from hra.residency import LRU, AgeEviction, Policy, Refusing, Streaming, Trace, evaluate
from hra.traversals.coherent import Coherent
from hra.traversals.threshold import Threshold

# What streamers ask for: no error above a pixel.
_PIXELS = 1.0


@dataclass(frozen=True, eq=False)
class Held:
    """What a rule did over F frames.

    Attributes
    ----------
    pages : per frame the pages that are there, bool [P].
    loads : pages that were loaded; failed : frames that the rule had no answer for.
    """

    pages: list[np.ndarray]
    loads: int
    failed: int = 0


def ours(allocator: meshes.PageAllocator, path: Sequence[Camera], pool: int, hysteresis: float = 0.0) -> Held:
    """A `MeshStreamer` within the pool."""
    if hysteresis:
        allocator = meshes.PageAllocator(allocator.asset, traversal=Coherent(allocator.traversal, hysteresis))
    streamer = meshes.MeshStreamer(allocator, pool)
    updates = [streamer.step(camera) for camera in path]
    return Held([update.resident for update in updates], sum(update.loads.size for update in updates))


def drawn_bytes(allocator: meshes.PageAllocator, path: Sequence[Camera], pool: int) -> Held:
    """Clusters charged by what is drawn, then the pages that they need; what these exceed, an allocation cuts down."""
    asset = allocator.asset
    charged = meshes.MeshAllocator(asset.with_cost("bytes"))
    allocations = [charged.allocate(camera, pool) for camera in path]
    trace = meshes.page_trace(asset, allocations)
    wanted = np.diff(trace.frames) * asset.slot_bytes
    return _held(Streaming(hysteresis=0.0), trace, pool, int((wanted > pool).sum()))


def on_demand(policy: Policy, allocator: meshes.PageAllocator, path: Sequence[Camera], pool: int) -> Held:
    """A cache of the pages of a cut of one pixel, coarse pages first; those of the coarsest level are outside of it."""
    trace = _pixel_trace(allocator, path)
    held = _held(policy, trace, pool - allocator.least_bytes)
    pinned = allocator.paged.loads < 0
    return Held([pages | pinned for pages in held.pages], held.loads)


def peers() -> Iterator[tuple[str, Any]]:
    """The other rules by name: functions of an allocator, a path and a pool."""
    yield "drawn bytes", drawn_bytes
    for name, policy in (("LRU", LRU()), ("age", AgeEviction()), ("refusing", Refusing())):
        yield name, lambda *given, policy=policy: on_demand(policy, *given)


def _pixel_trace(allocator: meshes.PageAllocator, path: Sequence[Camera]) -> Trace:
    asset, pinned = allocator.asset, allocator.paged.loads < 0
    cuts = meshes.MeshAllocator(asset, traversal=Threshold(_PIXELS))
    parents, frames = meshes.page_parents(asset), []
    for camera in path:
        pages, _ = meshes.wanted_pages(asset, cuts.allocate(camera, np.inf), parents)
        frames.append(pages[~pinned[pages]])
    counts = np.array([len(pages) for pages in frames], np.int64)
    slots = np.full(len(pinned), asset.slot_bytes)
    return Trace(offsets_of(counts), np.concatenate(frames), slots)


def _held(policy: Policy, trace: Trace, pool: int, failed: int = 0) -> Held:
    result = evaluate(policy, trace, pool)
    return Held(list(policy.run(trace, pool).residents(trace.cost.size)), result.loads, failed)

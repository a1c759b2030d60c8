"""One mesh over a path: the error that each rule leaves with pools of several sizes.

What each rule holds of a mesh's pages in every frame of a path.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from hra.camera import Camera
from hra.domains import meshes
from hra.model.arrays import offsets_of
from hra.residency import LRU, AgeEviction, Policy, Refusing, Streaming, Trace, evaluate
from hra.traversals.coherent import Coherent
from hra.traversals.threshold import Threshold
from hra_lab.bench.harness import Case, Contender, measure
from hra_lab.bench.suite import Scale
from hra_lab.inputs.mesh_paths import mesh_path

SHARES = (0.1, 0.25, 0.5)
HYSTERESIS = 0.5
GRID_BITS = 16
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


@dataclass(frozen=True)
class MeshResidency:
    """A mesh's pages within pools of 10, 25 and 50 % of them all.

    Attributes
    ----------
    full, small : the mesh at each scale.
    """

    name: str
    full: Callable[[], meshes.TriangleMesh]
    small: Callable[[], meshes.TriangleMesh]
    needs: tuple[str, ...] = ()

    def measure(self, scale: Scale, repeat: int, bandwidth: float) -> dict[str, Any]:
        """The row: ``results`` are mean errors over the path, in px2, by pool and rule."""
        clusters = meshes.build(self.full() if scale == "full" else self.small())
        with tempfile.TemporaryDirectory() as folder:
            clusters.save(Path(folder) / "a.hra", grid_bits=GRID_BITS)
            allocator = meshes.PageAllocator(meshes.open_asset(Path(folder) / "a.hra"))
            path = mesh_path(allocator.asset.bounds, 120 if scale == "full" else 6)
            pools = {f"{share:.0%}": pool_of(allocator, share) for share in SHARES}
            rules = {name: run_rules(allocator, path, pool) for name, pool in pools.items()}
            seconds = _step_seconds(allocator, path, pools["25%"], repeat)
        return {
            "name": self.name,
            "n": len(allocator.asset.page_bytes),
            "ours_s": seconds,
            "peer": None,
            "peer_s": None,
            "ratio": None,
            "results": _results(rules),
            "steps_per_s": 1 / max(seconds, 1e-9),
            "slot_bytes": allocator.asset.slot_bytes,
            "file_bytes_per_triangle": float(allocator.asset.page_bytes.sum()) / clusters.triangle_count,
            "pools": pools,
            "rules": rules,
        }


def pool_of(allocator: meshes.PageAllocator, share: float) -> int:
    """Bytes of a share of all pages, at least of the coarsest and one more."""
    slot = allocator.asset.slot_bytes
    return max(int(share * slot * len(allocator.asset.page_bytes)), allocator.least_bytes + slot)


def run_rules(allocator: meshes.PageAllocator, path: Sequence[Camera], pool: int) -> dict[str, dict[str, Any]]:
    """What every rule leaves of the error, loads and holds; "bound" is what no choice of pages undercuts."""
    chosen = [allocator.allocate(camera, pool) for camera in path]
    found = {"hra": ours(allocator, path, pool), "hra, hysteresis": ours(allocator, path, pool, HYSTERESIS)}
    found |= {name: rule(allocator, path, pool) for name, rule in peers()}
    records = {name: _record(allocator, chosen, held) for name, held in found.items()}
    records["bound"] = {"error_px2": float(np.mean([one.least_residual for one in chosen]))}
    return records


def _record(allocator: meshes.PageAllocator, chosen: Sequence[Any], held: Held) -> dict[str, Any]:
    errors = [allocator.residual(one, pages) for one, pages in zip(chosen, held.pages, strict=True)]
    slot = allocator.asset.slot_bytes
    return {
        "error_px2": float(np.mean(errors)),
        "worst_px2": float(np.max(errors)),
        "peak_bytes": int(max(pages.sum() for pages in held.pages)) * slot,
        "loaded_bytes": held.loads * slot,
        "failed_frames": held.failed,
    }


def _results(rules: dict[str, dict[str, dict[str, Any]]]) -> dict[str, float]:
    return {f"{pool}, {name}": one["error_px2"] for pool, records in rules.items() for name, one in records.items()}


def _step_seconds(allocator: meshes.PageAllocator, path: Sequence[Camera], pool: int, repeat: int) -> float:
    """Processor time of a step: metric, solve and pool."""
    case = Case(
        (Contender("hra", lambda given: ours(allocator, given, pool)),), lambda _: path, lambda *_: {}, len(path), 0
    )
    return measure(case, repeat)["hra"].cpu_seconds / len(path)

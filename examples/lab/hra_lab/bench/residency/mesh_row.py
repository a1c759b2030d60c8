"""One mesh over a path: the error that each rule leaves with pools of several sizes."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from hra.camera import Camera
from hra.domains import meshes
from hra_lab.bench.harness import Case, Contender, measure
from hra_lab.bench.residency.rules import Held, ours, peers
from hra_lab.bench.suite import Scale
from hra_lab.inputs.mesh_paths import mesh_path

SHARES = (0.1, 0.25, 0.5)
HYSTERESIS = 0.5
GRID_BITS = 16


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

"""The evaluation of what is held: orders and sizes of pages, errors by pool, and a path over time."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from hra.allocating.allocation import Allocation
from hra.camera import Camera
from hra.domains import meshes
from hra.model.problem import Problem
from hra.residency import PagedHierarchy
from hra.traversals.hull import Hull
from hra_lab.bench.residency.mesh_row import GRID_BITS, pool_of, run_rules
from hra_lab.evaluation.residency.orders import ORDERS, pages
from hra_lab.inputs.mesh_paths import mesh_path
from hra_lab.inputs.mesh_sources import bumpy, skull


@dataclass(frozen=True)
class ResidencySizes:
    """How much of the evaluation to run.

    Attributes
    ----------
    bumpy : subdivisions of the displaced sphere that stands beside the skull.
    page_kib : sizes of pages; pools : shares of all bytes.
    views : of each mesh for the orders; frames : of the path.
    """

    bumpy: int = 6
    page_kib: tuple[int, ...] = (128, 64, 32, 16)
    pools: tuple[float, ...] = (0.1, 0.25, 0.5, 0.75)
    views: int = 40
    frames: int = 120


FULL = ResidencySizes()
# Shows that everything runs.
SMALL = ResidencySizes(bumpy=3, page_kib=(16,), pools=(0.5,), views=2, frames=6)


def run(sizes: ResidencySizes, progress: Callable[[str], None]) -> dict[str, Any]:
    """All numbers as plain data: ``orders``, ``pools`` and ``path``."""
    orders = []
    for name, mesh in (("skull", skull()), (f"sphere, {20 * 4**sizes.bumpy:,} triangles", bumpy(sizes.bumpy))):
        progress(f"page orders of the {name}")
        orders += order_rows(name, meshes.build(mesh), sizes)
    progress("pools of every size")
    with tempfile.TemporaryDirectory() as folder:
        meshes.build(bumpy(sizes.bumpy)).save(Path(folder) / "a.hra", grid_bits=GRID_BITS)
        allocator = meshes.PageAllocator(meshes.open_asset(Path(folder) / "a.hra"))
        path = mesh_path(allocator.asset.bounds, sizes.frames)
        pools = [
            {"share": share, "rules": run_rules(allocator, path, pool_of(allocator, share))} for share in sizes.pools
        ]
        return {"orders": orders, "pools": pools, "path": path_record(allocator, path)}


def order_rows(name: str, mesh: meshes.ClusterMesh, sizes: ResidencySizes) -> list[dict[str, Any]]:
    """For each order, size of pages and pool: the error that is left, as a share of that of the coarsest level."""
    hierarchy, views = mesh.hierarchy, mesh_path(mesh.bounds, sizes.views)
    size = 6 * hierarchy.attribute("vertex_count").astype(np.int64) + 3 * mesh.triangles_per_cluster
    allocator = meshes.MeshAllocator(mesh)
    problems = [allocator.problem(camera, np.inf) for camera in views]
    rows = []
    for kib in sizes.page_kib:
        for order, function in ORDERS.items():
            page = pages(hierarchy, size, 1024 * kib, function)
            paged = PagedHierarchy.of(hierarchy, page, np.full(int(page.max()) + 1, 1024 * kib))
            errors = {f"{share:.0%}": _mean_share(paged, problems, share * int(size.sum())) for share in sizes.pools}
            rows.append({"mesh": name, "page_kib": kib, "order": order, "pages": int(page.max()) + 1, "errors": errors})
    return rows


def _mean_share(paged: PagedHierarchy, problems: Sequence[Problem], pool: float) -> float:
    """The geometric mean over views of what is left of the error, so that no view counts for all."""
    budget, shares = max(pool, paged.hierarchy.base_cost), []
    for problem in problems:
        held = paged.problem(problem, budget)
        if held.base_error > 0:
            left = Allocation(held, Hull().solve(held), 0.0).residual / held.base_error
            shares.append(max(left, 1e-9))
    return float(np.exp(np.mean(np.log(shares)))) if shares else 0.0


def path_record(allocator: meshes.PageAllocator, path: Sequence[Camera]) -> dict[str, Any]:
    """A streamer with a pool of 50 % and uploads of one page per frame, frame by frame."""
    slot, pool = allocator.asset.slot_bytes, pool_of(allocator, 0.5)
    streamer = meshes.MeshStreamer(allocator, pool, upload_bytes=slot)
    rows = [_frame(allocator, streamer.step(camera), slot) for camera in path]
    return {"pool": pool, "slot": slot, "frames": rows}


def _frame(allocator: meshes.PageAllocator, update: meshes.MeshUpdate, slot: int) -> dict[str, Any]:
    return {
        "held": update.held_bytes,
        "wanted": int(update.wanted.size) * slot,
        "there": int(update.resident[update.wanted].sum()) * slot,
        "loaded": int(update.loads.size) * slot,
        "evicted": int(update.evictions.size) * slot,
        "error_px2": allocator.residual(update.allocation, update.resident),
        "least_px2": update.allocation.least_residual,
    }

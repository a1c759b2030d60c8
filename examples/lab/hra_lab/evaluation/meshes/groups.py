"""What the number of clusters per group changes: steps, root, time to build, and what cuts look like."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from hra.camera import Camera
from hra.domains import meshes
from hra.kernels import raster
from hra_lab.evaluation.meshes.image_error import mean_errors
from hra_lab.evaluation.meshes.views import Rendering


def group_size_rows(
    context: raster.Context,
    source: meshes.TriangleMesh,
    sizes: Sequence[int],
    shares: Sequence[float],
    seen: Sequence[tuple[Camera, Rendering]],
) -> Iterator[dict[str, Any]]:
    """One row per size: the hierarchy, its build without bounds, and the errors of budget cuts.

    Parameters
    ----------
    sizes : clusters per group; shares : of the source's triangles, the budgets.
    seen : cameras, and what they see of the source.

    Yields
    ------
    "group_size", "groups", "root_triangles", "cpu_s" as in `BuildReport`; "step", median of the triangles that a
    refinement adds; and for each share, as a list: "share", "triangles" drawn on average, the mean errors of
    `mean_errors`, and "residual_gap", the largest of all views.
    """
    diagonal = float(np.linalg.norm(np.ptp(source.bounds, axis=0)))
    for size in sizes:
        clusters = meshes.build(source, group_size=size, certified=False)
        report = clusters.report
        if report is None:
            raise ValueError("a mesh that was just built has a report")
        yield {
            "group_size": size,
            "groups": report.groups,
            "root_triangles": report.root_triangles,
            "cpu_s": report.cpu_s,
            "step": float(np.median(clusters.hierarchy.cost)),
            "cuts": [_cuts(context, clusters, share, seen, diagonal) for share in shares],
        }


def _cuts(
    context: raster.Context,
    clusters: meshes.ClusterMesh,
    share: float,
    seen: Sequence[tuple[Camera, Rendering]],
    diagonal: float,
) -> dict[str, float]:
    """Budget cuts of one mesh at one share of its triangles, for all cameras."""
    allocator = meshes.MeshAllocator(clusters)
    budget = max(int(share * clusters.triangle_count), clusters.root_triangle_count)
    allocations = [allocator.allocate(camera, budget) for camera, _ in seen]
    shown = [(allocator.realize(own), *view) for own, view in zip(allocations, seen, strict=True)]
    return {
        "share": share,
        "triangles": float(np.mean([allocation.cost for allocation in allocations])),
        **mean_errors(context, shown, diagonal),
        "residual_gap": max(allocation.residual_gap for allocation in allocations),
    }

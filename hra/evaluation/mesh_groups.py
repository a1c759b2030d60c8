"""What the number of clusters per group changes: size of a step, root, error at equal triangles, time to build."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from hra.camera import Camera
from hra.domains import meshes

SIZES = (4, 8, 16, 32)
SHARES = (0.02, 0.1, 0.3)
_AZIMUTHS = (0, 90, 180, 270)


@dataclass(frozen=True)
class GroupSizeRow:
    """One build.

    Attributes
    ----------
    group_size : clusters per group.
    groups, levels, root_triangles : of the hierarchy.
    step : median of the triangles that one refinement adds; a budget cannot be met more finely.
    cpu_s : CPU seconds of the build.
    error_px : root mean square of the projected error in pixels at each of the shares of the triangles, over four
        views: the root of `Allocation.residual` over the pixels of the view.
    gap : largest gap between such a cut and the bound on the best.
    """

    group_size: int
    groups: int
    levels: int
    root_triangles: int
    step: float
    cpu_s: float
    error_px: tuple[float, ...]
    gap: float


def compare_group_sizes(
    mesh: meshes.TriangleMesh,
    sizes: Sequence[int] = SIZES,
    shares: Sequence[float] = SHARES,
    *,
    certified: bool = False,
) -> list[GroupSizeRow]:
    """Build ``mesh`` with each of ``sizes`` clusters per group, and cut it to ``shares`` of its triangles.

    With ``certified`` errors are deviations, otherwise quadric errors.
    """
    return [_row(meshes.build(mesh, group_size=size, certified=certified), size, shares, certified) for size in sizes]


def _row(clusters: meshes.ClusterMesh, size: int, shares: Sequence[float], certified: bool) -> GroupSizeRow:
    report = clusters.report
    if report is None:
        raise ValueError("a mesh that was just built has a report")
    metric = meshes.ScreenError("deviation" if certified else "quadric")
    allocator, errors, gap = meshes.MeshAllocator(clusters, metric), [], 0.0
    for share in shares:
        squares = []
        for azimuth in _AZIMUTHS:
            camera = Camera.orbit(clusters.bounds, azimuth=azimuth, elevation=15, viewport=(1920, 1080))
            allocation = allocator.allocate(camera, share * clusters.triangle_count)
            squares.append(allocation.residual / (1920 * 1080))
            gap = max(gap, allocation.gap)
        errors.append(float(np.sqrt(np.mean(squares))))
    return GroupSizeRow(
        group_size=size,
        groups=report.groups,
        levels=report.levels,
        root_triangles=report.root_triangles,
        step=float(np.median(clusters.hierarchy.cost)),
        cpu_s=report.cpu_s,
        error_px=tuple(errors),
        gap=gap,
    )

"""The error without a camera: monotone, and what cameras from all sides see on average."""

from __future__ import annotations

import numpy as np
import pytest

import hra
from hra.domains import meshes


def test_it_is_the_squared_error_over_the_area_of_the_source(bumpy_clusters: meshes.ClusterMesh) -> None:
    hierarchy = bumpy_clusters.hierarchy
    error = meshes.SurfaceError().evaluate(hierarchy, None)
    pairs = zip(hierarchy.attribute("error").tolist(), hierarchy.attribute("area").tolist(), strict=True)
    assert np.allclose(error, [distance**2 * area for distance, area in pairs], rtol=1e-12)
    for refinement in range(len(hierarchy)):
        fine, coarse = error[hierarchy.added_by == refinement], error[hierarchy.removed_by == refinement]
        assert fine.sum() <= coarse.sum() * (1 + 1e-12)


def test_a_threshold_is_a_distance(bumpy_clusters: meshes.ClusterMesh) -> None:
    allocator = meshes.MeshAllocator(bumpy_clusters, meshes.SurfaceError(), hra.Threshold(0.01))
    allocation = allocator.allocate(None, np.inf)
    error = bumpy_clusters.hierarchy.attribute("error")[allocation.cut]
    assert 0.005 < error.max() <= 0.01
    assert allocation.cost < 0.5 * bumpy_clusters.triangle_count


@pytest.mark.parametrize("share", [0.5, 0.2, 0.1])
def test_seen_from_all_sides_it_is_as_good_as_knowing_the_cameras(
    bumpy_clusters: meshes.ClusterMesh, share: float
) -> None:
    budget = share * bumpy_clusters.triangle_count
    angles = [(azimuth, elevation) for azimuth in range(0, 360, 45) for elevation in (-50, 0, 50)]
    cameras = [hra.Camera.orbit(bumpy_clusters.bounds, a, e, distance=20, viewport=(200, 200)) for a, e in angles]
    hierarchy, seen = bumpy_clusters.hierarchy, meshes.ScreenError("quadric")
    error = seen.evaluate(hierarchy, cameras)
    blind = meshes.MeshAllocator(bumpy_clusters, meshes.SurfaceError(), hra.Exact()).allocate(None, budget)
    knowing = meshes.MeshAllocator(bumpy_clusters, seen, hra.Exact()).allocate(cameras, budget)
    assert error[blind.cut].sum() <= 1.02 * error[knowing.cut].sum()

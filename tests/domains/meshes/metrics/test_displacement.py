"""What is remembered of source clusters between gains and thresholds is that of the same mesh and camera."""

from __future__ import annotations

import gc
import weakref
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import trimesh

import hra
from hra.camera import View
from hra.domains import meshes
from hra.domains.meshes.metrics.displacement import source_pixels, sources_of


def asked_directly(hierarchy: hra.Hierarchy, camera: hra.Camera) -> tuple[np.ndarray, np.ndarray]:
    return camera.boxes_near_view(hierarchy.attribute("box"), hierarchy.removed_by < 0)


def test_turns_of_meshes_and_cameras_find_what_each_alone_does(skull_clusters: meshes.ClusterMesh):
    bounds = skull_clusters.bounds
    cameras = [hra.Camera.orbit(bounds, azimuth=a, distance=d * np.ptp(bounds)) for a, d in ((0, 0.05), (0, 0.1))]
    other = replace(skull_clusters.hierarchy)  # equal, but another one
    for camera in (*cameras, *cameras):
        for hierarchy in (skull_clusters.hierarchy, other):
            pixels, apart = asked_directly(hierarchy, camera)
            assert (apart > 0).any() and (apart == 0).any()
            found = source_pixels(hierarchy, camera)
            np.testing.assert_array_equal(found, np.where(apart > 0, 0.0, pixels))
            found[:] = np.nan  # callers write into it
            sources = sources_of(hierarchy, camera)
            np.testing.assert_array_equal(sources.pixels, pixels)
            np.testing.assert_array_equal(sources.apart, apart)


def test_nothing_keeps_meshes_and_cameras(skull_clusters: meshes.ClusterMesh):
    hierarchy, camera = replace(skull_clusters.hierarchy), hra.Camera.orbit(skull_clusters.bounds)
    found = weakref.ref(hierarchy), weakref.ref(camera)
    source_pixels(hierarchy, camera)
    del hierarchy, camera
    gc.collect()
    assert found[0]() is None and found[1]() is None


def farthest(points: np.ndarray, triangles: np.ndarray, camera: hra.Camera) -> float:
    """The largest distance in pixels of visible ``points`` from ``triangles`` [F, 3, 3], each measured from all."""
    window = np.concatenate([points, np.ones((len(points), 1))], axis=1) @ (camera.projection @ camera.view).T
    points = points[(np.abs(window[:, :3]) <= window[:, 3:] * (1 + 1e-9)).all(axis=1)]
    near = trimesh.triangles.closest_point
    each = [np.linalg.norm(near(triangles, np.tile(p, (len(triangles), 1))) - p, axis=1).min() for p in points]
    return float((np.array(each) * camera.pixels_per_unit(points, np.zeros(len(points)))).max(initial=0.0))


@pytest.fixture(scope="module")
def sources(make_closed, make_grid, skull_clusters) -> dict[str, meshes.TriangleMesh]:
    camera = hra.Camera.orbit(skull_clusters.bounds, azimuth=30)
    coarse = skull_clusters.mesh(meshes.MeshAllocator(skull_clusters).allocate(camera, 2_000).cut)
    balls = {"bumpy": make_closed(3, bumps=0.4), "ball": make_closed(3, bumps=0.0)}
    return {**balls, "sheet": make_grid(24, height=0.3), "skull": coarse}


@pytest.mark.parametrize("name", ["bumpy", "ball", "sheet", "skull"])
@pytest.mark.parametrize(("tau", "away"), [(10.0, 1.2), (25.0, 0.45)])
def test_what_is_measured_is_below_what_is_there_and_that_below_the_bound(sources, rng, name, tau, away):
    source = sources[name]
    clusters = meshes.build(source)
    camera = hra.Camera.orbit(clusters.bounds, 40, 10, away * np.linalg.norm(np.ptp(clusters.bounds, axis=0)))
    allocation = meshes.MeshAllocator(clusters, traversal=hra.Threshold(tau)).allocate(camera, np.inf)
    whole, cut = (corners.astype(np.float64) for corners in (source.positions[source.triangles], clusters.positions))
    cut = cut[clusters.triangles(allocation.cut)]
    # All vertices, and points of both surfaces.
    weights = rng.dirichlet((1, 1, 1), 400)[:, :, None]
    inside = ((each[rng.integers(len(each), size=400)] * weights).sum(axis=1) for each in (whole, cut))
    points = np.concatenate([np.unique(whole.reshape(-1, 3), axis=0), next(inside)])
    there = max(farthest(points, cut, camera), farthest(next(inside), whole, camera))
    assert len(cut) < len(whole) and allocation.least_max_error is not None
    assert 0.7 * there <= allocation.least_max_error <= there * (1 + 1e-6)
    assert there <= allocation.max_error * (1 + 1e-6) and allocation.max_error <= tau
    assert f"largest error {allocation.least_max_error:.3g} to {allocation.max_error:.3g}, " in repr(allocation)


def test_estimates_are_measured_too_and_may_be_exceeded(skull_clusters: meshes.ClusterMesh):
    camera = hra.Camera.orbit(skull_clusters.bounds, azimuth=30)
    quadric = meshes.MeshAllocator(skull_clusters, meshes.ScreenError("quadric"), hra.Threshold(1.0))

    def measured(views: object, budget: float) -> float:
        found = quadric.allocate(views, budget).least_max_error
        assert found is not None
        return found

    allocation = quadric.allocate(camera, np.inf)
    least = measured(camera, np.inf)
    assert least > allocation.max_error
    assert f"at least {least:.3g}, estimated {allocation.max_error:.3g}, " in repr(allocation)
    # Of several views the one that shows most counts, and a gaze lets less count.
    seen = [View(camera, gaze=hra.Eccentricity((0, 0))), hra.Camera.orbit(skull_clusters.bounds, azimuth=200)]
    assert 0 < measured(seen[0], 3_000) < measured(camera, 3_000)
    cut = quadric.allocate(camera, 3_000)
    one, other, both = (
        replace(cut, problem=quadric.problem(views, 3_000)).least_max_error for views in (seen[0], seen[1], seen)
    )
    assert one and other and both == max(one, other)


def test_what_is_not_measured_says_nothing(skull_clusters: meshes.ClusterMesh, tmp_path: Path):
    camera = hra.Camera.orbit(skull_clusters.bounds, azimuth=30)
    assert meshes.MeshAllocator(skull_clusters).allocate(camera, np.inf).least_max_error == 0.0
    held = meshes.MeshAllocator(skull_clusters, traversal=hra.Threshold(2.0)).allocate(camera, np.inf)
    held.save(tmp_path / "held.npz")
    assert repr(hra.Allocation.load(tmp_path / "held.npz")) == repr(held)
    skull_clusters.save(tmp_path / "skull.hra")
    asset = meshes.open_asset(tmp_path / "skull.hra")
    streamed = meshes.MeshAllocator(asset, traversal=hra.Threshold(2.0)).allocate(camera, np.inf)
    assert streamed.least_max_error is None and "largest" not in repr(streamed)
    assert np.array_equal(streamed.selected, held.selected)

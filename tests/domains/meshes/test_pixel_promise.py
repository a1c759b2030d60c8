"""A threshold in pixels holds as it is typed: no visible point of source or cut is farther from the other."""

from __future__ import annotations

import warnings
from collections.abc import Callable

import numpy as np
import pytest
import trimesh

import hra
from hra.domains import meshes
from hra.errors import EstimateWarning, MetricError
from tests.helpers.cameras import inside_clip_volume
from tests.helpers.hard_surfaces import HARD_SURFACES, tube
from tests.helpers.surface_distance import dense_points

VIEWPORT = (800, 600)
STEPS = np.linspace(0, 1, 257)[:, None]


def in_pixels(camera: hra.Camera, points: np.ndarray, surface: meshes.TriangleMesh) -> np.ndarray:
    """How far visible points [n, 3] are from a surface on the screen: what is in view of the way to the nearest one."""
    points = points[inside_clip_volume(camera, points)]
    whole = trimesh.Trimesh(surface.positions, surface.triangles, process=False)
    found = np.zeros(len(points))
    for k, point in enumerate(points):
        nearest = trimesh.proximity.closest_point_naive(whole, point[None])[0]
        way = point * (1 - STEPS) + nearest * STEPS
        way = way[inside_clip_volume(camera, way)]
        ends = camera.project(way[[0, -1]]).pixels
        found[k] = np.linalg.norm(ends[0] - ends[1])
    return found


def source_of(clusters: meshes.ClusterMesh) -> meshes.TriangleMesh:
    return clusters.mesh(np.flatnonzero(clusters.hierarchy.removed_by < 0))


def farthest(clusters: meshes.ClusterMesh, cut: np.ndarray, camera: hra.Camera, samples: int) -> tuple[float, float]:
    """Source from cut and cut from source, in pixels; of samples that are visible."""
    rng, source, drawn = np.random.default_rng(0), source_of(clusters), clusters.mesh(cut)
    sampled = [dense_points(mesh, 6, 20 * samples, rng) for mesh in (source, drawn)]
    sampled = [points[inside_clip_volume(camera, points)][:samples] for points in sampled]
    pairs = zip(sampled, (drawn, source), strict=True)
    lost, added = (in_pixels(camera, points, other).max(initial=0.0) for points, other in pairs)
    return float(lost), float(added)


CAMERAS = {
    "far": lambda bounds: hra.Camera.orbit(bounds, azimuth=20, distance=6, viewport=VIEWPORT),
    "close": lambda bounds: hra.Camera.orbit(bounds, azimuth=20, distance=1.35, viewport=VIEWPORT),
    "wide": lambda _: hra.Camera.perspective((0, 0, 1.6), (1, 0, 0), vertical_fov_degrees=120, viewport=VIEWPORT),
    "parallel": lambda _: hra.Camera.orthographic((0, 1, 5), (0, 0, 0), height=2, far=20, viewport=VIEWPORT),
    "uneven": lambda bounds: hra.Camera.orbit(bounds, azimuth=20, distance=5, viewport=VIEWPORT).seen_from(
        np.diag([-2.0, 0.5, 1.0, 1.0])
    ),
}


@pytest.fixture(scope="module")
def bumps(make_closed: Callable) -> meshes.ClusterMesh:
    return meshes.build(make_closed(4, bumps=0.3), cluster_size=32, group_size=4)


@pytest.mark.parametrize("kind", CAMERAS)
@pytest.mark.parametrize("tau", [2.0, 15.0])
def test_no_visible_point_is_farther_than_the_threshold(bumps: meshes.ClusterMesh, kind: str, tau: float) -> None:
    camera = CAMERAS[kind](bumps.bounds)
    allocation = meshes.MeshAllocator(bumps, traversal=hra.Threshold(tau)).allocate(camera, np.inf)
    assert allocation.cost < bumps.triangle_count
    lost, added = farthest(bumps, allocation.cut, camera, 200)
    assert 0.02 * tau < max(lost, added) <= tau
    assert max(lost, added) <= allocation.max_error <= tau


@pytest.mark.parametrize("name", [name for name in HARD_SURFACES if name != "soup of common vertices"])
def test_hard_surfaces_keep_the_threshold(name: str) -> None:
    """The simplifier's own estimate is exceeded here, many times by some."""
    clusters = meshes.build(HARD_SURFACES[name](), cluster_size=16, group_size=4)
    extent = float(np.linalg.norm(np.ptp(clusters.bounds, axis=0)))
    for azimuth, distance in ((30, 1.2), (130, 0.5)):
        camera = hra.Camera.orbit(clusters.bounds, azimuth, 35, distance * extent, viewport=VIEWPORT)
        for tau in (1.0, 20.0):
            allocation = meshes.MeshAllocator(clusters, traversal=hra.Threshold(tau)).allocate(camera, np.inf)
            assert max(farthest(clusters, allocation.cut, camera, 60)) <= tau


def test_nothing_sticks_into_a_view_beside_the_surface() -> None:
    """A view along a tube, of a window inside of its wall: the source is out of view, but not all of the root."""
    clusters = meshes.build(tube(256, 12), cluster_size=16, group_size=4)
    root, rng = np.flatnonzero(clusters.hierarchy.added_by < 0), np.random.default_rng(0)
    points = dense_points(clusters.mesh(root), 12, 10**6, rng)
    radius = np.linalg.norm(points[:, :2], axis=1)
    middle = points[radius.argmin()]
    camera = hra.Camera.orthographic(
        middle + np.array([0, 0, 60]), middle, (0, 1, 0), height=1 - radius.min(), far=200, viewport=(400, 400)
    )
    assert not inside_clip_volume(camera, dense_points(source_of(clusters), 4, 10**6, rng)).any()
    assert farthest(clusters, root, camera, 5000)[1] > 50
    allocation = meshes.MeshAllocator(clusters, traversal=hra.Threshold(2.0)).allocate(camera, np.inf)
    assert farthest(clusters, allocation.cut, camera, 200)[1] <= 2.0
    assert clusters.root_triangle_count < allocation.cost < 0.8 * clusters.triangle_count  # the far side stays coarse


def test_peaks_of_bounds_never_fall_from_fine_to_coarse_or_below_the_visible_part(bumps: meshes.ClusterMesh) -> None:
    hierarchy, metric = bumps.hierarchy, meshes.ScreenError("hausdorff")
    for distance in (0.2, 0.9, 1.3, 3.0):
        camera = hra.Camera.orbit(bumps.bounds, azimuth=10, distance=distance)
        peak = metric.peak(hierarchy, camera)
        group = np.zeros(len(hierarchy))
        product, member = hierarchy.removed_by >= 0, hierarchy.added_by >= 0
        group[hierarchy.removed_by[product]] = peak[product]
        assert (group[hierarchy.added_by[member]] >= peak[member]).all()
        pixels = camera.visible_pixels_per_unit(hierarchy.attribute("center"), hierarchy.attribute("radius"))
        assert (peak <= hierarchy.attribute("hausdorff") * pixels * (1 + 1e-9)).all()


@pytest.fixture(scope="module")
def plain(make_closed: Callable) -> meshes.ClusterMesh:
    return meshes.build(make_closed(3), certified=False)


class TestNames:
    """Which error a threshold goes by, and that it says so."""

    def test_the_default_is_certified(self, bumps: meshes.ClusterMesh) -> None:
        camera = CAMERAS["far"](bumps.bounds)
        with warnings.catch_warnings():
            warnings.simplefilter("error", EstimateWarning)
            for given in (None, meshes.ScreenError()):
                allocation = meshes.MeshAllocator(bumps, given, hra.Threshold(1.0)).allocate(camera, np.inf)
                metric = allocation.metric
                assert isinstance(metric, meshes.ScreenError) and metric.error == "certified" and metric.certified
                assert "certified" in repr(metric)

    def test_without_bounds_thresholds_warn_and_budgets_do_not(self, plain: meshes.ClusterMesh) -> None:
        camera = CAMERAS["far"](plain.bounds)
        with warnings.catch_warnings():
            warnings.simplefilter("error", EstimateWarning)
            meshes.MeshAllocator(plain).allocate(camera, 500)
            accepted = meshes.MeshAllocator(plain, meshes.ScreenError("quadric"), hra.Threshold(1.0))
            assert not accepted.allocate(camera, np.inf).metric.certified  # pyright: ignore[reportAttributeAccessIssue, reportOptionalMemberAccess]
        for call in (
            lambda: meshes.MeshAllocator(plain, traversal=hra.Threshold(1.0)).allocate(camera, np.inf),
            lambda: meshes.MeshAllocator(plain).allocate(camera, 500).max_error,
            lambda: meshes.ScreenError().peak(plain.hierarchy, camera),
            lambda: (2.0 * meshes.ScreenError()).peak(plain.hierarchy, camera),
        ):
            with pytest.warns(EstimateWarning, match="estimates"):
                call()

    def test_the_name_of_a_fallback_is_told(self, plain: meshes.ClusterMesh) -> None:
        metric = meshes.MeshAllocator(plain).metric
        assert repr(metric) == "ScreenError(error='quadric')"
        assert isinstance(metric, meshes.ScreenError) and not metric.certified

    def test_certified_counts_the_larger_of_both(self, bumps: meshes.ClusterMesh) -> None:
        """What textures and normals add to the quadric error is not lost where the bound of positions is small."""
        hierarchy = bumps.hierarchy
        bound, error = hierarchy.attribute("hausdorff"), hierarchy.attribute("error")
        certified, alone, quadric = (meshes.ScreenError(name) for name in ("certified", "hausdorff", "quadric"))
        assert np.array_equal(certified.largest_distances(hierarchy), np.maximum(bound, error))
        assert np.array_equal(alone.largest_distances(hierarchy), bound)
        assert np.array_equal(quadric.largest_distances(hierarchy), error)
        assert np.array_equal(certified.mean_distances(hierarchy), error)
        assert np.array_equal(alone.mean_distances(hierarchy), bound)

    def test_an_unknown_or_missing_error_is_refused(self, plain: meshes.ClusterMesh) -> None:
        with pytest.raises(MetricError, match="error 'true' is unknown"):
            meshes.ScreenError("true")  # pyright: ignore[reportArgumentType]
        for error in ("certified", "hausdorff"):
            with pytest.raises(MetricError, match=f"built without the bounds that the error '{error}' reads"):
                meshes.ScreenError(error).peak(plain.hierarchy, CAMERAS["far"](plain.bounds))

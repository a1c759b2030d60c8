"""What is seen counts: importance maps of views against plain NumPy, several views, one residency."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import hra
from hra.camera import ImportanceMap
from hra.camera.occlusion import window_matrix
from hra.domains import meshes
from hra.errors import MetricError
from hra.kernels import project_boxes
from tests.helpers.importance import blocks, touched

VIEWPORT = (320, 240)
METRIC = meshes.ScreenError("quadric")


def orbit(clusters: meshes.ClusterMesh, azimuth: float, distance: float | None = None) -> hra.Camera:
    return hra.Camera.orbit(clusters.bounds, azimuth=azimuth, elevation=10, distance=distance, viewport=VIEWPORT)


def spots(seed: int, shape: tuple[int, int] = (12, 16)) -> np.ndarray:
    """A map that is 0 in places and large in few."""
    values = np.random.default_rng(seed).random(shape)
    return np.where(values < 0.3, 0, values**6).astype(np.float32)


def reference_weights(hierarchy: hra.Hierarchy, view: meshes.View) -> np.ndarray:
    """The weight of each cluster's box, one after the other."""
    camera = view.camera
    boxes, size = hierarchy.attribute("box"), (VIEWPORT[1], VIEWPORT[0])
    rects = project_boxes(boxes, window_matrix(camera), size, reversed_depth=camera.reversed_depth).rects
    assert view.importance is not None
    values, result = view.importance.values, np.zeros(len(rects))
    for number, rect in enumerate(rects.tolist()):
        if rect[2] >= rect[0]:
            result[number] = blocks(values, touched(rect, values.shape, VIEWPORT))
    return result


def reference_errors(hierarchy: hra.Hierarchy, source: np.ndarray) -> np.ndarray:
    """Errors of clusters from the weights of source clusters: each group passes the sum of its members' on by area."""
    weight, area = np.where(hierarchy.removed_by < 0, source, 0.0), hierarchy.attribute("area")
    for group in range(len(hierarchy) - 1, -1, -1):
        above = np.flatnonzero(hierarchy.removed_by == group)
        weight[above] = weight[hierarchy.added_by == group].sum() * area[above] / area[above].sum()
    return hierarchy.attribute("error").astype(np.float64) ** 2 * weight


def plain_sources(hierarchy: hra.Hierarchy, camera: hra.Camera) -> np.ndarray:
    """What a squared error of one unit in each source cluster counts, without a map."""
    error = hierarchy.attribute("error")
    source = hierarchy.removed_by < 0
    pixels = camera.visible_pixels_per_unit_in_boxes(hierarchy.attribute("box"), source)
    assert (error[source] == 0).all()
    return pixels**2 * np.minimum(hierarchy.attribute("area") * pixels**2 * 0.5 / np.prod(VIEWPORT), 1)


def group_values(hierarchy: hra.Hierarchy, values: np.ndarray, join: np.ufunc) -> tuple[np.ndarray, np.ndarray]:
    """What each group replaces, and its members, joined."""
    above, members = np.zeros(len(hierarchy)), np.zeros(len(hierarchy))
    for result, groups in ((above, hierarchy.removed_by), (members, hierarchy.added_by)):
        join.at(result, groups[groups >= 0], values[groups >= 0])
    return above, members


@pytest.mark.parametrize("seed", range(4))
def test_budgets_are_those_of_plain_numpy(bumpy_clusters: meshes.ClusterMesh, seed: int) -> None:
    hierarchy = bumpy_clusters.hierarchy
    view = meshes.View(orbit(bumpy_clusters, 40 * seed, 1.6), importance=ImportanceMap(spots(seed)))
    source = plain_sources(hierarchy, view.camera) * reference_weights(hierarchy, view)
    np.testing.assert_allclose(METRIC.evaluate(hierarchy, view), reference_errors(hierarchy, source), rtol=1e-5)


@given(st.integers(0, 2**32 - 1), st.floats(-180, 180), st.floats(0.5, 20))
def test_weights_and_errors_never_fall_from_fine_to_coarse(
    bumpy_clusters: meshes.ClusterMesh, seed: int, azimuth: float, distance: float
) -> None:
    hierarchy = bumpy_clusters.hierarchy
    view = meshes.View(orbit(bumpy_clusters, azimuth, distance), importance=ImportanceMap(spots(seed)))
    boxes = hierarchy.attribute("box")
    for values in (view.acuity(boxes), METRIC.peak(hierarchy, view)):
        above, members = group_values(hierarchy, values, np.maximum)
        assert (above >= members).all()
    above, members = group_values(hierarchy, METRIC.evaluate(hierarchy, view), np.add)
    assert (above >= members * (1 - 1e-12)).all()


def test_no_visible_point_has_more_weight_than_its_cluster(bumpy_clusters: meshes.ClusterMesh) -> None:
    view = meshes.View(orbit(bumpy_clusters, 20, 1.4), importance=ImportanceMap(spots(9, (61, 83))))
    source = np.flatnonzero(bumpy_clusters.hierarchy.removed_by < 0)
    bound = view.acuity(bumpy_clusters.hierarchy.attribute("box")[source]) ** 2
    assert view.importance is not None
    for cluster, largest in zip(source.tolist(), bound, strict=True):
        points = bumpy_clusters.mesh(np.array([cluster])).positions
        x, y = view.camera.project(points).pixels.T
        inside = (x >= 0) & (x < VIEWPORT[0]) & (y >= 0) & (y < VIEWPORT[1])
        row, column = (y[inside] * 61 / VIEWPORT[1]).astype(int), (x[inside] * 83 / VIEWPORT[0]).astype(int)
        assert (view.importance.values[row, column] <= largest * (1 + 1e-6)).all()


def test_a_map_of_ones_changes_nothing_and_a_constant_scales(bumpy_clusters: meshes.ClusterMesh) -> None:
    hierarchy, camera = bumpy_clusters.hierarchy, orbit(bumpy_clusters, 10)
    for value in (1.0, 4.0):
        view = meshes.View(camera, importance=ImportanceMap(np.full((3, 5), value)))
        np.testing.assert_allclose(METRIC.evaluate(hierarchy, view), value * METRIC.evaluate(hierarchy, camera))
        np.testing.assert_allclose(METRIC.peak(hierarchy, view), np.sqrt(value) * METRIC.peak(hierarchy, camera))


def share_left(clusters: meshes.ClusterMesh, camera: hra.Camera, context, budget: float, traversal=None) -> float:
    """Share of the visible triangles of a cut that lie in the left half of the picture."""
    allocator = meshes.MeshAllocator(clusters, METRIC, traversal)
    mesh = allocator.realize(allocator.allocate(context, budget))
    middle = camera.project(mesh.positions[mesh.triangles].mean(axis=1)).pixels
    return float((middle[:, 0] < VIEWPORT[0] / 2).mean())


@pytest.mark.parametrize(("traversal", "budget"), [(None, 3000), (hra.Threshold(0.1), np.inf)])
def test_triangles_go_where_the_map_says(skull_clusters: meshes.ClusterMesh, traversal, budget: float) -> None:
    camera = hra.Camera.orbit(skull_clusters.bounds, azimuth=30, up=(0, 0, 1), viewport=VIEWPORT)
    sides = [meshes.View(camera, importance=ImportanceMap(np.array([pair]))) for pair in ([1.0, 0.01], [0.01, 1.0])]
    plain, left, right = (share_left(skull_clusters, camera, c, budget, traversal) for c in (camera, *sides))
    assert right < plain < left and left - right > 0.1


def test_what_has_no_weight_stays_coarse(skull_clusters: meshes.ClusterMesh) -> None:
    camera = hra.Camera.orbit(skull_clusters.bounds, azimuth=30, up=(0, 0, 1), viewport=VIEWPORT)
    nothing = meshes.View(camera, importance=ImportanceMap(np.zeros((2, 2))))
    for traversal in (hra.Hull(), hra.Threshold(1.0)):
        allocation = meshes.MeshAllocator(skull_clusters, METRIC, traversal).allocate(nothing, np.inf)
        assert allocation.cost == skull_clusters.root_triangle_count


class TestSeveralViews:
    def views(self, clusters: meshes.ClusterMesh) -> list[meshes.View]:
        """Two eyes, each with its map, and a light without one."""
        eyes = [orbit(clusters, azimuth, 2.0) for azimuth in (0, 4)]
        mapped = [meshes.View(eye, importance=ImportanceMap(spots(i))) for i, eye in enumerate(eyes)]
        return [*mapped, meshes.View(orbit(clusters, 150), weight=0.25)]

    @pytest.mark.parametrize("join", ["sum", "max"])
    def test_each_has_its_own_map(self, bumpy_clusters: meshes.ClusterMesh, join) -> None:
        hierarchy, views = bumpy_clusters.hierarchy, self.views(bumpy_clusters)
        sources = [plain_sources(hierarchy, view.camera) for view in views]
        for weights, view in zip(sources[:2], views, strict=False):
            weights *= reference_weights(hierarchy, view)
        sources[2] *= 0.25
        together = np.sum(sources, axis=0) if join == "sum" else np.max(sources, axis=0)
        metric = meshes.ScreenError("quadric", views=join)
        np.testing.assert_allclose(metric.evaluate(hierarchy, views), reference_errors(hierarchy, together), rtol=1e-5)
        peaks = [METRIC.peak(hierarchy, view) for view in views]
        np.testing.assert_allclose(metric.peak(hierarchy, views), np.max(peaks, axis=0))

    def test_the_largest_never_falls_and_two_equal_views_count_once(self, bumpy_clusters: meshes.ClusterMesh) -> None:
        hierarchy, views = bumpy_clusters.hierarchy, self.views(bumpy_clusters)
        metric = meshes.ScreenError("quadric", views="max")
        above, members = group_values(hierarchy, metric.evaluate(hierarchy, views), np.add)
        assert (above >= members * (1 - 1e-12)).all()
        once, twice = (metric.evaluate(hierarchy, context) for context in (views[0], [views[0]] * 2))
        assert np.array_equal(once, twice)

    def test_views_are_joined_in_two_ways_only(self) -> None:
        with pytest.raises(MetricError, match="use one of sum, max"):
            meshes.ScreenError(views="mean")  # pyright: ignore[reportArgumentType]

    @pytest.mark.parametrize("join", ["sum", "max"])
    def test_a_scene_of_copies_agrees_with_each_of_them(self, bumpy_clusters: meshes.ClusterMesh, join) -> None:
        """Many copies are treated alike; their maps are of the world's screen."""
        views = self.views(bumpy_clusters)
        row = np.tile(np.eye(4), (12, 1, 1))
        row[:, 0, 3] = 3.0 * np.arange(12) - 16
        metric = meshes.ScreenError("quadric", views=join)
        scene = meshes.Scene([(bumpy_clusters, row)], metric, hra.Threshold(2.0))
        allocation = scene.allocate(views, np.inf)
        for instance in scene.realize(allocation):
            placed = [view.seen_from(row[instance.number]) for view in views]
            alone = meshes.MeshAllocator(bumpy_clusters, metric, hra.Threshold(2.0)).allocate(placed, np.inf)
            assert np.array_equal(np.sort(instance.cut), np.sort(alone.cut))

    def test_copies_in_important_places_are_finer(self, bumpy_clusters: meshes.ClusterMesh) -> None:
        camera = hra.Camera.perspective((0, 0, 12), (0, 0, 0), viewport=VIEWPORT)
        row = np.tile(np.eye(4), (2, 1, 1))
        row[:, 0, 3] = -3, 3
        view = meshes.View(camera, importance=ImportanceMap(np.array([[0.01, 1.0]])))
        for metric in (METRIC, meshes.ScreenError("quadric", views="max")):
            scene = meshes.Scene([(bumpy_clusters, row)], metric)
            left, right = (len(part.cut) for part in scene.realize(scene.allocate(view, 1500)))
            assert right > 1.3 * left

    def test_one_residency_serves_all(self, skull_clusters: meshes.ClusterMesh, tmp_path: Path) -> None:
        """Two eyes and a light share a pool: what is wanted is what each of them wants, and each draws it in full."""
        skull_clusters.save(tmp_path / "skull.hra", 16)
        asset = meshes.open_asset(tmp_path / "skull.hra")
        near = {"distance": 0.45 * np.ptp(asset.bounds, axis=0).max(), "up": (0, 0, 1), "viewport": VIEWPORT}
        cameras = [hra.Camera.orbit(asset.bounds, azimuth=azimuth, **near) for azimuth in (0, 3, 140)]
        views = [cameras[0], cameras[1], meshes.View(cameras[2], weight=0.25)]
        allocator = meshes.PageAllocator(asset, traversal=hra.Threshold(0.2))
        streamer = meshes.MeshStreamer(allocator, pool_bytes=asset.slot_bytes * len(asset.page_bytes))
        update = streamer.step(views)
        wanted = [set(allocator.pages(allocator.allocate(view, np.inf)).tolist()) for view in views]
        assert set(update.wanted.tolist()) == set.union(*wanted) and len(update.queued) == 0
        assert len(set.union(*wanted)) > min(map(len, wanted))
        for view in views:
            peak = meshes.ScreenError().peak(asset.hierarchy, view)
            assert peak[update.cut].max() <= 0.2

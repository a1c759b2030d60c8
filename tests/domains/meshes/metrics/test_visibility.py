"""Hidden clusters of the skull: behind a wall, behind others in a field of instances, and in a budget."""

from __future__ import annotations

from dataclasses import replace
from types import MappingProxyType

import numpy as np
import pytest

import hra
from hra.camera.occlusion import Occlusion, window_matrix
from hra.domains import meshes
from hra.domains.meshes.metrics.visibility import VisibleScreenError, cluster_boxes, visible_clusters
from hra.errors import ArrayError, MetricError
from hra.kernels import depth_pyramid, visible_boxes
from tests.helpers.rasterizer import Target
from tests.helpers.views import View

VIEWPORT = (960, 540)


def front_view(clusters: meshes.ClusterMesh, reversed_depth: bool = False) -> hra.Camera:
    return hra.Camera.orbit(clusters.bounds, azimuth=30, up=(0, 0, 1), viewport=VIEWPORT, reversed_depth=reversed_depth)


def with_wall(camera: hra.Camera, from_column: int) -> Occlusion:
    """A buffer whose columns from ``from_column`` on are covered by a wall just behind the near plane."""
    near, far = (1.0, 0.0) if camera.reversed_depth else (0.0, 1.0)
    depth = np.full(VIEWPORT[::-1], far, np.float32)
    depth[:, from_column:] = near
    return Occlusion.of(depth, camera)


def finest(clusters: meshes.ClusterMesh) -> np.ndarray:
    return np.flatnonzero(clusters.hierarchy.attribute("level") == 0)


def drawn(clusters: meshes.ClusterMesh, cut: np.ndarray, camera: hra.Camera) -> Target:
    """The clusters of a cut, as objects of their own numbers."""
    width, height = camera.viewport
    target = Target(height, width, camera.reversed_depth)
    owner = np.repeat(cut, clusters.triangles_per_cluster[cut])
    target.draw(clusters.positions[clusters.triangles(cut)], owner, window_matrix(camera))
    return target


def test_boxes_enclose_their_clusters(skull_clusters):
    boxes = cluster_boxes(skull_clusters)
    for number in range(0, len(boxes), 37):
        points = skull_clusters.positions[skull_clusters.triangles(np.array([number]))].reshape(-1, 3)
        np.testing.assert_array_equal(boxes[number], [points.min(axis=0), points.max(axis=0)])


@pytest.mark.parametrize("reversed_depth", [False, True])
def test_every_cluster_that_owns_a_pixel_is_kept(skull_clusters, reversed_depth):
    camera, cut = front_view(skull_clusters, reversed_depth), finest(skull_clusters)
    target = drawn(skull_clusters, cut, camera)
    kept = visible_clusters(skull_clusters, cut, Occlusion.of(target.depth, camera))
    assert set(np.flatnonzero(target.seen(len(skull_clusters.offsets) - 1))) <= set(kept)
    assert len(kept) < 0.75 * len(cut)  # the far side is hidden by the near one
    np.testing.assert_array_equal(drawn(skull_clusters, kept, camera).ids, target.ids)


def instances(boxes_or_points: np.ndarray, places: np.ndarray, turns: np.ndarray) -> np.ndarray:
    """Points [..., 3] turned about z and moved: one copy per place [P, 3], in front."""
    cosine, sine = np.cos(turns), np.sin(turns)
    x, y, z = np.moveaxis(boxes_or_points, -1, 0)
    turned = np.stack([np.multiply.outer(cosine, x) - np.multiply.outer(sine, y),
                       np.multiply.outer(sine, x) + np.multiply.outer(cosine, y),
                       np.broadcast_to(z, (len(places), *z.shape))], axis=-1)  # fmt: skip
    return turned + places.reshape(-1, *[1] * (boxes_or_points.ndim - 1), 3)


def skull_field(clusters: meshes.ClusterMesh, reversed_depth: bool = False, seed: int = 0) -> View:
    """144 skulls of 5,000 triangles on a field, seen from a corner at eye level; each cluster of each is an object."""
    camera = front_view(clusters)
    cut = meshes.MeshAllocator(clusters).allocate(camera, 5000).cut
    extent = np.ptp(clusters.bounds, axis=0)
    pitch = 0.8 * np.hypot(extent[0], extent[1])
    rng = np.random.default_rng(seed)
    row, column = np.divmod(np.arange(144), 12)
    places = np.column_stack([column * pitch, row * pitch, rng.uniform(0, 0.3 * extent[2], 144)])
    triangles = instances(clusters.positions[clusters.triangles(cut)], places, rng.uniform(0, 2 * np.pi, 144))
    triangles = triangles.reshape(-1, 3, 3).astype(np.float32)
    sizes = np.tile(clusters.triangles_per_cluster[cut], 144)
    first = np.r_[0, np.cumsum(sizes)[:-1]]
    boxes = np.stack(
        [np.minimum.reduceat(triangles.min(axis=1), first), np.maximum.reduceat(triangles.max(axis=1), first)], axis=1
    )
    eye = np.array([-1.5 * pitch, -1.5 * pitch, 0.6 * extent[2]])
    camera = hra.Camera.perspective(
        eye,
        (6 * pitch, 6 * pitch, 0.4 * extent[2]),
        (0, 0, 1),
        near=pitch / 20,
        viewport=(1920, 1080),
        reversed_depth=reversed_depth,
    )
    return View(camera, triangles, np.repeat(np.arange(len(sizes)), sizes), boxes, None if reversed_depth else 24)


@pytest.mark.parametrize("reversed_depth", [False, True])
def test_a_field_of_skulls_is_culled(skull_clusters, reversed_depth):
    """The share of what a test of every pixel culls within the frustum; measured 80 %."""
    view = skull_field(skull_clusters, reversed_depth)
    kept = visible_boxes(view.hiz, view.boxes, view.matrix)
    assert kept[view.seen].all() and kept[view.exact].all()
    in_view = view.bounds.rects[:, 0] <= view.bounds.rects[:, 2]
    assert np.sum(~kept & in_view) >= 0.7 * np.sum(~view.exact & in_view) > 0


@pytest.mark.parametrize("reversed_depth", [False, True])
def test_hidden_clusters_want_nothing(skull_clusters, reversed_depth):
    camera = front_view(skull_clusters, reversed_depth)
    plain = meshes.MeshAllocator(skull_clusters)
    hidden = meshes.MeshAllocator(skull_clusters, VisibleScreenError(with_wall(camera, 480)))
    budget = 8000
    everywhere, visible = plain.allocate(camera, budget), hidden.allocate(camera, budget)
    assert visible.status == "heuristic" and visible.cost <= budget

    def triangles_in(cut: np.ndarray, columns: slice) -> int:
        boxes = cluster_boxes(skull_clusters)[cut]
        column = camera.project(boxes.mean(axis=1)).pixels[:, 0]
        inside = (column >= columns.start) & (column < columns.stop)
        return int(skull_clusters.triangles_per_cluster[cut][inside].sum())

    left, right = slice(0, 480), slice(600, 960)
    assert triangles_in(visible.cut, left) > 1.1 * triangles_in(everywhere.cut, left)
    assert triangles_in(visible.cut, right) < 0.75 * triangles_in(everywhere.cut, right)
    spent_blindly = hidden.metric.evaluate(skull_clusters.hierarchy, camera)[everywhere.cut].sum()
    assert visible.residual < 0.75 * spent_blindly


def test_nothing_hidden_is_the_plain_metric_and_all_hidden_wants_no_more(skull_clusters):
    camera, hierarchy = front_view(skull_clusters), skull_clusters.hierarchy
    plain, free = meshes.ScreenError(), VisibleScreenError(with_wall(camera, 960))
    np.testing.assert_allclose(free.evaluate(hierarchy, camera), plain.evaluate(hierarchy, camera), rtol=1e-12)
    np.testing.assert_array_equal(free.peak(hierarchy, camera), plain.peak(hierarchy, camera))
    walled = VisibleScreenError(with_wall(camera, 0))
    assert not walled.evaluate(hierarchy, camera).any() and not walled.peak(hierarchy, camera).any()


def test_thresholds_stay_monotone(skull_clusters):
    """No warning of a repair, and the cut is a valid one."""
    camera = front_view(skull_clusters)
    metric = VisibleScreenError(with_wall(camera, 480))
    allocator = meshes.MeshAllocator(skull_clusters, metric, hra.Threshold(1.0))
    allocation = allocator.allocate(camera, np.inf)
    assert meshes.is_closed(allocator.realize(allocation))
    assert (
        allocation.cost
        < meshes.MeshAllocator(skull_clusters, traversal=hra.Threshold(1.0)).allocate(camera, np.inf).cost
    )


def test_the_error_is_chosen_by_name(skull_clusters):
    camera, hierarchy = front_view(skull_clusters), skull_clusters.hierarchy
    doubled = MappingProxyType({**hierarchy.node, "hausdorff": 2 * hierarchy.attribute("error")})
    certified, occlusion = replace(hierarchy, node=doubled), with_wall(camera, 480)
    quadric, bound, both = (VisibleScreenError(occlusion, error) for error in ("quadric", "hausdorff", None))
    np.testing.assert_allclose(bound.evaluate(certified, camera), 4 * quadric.evaluate(certified, camera))
    np.testing.assert_array_equal(both.evaluate(certified, camera), quadric.evaluate(certified, camera))
    assert (bound.peak(certified, camera) >= 1.9 * quadric.peak(certified, camera)).all()
    np.testing.assert_array_equal(both.peak(certified, camera), bound.peak(certified, camera))
    named = meshes.MeshAllocator(skull_clusters, both).metric
    assert isinstance(named, VisibleScreenError) and named.error == "certified"
    with pytest.raises(MetricError, match="deviation"):
        VisibleScreenError(occlusion, "deviation")  # pyright: ignore[reportArgumentType]


def test_hidden_sources_count_nothing_in_thresholds(skull_clusters):
    """Peaks are those of the visible source clusters beneath, not of all that the cluster's own box may reach."""
    camera, hierarchy = front_view(skull_clusters), skull_clusters.hierarchy
    occlusion = with_wall(camera, 480)
    sources = np.flatnonzero(hierarchy.removed_by < 0)
    hidden = ~occlusion.visible_boxes(hierarchy.attribute("box")[sources])
    assert 0.2 < hidden.mean() < 1
    visible, plain = (m.peak(hierarchy, camera) for m in (VisibleScreenError(occlusion), meshes.ScreenError()))
    assert (visible <= plain).all()
    only_hidden = np.zeros(len(visible), bool)
    only_hidden[sources] = hidden
    offsets, added = hierarchy.added_nodes
    for group in range(len(hierarchy) - 1, -1, -1):
        only_hidden[hierarchy.removed_by == group] = only_hidden[added[offsets[group] : offsets[group + 1]]].all()
    coarse = hierarchy.removed_by >= 0
    assert np.count_nonzero(only_hidden & coarse) > 20
    np.testing.assert_array_equal(visible[coarse] == 0, only_hidden[coarse] | (plain[coarse] == 0))


def test_spheres_hide_no_more_than_boxes_in_them(skull_clusters):
    occlusion, node = with_wall(front_view(skull_clusters), 480), skull_clusters.hierarchy.node
    spheres = occlusion.visible_spheres(node["center"], node["radius"])
    sources = np.flatnonzero(skull_clusters.hierarchy.removed_by < 0)
    boxes = occlusion.visible_boxes(node["box"])
    middle = node["box"].mean(axis=1)
    inside = occlusion.visible_boxes(np.stack([middle, middle], axis=1))
    assert not (inside & ~spheres)[sources].any()
    assert 0 < spheres[sources].sum() < len(sources)
    assert np.mean(spheres == boxes) > 0.8


def test_one_buffer_is_of_one_view(skull_clusters):
    camera = front_view(skull_clusters)
    with pytest.raises(MetricError, match="each view needs a depth buffer"):
        VisibleScreenError(with_wall(camera, 480)).peak(skull_clusters.hierarchy, [camera, camera])


def test_buffers_of_another_view_are_refused(skull_clusters):
    camera = front_view(skull_clusters)
    with pytest.raises(ArrayError, match="viewport of 540 x 960"):
        Occlusion.of(np.ones((540, 480), np.float32), camera)
    with pytest.raises(ArrayError, match="'min'"):
        Occlusion(depth_pyramid(np.ones((540, 960), np.float32), reversed_depth=True), camera)

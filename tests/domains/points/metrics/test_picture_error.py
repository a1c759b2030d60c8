"""The error of a node is what the picture changes by when it is drawn instead of what is below it."""

from __future__ import annotations

import numpy as np
import pytest

import hra
from hra.camera import View
from hra.domains.points import (
    CloudTree,
    PictureError,
    PointAllocator,
    PointCloud,
    SplatCloud,
    build,
    load_points,
    render,
)
from hra.domains.points.metrics import picture_error
from hra.errors import MetricError
from tests.helpers.long_splats import long_splat


def eye(tree: CloudTree, azimuth: float = 30, distance: float | None = None) -> hra.Camera:
    return hra.Camera.orbit(tree.bounds, azimuth, 20, distance=distance, viewport=(80, 72))


def changed(tree: CloudTree, node: int, camera: hra.Camera) -> float:
    """Squared difference of the two pictures, drawn by the renderer."""
    below = np.zeros(len(tree.parent), bool)
    below[node] = True
    for v in range(node + 1, len(below)):
        below[v] |= below[tree.parent[v]]
    kept = tree.leaves[~below[tree.leaves]]
    pictures = [render(tree.take(nodes), camera, 0.7)[0] for nodes in (tree.leaves, np.append(kept, node))]
    return float(np.square(np.subtract(*pictures, dtype=float)).sum())


@pytest.mark.parametrize("kind", ["cloud", "splats"])
def test_swapping_a_node_in_the_renderer_gives_its_error(kind: str, request: pytest.FixtureRequest):
    tree = build(request.getfixturevalue(kind))
    inner = np.setdiff1d(np.arange(len(tree.parent)), tree.leaves)
    for camera in (eye(tree), eye(tree, distance=0.6)):  # the second within the cloud
        found = picture_error.swap_errors(tree.take(slice(None)), tree.parent, camera, 0.7)
        for node in [0, *inner[1::23]]:
            assert found[node] == pytest.approx(changed(tree, node, camera), rel=0.02, abs=1e-3)
        assert not found[tree.leaves].any()


def test_errors_never_grow_with_detail_and_are_at_least_the_picture_change(cloud: PointCloud):
    tree, camera = build(cloud), eye(build(cloud))
    error = PictureError().evaluate(tree.hierarchy, camera)
    below = np.bincount(tree.parent[1:], error[1:], len(error))
    assert (error >= below).all()
    raw = picture_error.swap_errors(tree.take(slice(None)), tree.parent, camera, 1.0)
    assert (error >= raw).all()


def test_what_is_hidden_loses_nothing():
    rng = np.random.default_rng(0)
    hidden = rng.uniform(-0.3, 0.3, (50, 3)) * [1, 1, 0.1] - [0, 0, 1]
    wall = PointCloud(np.append(hidden, [[0, 0, 1]], axis=0), rng.random((51, 3)), [*[0.02] * 50, 1.5])
    tree = build(wall)
    camera = hra.Camera.orbit([[-1, -1, -1], [1, 1, 1]], up=(0, 1, 0), viewport=(64, 64))
    seen = PictureError().evaluate(tree.hierarchy, camera)
    alone = PictureError().evaluate(build(PointCloud(hidden, wall.colors[:50], wall.radii[:50])).hierarchy, camera)
    behind = tree.hierarchy.attribute("position")[:, 2] < -0.5
    assert alone.any()
    assert not seen[behind].any()


@pytest.mark.parametrize("kind", ["cloud", "splats"])
def test_pictures_are_nearer_to_full_detail_than_by_bounds(kind: str, request: pytest.FixtureRequest):
    tree = build(request.getfixturevalue(kind))
    camera = eye(tree)
    full = render(tree.take(tree.leaves), camera)[0]
    for share in (0.1, 0.3):
        apart = []
        for metric in (PictureError(), None):
            allocator = PointAllocator(tree, metric)
            allocation = allocator.allocate(camera, int(share * len(tree.leaves)))
            assert any("cost" in line for line in hra.verify(allocation).proven)
            apart.append(float(np.square(render(allocator.realize(allocation), camera)[0] - full).sum()))
        assert apart[0] < apart[1]


def test_views_add_up_and_count_by_their_weight(cloud: PointCloud):
    tree = build(cloud)
    both = [eye(tree, 30), View(eye(tree, 210), weight=0.25)]
    one, other, sum_ = (PictureError().evaluate(tree.hierarchy, views) for views in (both[0], both[1], both))
    # Raised to what the children lose, each alone: a sum of such is at most the sum.
    assert (sum_ <= (one + other) * (1 + 1e-9)).all()
    assert np.allclose(sum_[0], one[0] + other[0], rtol=0.05)
    even = PictureError().evaluate(tree.hierarchy, eye(tree, 210))
    assert np.allclose(other, even / 4)


def test_bands_do_not_show(splats: SplatCloud, monkeypatch: pytest.MonkeyPatch):
    tree = build(splats)
    parts = []
    for listed in (1, 10_000, 1 << 25):
        monkeypatch.setattr(picture_error, "_LISTED", listed)
        parts.append(PictureError().evaluate(tree.hierarchy, eye(tree)))
    assert np.allclose(parts[0], parts[1])
    assert np.allclose(parts[0], parts[2])


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("count", [1, 3])
@pytest.mark.parametrize("radius", [None, 0, 0.3])
def test_one_point_and_points_without_a_size_are_drawn(count: int, radius: float | None):
    cloud = PointCloud(np.eye(3)[:count], radii=None if radius is None else [radius] * count)
    tree = build(cloud)
    camera = hra.Camera.orbit([[-1, -1, -1], [1, 1, 1]], viewport=(64, 48))
    error = PictureError().evaluate(tree.hierarchy, camera)
    assert np.isfinite(error).all() and not error[tree.leaves].any() and (error[0] > 0) == (count > 1)
    assert (render(tree.take(tree.leaves), camera)[0] < 0.99).any(axis=2).sum() >= count


def test_wrong_inputs_are_refused(cloud: PointCloud):
    with pytest.raises(MetricError, match="background"):
        PictureError(2)
    with pytest.raises(MetricError, match="no node attribute"):
        PictureError().evaluate(hra.Hierarchy.tree([-1, 0, 0], [1, 1, 1]), eye(build(cloud)))


def test_a_long_splat_counts_where_it_is_drawn():
    camera = hra.Camera.orbit([[-1, -1, -1], [1, 1, 1]], azimuth=20, elevation=15, viewport=(160, 120))
    for angle in (30, 45, 60):
        cloud, _ = long_splat(camera, angle, 100)
        foot = picture_error.footprints(cloud, camera)
        shares = [
            picture_error.alpha_at(*foot.center[0], foot.conic[0], 0.9, False, *np.divmod(i, 160))
            for i in range(120 * 160)
        ]
        found = 1 - np.reshape(shares, (120, 160))
        np.testing.assert_allclose(found, render(cloud, camera)[0][..., 0], atol=0.01)


def test_errors_of_nodes_that_are_coarse_at_once_claim_no_bound():
    tree = build(load_points(hra.samples.path("skull.ply")))
    camera = hra.Camera.orbit(tree.bounds, viewport=(80, 60))
    allocator = PointAllocator(tree, PictureError())
    allocation = allocator.allocate(camera, tree.hierarchy.total_cost)
    pictures = [render(cloud, camera)[0] for cloud in (tree.take(tree.leaves), allocator.realize(allocation))]
    # Each node alone changes nothing, together they do.
    assert allocation.residual == 0 and np.square(np.subtract(*pictures, dtype=float)).sum() > 1
    assert allocation.status == "heuristic" and "no bound" in repr(allocation)

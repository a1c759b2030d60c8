"""Cuts of clouds: within the budget, proven, foveated, and in one pool with a mesh and its texture."""

from __future__ import annotations

import numpy as np
import pytest

import hra
from hra.camera import Occlusion, View
from hra.domains import meshes, textures
from hra.domains.points import (
    CloudDisplacement,
    CloudError,
    CloudTree,
    PointAllocator,
    PointCloud,
    SplatCloud,
    build,
    render,
)
from hra.errors import HierarchyError, HraError, MetricError
from hra_lab.inputs.mesh_sources import bumpy


@pytest.fixture
def tree(cloud: PointCloud) -> CloudTree:
    return build(cloud)


def eye(tree: CloudTree) -> hra.Camera:
    return hra.Camera.orbit(tree.bounds, viewport=(96, 96))


@pytest.mark.parametrize("budget", [1, 7, 60, 599, float("inf")])
def test_a_cut_keeps_its_budget_and_is_verified(tree: CloudTree, budget: float):
    allocator = PointAllocator(tree)
    allocation = allocator.allocate(eye(tree), budget)
    assert len(allocator.realize(allocation)) <= budget
    assert any("cost" in line for line in hra.verify(allocation).proven)
    assert allocation.status in ("certified", "optimal")


def test_bytes_are_points_times_the_bytes_of_one(tree: CloudTree):
    priced = tree.with_cost("bytes")
    allocation = PointAllocator(priced).allocate(eye(tree), 1900)
    assert allocation.cost <= 1900
    assert len(allocation.cut) == allocation.cost / PointCloud.row_bytes
    with pytest.raises(HraError, match=r"cost .* is unknown"):
        tree.with_cost("pounds")  # pyright: ignore[reportArgumentType]


def test_detail_is_where_the_gaze_is(tree: CloudTree):
    camera = eye(tree)
    sides = []
    for x in (0.0, 96.0):
        gaze = View(camera, gaze=hra.Eccentricity((x, 48.0), pixels_per_degree=4))
        allocator = PointAllocator(tree)
        cut = allocator.realize(allocator.allocate(gaze, 80))
        sides.append(np.median(camera.project(cut.positions).pixels[:, 0]))
    assert sides[0] < sides[1]


def test_nothing_hidden_has_an_error_and_no_gap_is_claimed(tree: CloudTree):
    camera = eye(tree)
    wall = Occlusion.of(np.zeros((96, 96), np.float32), camera)
    metric = CloudError(occlusion=wall)
    assert not metric.evaluate(tree.hierarchy, camera)[1:].any()  # the root's sphere may reach the eye
    allocation = PointAllocator(tree, metric).allocate(camera, 50)
    assert allocation.status == "heuristic"
    seen = CloudError(occlusion=Occlusion.of(np.ones((96, 96), np.float32), camera)).evaluate(tree.hierarchy, camera)
    assert np.allclose(seen, CloudError().evaluate(tree.hierarchy, camera), rtol=1e-4)


def test_more_points_come_nearer_to_full_detail(tree: CloudTree):
    camera, allocator = eye(tree), PointAllocator(tree)
    full = render(tree.take(tree.leaves), camera)[0]
    pictures = [render(allocator.realize(allocator.allocate(camera, k)), camera)[0] for k in (10, 150, 600)]
    errors = [float(np.mean((picture - full) ** 2)) for picture in pictures]
    assert errors[0] > errors[1] > errors[2] == 0


def test_one_pool_holds_a_mesh_and_points_in_bytes(tree: CloudTree):
    clusters = meshes.build(bumpy(3)).with_cost("bytes")
    members = [meshes.MeshAllocator(clusters), PointAllocator(tree.with_cost("bytes"), CloudDisplacement())]
    pool = hra.pool(*members)
    budget = clusters.hierarchy.base_cost + 5000
    shared = pool.allocate([hra.Camera.orbit(clusters.bounds), eye(tree)], budget)
    assert shared.whole.cost == sum(member.cost for member in shared.members) <= budget
    assert len(members[1].realize(shared.members[1])) > 1


def test_one_pool_holds_a_mesh_its_texture_and_splats_in_bytes(splats: SplatCloud):
    texels = np.random.default_rng(0).integers(0, 256, (512, 512, 3), np.uint8)
    clusters, ground, tree = meshes.build(bumpy(3)), textures.PlaneScene.ground(texels, width=2.0), build(splats)
    members = [
        meshes.MeshAllocator(clusters.with_cost("bytes")),
        textures.TextureAllocator(ground.textures, textures.AnalyticFeedback(ground)),
        PointAllocator(tree.with_cost("bytes"), CloudDisplacement()),
    ]
    least = sum(member.hierarchy.base_cost for member in members)
    cameras = [hra.Camera.orbit(bounds, elevation=20) for bounds in (clusters.bounds, clusters.bounds, tree.bounds)]
    for more in (20_000, 200_000):
        shared = hra.pool(*members).allocate(cameras, least + more)
        assert shared.whole.cost == sum(member.cost for member in shared.members) <= least + more
    for part, member in zip(shared.members, members, strict=True):
        assert part.cost > member.hierarchy.base_cost
    assert len(members[2].realize(shared.members[2])) * SplatCloud.row_bytes == shared.members[2].cost


def test_what_is_of_another_tree_is_refused(tree: CloudTree):
    other = build(PointCloud([[0, 0, 0], [1, 0, 0]]))
    allocation = PointAllocator(other).allocate(hra.Camera.orbit(other.bounds), 2)
    with pytest.raises(HierarchyError, match="another hierarchy"):
        PointAllocator(tree).realize(allocation)
    with pytest.raises(HraError, match="not a tree of points"):
        PointAllocator(tree.hierarchy)  # pyright: ignore[reportArgumentType]
    with pytest.raises(MetricError, match="contrast"):
        CloudError(-1)

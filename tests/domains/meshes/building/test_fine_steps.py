"""Near the root: small local refinements of the whole mesh, and what they promise to small budgets."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import hra
from hra.domains import meshes
from hra.domains.meshes.distances.surface import boundary_chain
from hra.model.sets import drop_without_predecessors
from hra_lab.inputs.mesh_sources import bumpy as displaced

# What is drawn of any budget from 300 triangles on; and how far from the best the error is at most.
SPENT, GAP = 0.98, 0.1


def small_mesh(subdivisions: int, triangles: int) -> meshes.TriangleMesh:
    """An everyday asset: a displaced sphere whose triangles differ in size."""
    source = displaced(subdivisions)
    return meshes.build_discrete(source, (1.0, triangles / len(source.triangles))).levels[-1]


@pytest.fixture(scope="module")
def built() -> meshes.ClusterMesh:
    return meshes.build(small_mesh(5, 3000))


@pytest.mark.parametrize("triangles", [1000, 1700, 3000, 6000])
def test_every_budget_is_spent(triangles: int, rng: np.random.Generator) -> None:
    source = small_mesh(5, triangles)
    clusters = meshes.build(source, certified=False)
    allocator = meshes.MeshAllocator(clusters)
    for budget in rng.integers(300, int(0.9 * clusters.triangle_count), 12).tolist():
        camera = hra.Camera.orbit(clusters.bounds, azimuth=rng.uniform(0, 360), elevation=rng.uniform(-30, 30))
        allocation = allocator.allocate(camera, budget)
        assert SPENT * budget <= allocation.cost <= budget
        assert allocation.residual_gap <= GAP


@pytest.mark.parametrize("triangles", [100, 1000, 6000])
def test_roots_of_closed_meshes_are_as_small_as_boxes(triangles: int, rng: np.random.Generator) -> None:
    clusters = meshes.build(small_mesh(5, triangles))
    assert 4 <= clusters.root_triangle_count <= 16
    assert meshes.is_closed(clusters.mesh(np.flatnonzero(clusters.hierarchy.added_by < 0)))
    assert meshes.check(clusters, cuts=20, samples=200).sound


def test_a_refinement_is_a_small_part_of_the_mesh(built: meshes.ClusterMesh) -> None:
    cost = built.hierarchy.cost
    drawn = built.hierarchy.base_cost + np.cumsum(cost)
    assert (cost > 0).all()
    assert (cost <= np.maximum(drawn / 40, 12)).all()
    assert built.root_triangle_count <= 128


@settings(max_examples=30)
@given(st.integers(0, 2**32 - 1))
def test_random_cuts_have_no_cracks(built: meshes.ClusterMesh, seed: int) -> None:
    hierarchy, rng = built.hierarchy, np.random.default_rng(seed)
    selected = rng.random(len(hierarchy)) < rng.random()
    drop_without_predecessors(hierarchy.edges, selected)
    cut = np.flatnonzero(hierarchy.active_nodes(selected))
    assert meshes.is_closed(built.mesh(cut))


def test_all_promises_are_kept(built: meshes.ClusterMesh) -> None:
    assert meshes.check(built, cuts=60, samples=500).sound


def test_the_near_side_is_finer(built: meshes.ClusterMesh) -> None:
    """A close camera spends a small budget on what it sees, which one mesh for all sides cannot."""
    size = float(np.ptp(built.bounds, axis=0).max())
    camera = hra.Camera.orbit(built.bounds, azimuth=0, distance=0.75 * size)
    cut = built.mesh(meshes.MeshAllocator(built).allocate(camera, 800).cut)
    middle = cut.positions[cut.triangles].mean(axis=1)
    towards = (middle - built.bounds.mean(axis=0)) @ (np.linalg.inv(camera.view)[:3, 3] - built.bounds.mean(axis=0))
    assert (towards > 0).mean() > 0.55


def test_levels_are_halves_and_none_is_left_out(built: meshes.ClusterMesh) -> None:
    level = built.hierarchy.attribute("level")
    assert np.array_equal(np.unique(level), np.arange(level.max() + 1))
    assert level.max() <= np.log2(built.triangle_count / built.root_triangle_count) + 2


def test_errors_go_on_as_those_of_the_levels_before() -> None:
    """Errors fall about as one over the triangles, without a jump where small steps begin."""
    clusters = meshes.build(displaced(5), certified=False)
    hierarchy, allocator = clusters.hierarchy, meshes.MeshAllocator(clusters, meshes.SurfaceError())
    products = []
    for triangles in (500, 1000, 2000, 4000, 11_000):
        cut = allocator.allocate(None, triangles).cut
        area, error = hierarchy.attribute("area")[cut], hierarchy.attribute("error")[cut].astype(np.float64)
        mean = np.sqrt((area * error**2).sum() / area.sum())
        products.append(mean * clusters.triangles_per_cluster[cut].sum())
    assert max(products) < 3 * min(products)


def test_removed_islands_are_put_to_what_is_near() -> None:
    """Hundreds of tetrahedra, of which most have to go: every refinement still replaces something by something."""
    rng = np.random.default_rng(0)
    corner = rng.uniform(-1, 1, (600, 1, 3)) + 0.01 * np.concatenate([np.zeros((1, 3)), np.eye(3)])
    sides = np.array([[0, 2, 1], [0, 1, 3], [0, 3, 2], [1, 2, 3]])
    faces = (4 * np.arange(600)[:, None, None] + sides).reshape(-1, 3)
    clusters = meshes.build(meshes.from_arrays(corner.reshape(-1, 3), faces))
    hierarchy = clusters.hierarchy
    (added_at, _), (removed_at, _) = hierarchy.added_nodes, hierarchy.removed_nodes
    assert (np.diff(added_at) > 0).all()
    assert (np.diff(removed_at) > 0).all()
    assert (hierarchy.cost > 0).all()
    assert clusters.root_triangle_count <= 128
    assert meshes.check(clusters, cuts=20, samples=100).sound


@pytest.mark.case(12)
def test_an_open_mesh_keeps_its_border(make_grid: Callable, down_closed: Callable, rng: np.random.Generator) -> None:
    flat = make_grid(30)
    points = flat.positions + np.float32(0.05) * np.sin(9 * flat.positions[:, [1, 2, 0]])
    clusters = meshes.build(meshes.from_arrays(points, flat.triangles))
    border = set(boundary_chain(clusters.triangles(np.flatnonzero(clusters.hierarchy.removed_by < 0)))[0].flat)
    for _ in range(20):
        cut = np.flatnonzero(clusters.hierarchy.active_nodes(down_closed(clusters.hierarchy, rng)))
        assert set(boundary_chain(clusters.triangles(cut))[0].flat) <= border


def test_equal_input_gives_equal_output(built: meshes.ClusterMesh) -> None:
    again = meshes.build(small_mesh(5, 3000), threads=3)
    assert np.array_equal(again.indices, built.indices)
    assert np.array_equal(again.hierarchy.attribute("hausdorff"), built.hierarchy.attribute("hausdorff"))

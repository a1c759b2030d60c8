"""What a built hierarchy promises: partition, limits, nested bounds, monotone errors, kept borders."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from hra.domains import meshes
from hra.domains.meshes.distances.surface import boundary_chain, surface_area
from hra.errors import HraError, MeshError


def groups_of(clusters: meshes.ClusterMesh) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """(coarse clusters that it removes, fine clusters that it adds) of every refinement."""
    (added_at, added), (removed_at, removed) = clusters.hierarchy.added_nodes, clusters.hierarchy.removed_nodes
    for r in range(len(clusters.hierarchy)):
        yield removed[removed_at[r] : removed_at[r + 1]], added[added_at[r] : added_at[r + 1]]


def sorted_corners(mesh_positions: np.ndarray, triangles: np.ndarray) -> np.ndarray:
    """Triangles as nine coordinates, rotated to begin with the smallest vertex, sorted."""
    order = np.lexsort(mesh_positions.T[::-1])
    rank = np.argsort(order)
    corners = rank[triangles]
    first = np.argmin(corners, axis=1)[:, None]
    corners = np.take_along_axis(corners, (first + np.arange(3)) % 3, axis=1)
    return mesh_positions[order][corners[np.lexsort(corners.T[::-1])]].reshape(-1, 9)


@pytest.fixture(params=["default", "large clusters", "small groups"])
def built(request: pytest.FixtureRequest, bumpy: meshes.TriangleMesh) -> meshes.ClusterMesh:
    sizes = {
        "default": {},
        "large clusters": {"cluster_size": 128},
        "small groups": {"cluster_size": 32, "group_size": 4},
    }
    return meshes.build(bumpy, **sizes[request.param])


def test_source_clusters_are_the_source(built: meshes.ClusterMesh, bumpy: meshes.TriangleMesh) -> None:
    fine = np.flatnonzero(built.hierarchy.attribute("level") == 0)
    assert np.array_equal(built.hierarchy.removed_by[fine], np.full(len(fine), -1))
    ours = sorted_corners(built.positions, built.triangles(fine))
    assert np.array_equal(ours, sorted_corners(bumpy.positions, bumpy.triangles))
    assert not built.hierarchy.attribute("error")[fine].any()


def test_clusters_keep_their_limits_and_count_their_vertices(built: meshes.ClusterMesh) -> None:
    assert built.triangles_per_cluster.max() <= 128
    assert built.triangles_per_cluster.min() >= 1
    counts = [len(np.unique(built.triangles(np.array([c])))) for c in range(len(built.triangles_per_cluster))]
    assert np.array_equal(built.hierarchy.attribute("vertex_count"), counts)
    assert max(counts) <= 128


def test_errors_spheres_and_areas_grow_from_fine_to_coarse(built: meshes.ClusterMesh) -> None:
    node = built.hierarchy.node
    for coarse, fine in groups_of(built):
        assert len(coarse)
        assert len(np.unique(node["error"][coarse])) == len(np.unique(node["center"][coarse], axis=0)) == 1
        assert node["error"][coarse[0]] >= node["error"][fine].max()
        assert node["area"][coarse].sum() == pytest.approx(node["area"][fine].sum())
        # A level has many small steps.
        assert node["level"][coarse[0]] >= max(node["level"][fine].max(), 1)
        for f in fine:
            assert _inside(node["center"][f], node["radius"][f], node["center"][coarse[0]], node["radius"][coarse[0]])


def test_leaf_spheres_hold_their_vertices(built: meshes.ClusterMesh) -> None:
    node = built.hierarchy.node
    for c in np.flatnonzero(node["level"] == 0):
        points = built.positions[built.triangles(np.array([c])).reshape(-1)].astype(np.float64)
        assert np.linalg.norm(points - node["center"][c], axis=1).max() <= node["radius"][c]


def test_simplification_keeps_the_border_chain_of_each_group(built: meshes.ClusterMesh) -> None:
    for coarse, fine in groups_of(built):
        (edges, counts), (fine_edges, fine_counts) = (boundary_chain(built.triangles(c)) for c in (coarse, fine))
        assert np.array_equal(edges, fine_edges)
        assert np.array_equal(counts, fine_counts)


def test_each_refinement_costs_what_it_adds(built: meshes.ClusterMesh) -> None:
    for number, (coarse, fine) in enumerate(groups_of(built)):
        step = built.triangles_per_cluster[fine].sum() - built.triangles_per_cluster[coarse].sum()
        assert built.hierarchy.cost[number] == step > 0


def test_the_root_is_small(bumpy_clusters: meshes.ClusterMesh) -> None:
    assert bumpy_clusters.root_triangle_count == bumpy_clusters.hierarchy.base_cost <= 128
    assert bumpy_clusters.triangle_count == bumpy_clusters.hierarchy.total_cost == 5120


def test_building_is_deterministic(bumpy: meshes.TriangleMesh, bumpy_clusters: meshes.ClusterMesh) -> None:
    again = meshes.build(bumpy)
    assert np.array_equal(again.indices, bumpy_clusters.indices)
    for name, values in bumpy_clusters.hierarchy.node.items():
        assert np.array_equal(again.hierarchy.attribute(name), values)


@pytest.mark.case(15)
@pytest.mark.parametrize("scale", [2.0**-60, 2.0**-30, 2.0**40])
def test_errors_are_in_object_units_at_any_scale(
    bumpy: meshes.TriangleMesh, bumpy_clusters: meshes.ClusterMesh, scale: float
) -> None:
    scaled = meshes.build(meshes.from_arrays(bumpy.positions * np.float32(scale), bumpy.triangles))
    assert np.array_equal(scaled.indices, bumpy_clusters.indices)
    assert np.allclose(scaled.hierarchy.attribute("error") / scale, bumpy_clusters.hierarchy.attribute("error"))


@pytest.mark.case(3)
def test_one_triangle_is_its_own_root() -> None:
    one = meshes.build(meshes.from_arrays(np.eye(3), [[0, 1, 2]]))
    assert len(one.hierarchy) == 0
    assert one.hierarchy.base_cost == one.hierarchy.total_cost == 1
    assert one.mesh(np.array([0])).triangles.shape == (1, 3)


def test_a_flat_sheet_has_no_error_and_every_cut_covers_it(make_grid: Callable, down_closed: Callable, rng) -> None:
    sheet = meshes.build(make_grid(40))
    assert sheet.hierarchy.attribute("error").max() < 1e-5
    assert sheet.root_triangle_count <= 128
    for _ in range(20):
        cut = np.flatnonzero(sheet.hierarchy.active_nodes(down_closed(sheet.hierarchy, rng)))
        area = surface_area(
            sheet.positions, sheet.triangles(cut).reshape(-1), np.array([0, 3 * len(sheet.triangles(cut))])
        )
        assert area[0] == pytest.approx(1, rel=1e-5)


def test_unwelded_triangles_reach_the_same_root(bumpy: meshes.TriangleMesh, bumpy_clusters: meshes.ClusterMesh) -> None:
    soup = bumpy.positions[bumpy.triangles].reshape(-1, 3)
    unwelded = meshes.TriangleMesh(soup, np.arange(len(soup), dtype=np.uint32).reshape(-1, 3))
    built = meshes.build(unwelded)
    assert len(built.positions) == len(bumpy.positions)
    assert built.root_triangle_count <= 128


def test_loose_quads_end_without_losing_one(rng: np.random.Generator) -> None:
    corner = rng.uniform(-1, 1, (2000, 1, 3)) + rng.normal(size=(2000, 4, 3)) * 0.01
    first = 4 * np.arange(2000)[:, None]
    faces = np.concatenate([first + np.array([0, 1, 2]), first + np.array([0, 2, 3])])
    built = meshes.build(meshes.from_arrays(corner.reshape(-1, 3), faces))
    assert built.hierarchy.total_cost == 4000
    assert 0 < built.root_triangle_count <= 4000


def test_mesh_of_equal_points_is_refused() -> None:
    points = np.ones((3, 3), np.float32)
    with pytest.raises(MeshError, match="two equal corners"):
        meshes.build(meshes.TriangleMesh(points, np.array([[0, 1, 2]], np.uint32)))


@pytest.mark.parametrize("sizes", [{"cluster_size": 130}, {"cluster_size": 63}, {"group_size": 2}, {"group_size": 8.0}])
def test_sizes_out_of_range_are_refused(bumpy: meshes.TriangleMesh, sizes: dict) -> None:
    with pytest.raises(HraError, match="must be an integer"):
        meshes.build(bumpy, **sizes)


def _inside(center: np.ndarray, radius: Any, outer: np.ndarray, outer_radius: Any) -> bool:
    room = Fraction(float(outer_radius)) - Fraction(float(radius))
    square = sum((Fraction(float(a)) - Fraction(float(b))) ** 2 for a, b in zip(center, outer, strict=True))
    return room >= 0 and square <= room**2


@pytest.mark.parametrize("given", [np.eye(3), (np.eye(3), np.array([[0, 1, 2]])), None])
def test_arrays_are_not_a_mesh(given: object) -> None:
    with pytest.raises(HraError, match="source must be a str or Path or TriangleMesh") as caught:
        meshes.build(given)  # pyright: ignore[reportArgumentType]
    assert "meshes.from_arrays" in str(caught.value)


def test_an_allocation_without_a_camera_says_what_to_pass(bumpy: meshes.TriangleMesh) -> None:
    with pytest.raises(HraError, match=r"hra\.Camera\.orbit") as caught:
        meshes.MeshAllocator(meshes.build(bumpy)).allocate(None, 500)
    assert "SurfaceError" in str(caught.value)

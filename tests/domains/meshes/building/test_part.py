"""Islands, foliage and non-manifold surfaces: builds that go on, with cuts that stay whole."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
import trimesh
from hypothesis import given
from hypothesis import strategies as st

from hra.domains import meshes
from hra.domains.meshes.building.borders import border_vertices
from hra.domains.meshes.building.geometry import Geometry
from hra.domains.meshes.building.part import cluster_vertices, simplify_stuck_group
from hra.domains.meshes.building.simplify import CoarseStep
from hra.domains.meshes.distances.surface import boundary_chain, directed_edges
from tests.helpers.lattices import lattice


def spheres(count: int) -> meshes.TriangleMesh:
    ball, rng = trimesh.creation.icosphere(subdivisions=1), np.random.default_rng(0)
    centers, radii = rng.uniform(0, 1, (count, 1, 3)), rng.uniform(0.005, 0.02, (count, 1, 1))
    points = (centers + radii * np.asarray(ball.vertices)).reshape(-1, 3)
    return meshes.from_arrays(points, _repeated(np.asarray(ball.faces), len(ball.vertices), count))


def leaves(count: int) -> meshes.TriangleMesh:
    """Cards of two triangles in a crown, none of which touches another."""
    rng = np.random.default_rng(1)
    along, across = rng.normal(size=(2, count, 1, 3)) * 0.01
    corners = np.concatenate([-along - across, along - across, along + across, across - along], axis=1)
    points = (rng.normal(size=(count, 1, 3)) * 0.3 + corners).reshape(-1, 3)
    return meshes.from_arrays(points, _repeated(np.array([[0, 1, 2], [0, 2, 3]]), 4, count))


def _repeated(faces: np.ndarray, vertices: int, count: int) -> np.ndarray:
    return (faces[None] + vertices * np.arange(count)[:, None, None]).reshape(-1, 3)


@pytest.mark.parametrize("make", [lambda: spheres(400), lambda: leaves(3000)], ids=["spheres", "leaves"])
def test_islands_reach_a_small_root(make: Callable[[], meshes.TriangleMesh]) -> None:
    built = meshes.build(make())
    assert built.report is not None
    assert built.report.merged_islands > 0 or built.triangle_count <= 8192
    assert built.root_triangle_count <= 128
    assert meshes.check(built, cuts=50, samples=500).sound


@pytest.mark.case(13)
def test_five_thousand_islands_reach_a_small_root() -> None:
    built = meshes.build(leaves(5000))
    assert built.triangle_count == 10_000
    assert built.root_triangle_count <= 128
    assert meshes.check(built, cuts=10, samples=100).sound


@pytest.mark.case(10)
def test_a_lattice_of_edges_with_four_faces_goes_on_without_cracks() -> None:
    built = meshes.build(meshes.from_arrays(*lattice(10)))
    assert built.report is not None
    assert built.report.levels > 3
    assert built.root_triangle_count < built.triangle_count / 10
    assert meshes.check(built, cuts=100).sound


def uneven_by_counting(triangles: np.ndarray) -> set[int]:
    net: dict[tuple[int, int], list[int]] = {}
    for a, b in directed_edges(triangles).tolist():
        net.setdefault((min(a, b), max(a, b)), []).append(1 if a < b else -1)
    return {v for edge, signs in net.items() if sum(signs) and len(signs) > 1 for v in edge}


@given(st.integers(0, 2**32 - 1), st.integers(1, 30))
def test_uneven_vertices_agree_with_counting(seed: int, count: int) -> None:
    rng = np.random.default_rng(seed)
    triangles = np.array([rng.choice(9, 3, replace=False) for _ in range(count)], np.uint32)
    ends, uneven = border_vertices(triangles, 9)
    assert set(np.flatnonzero(uneven).tolist()) == uneven_by_counting(triangles)
    assert set(np.flatnonzero(ends).tolist()) == set(boundary_chain(triangles)[0].ravel().tolist())


@given(st.integers(0, 2**32 - 1), st.integers(1, 40))
def test_vertex_clustering_keeps_chains_and_limits(seed: int, target: int) -> None:
    rng = np.random.default_rng(seed)
    points = rng.normal(size=(20, 3)).astype(np.float32)
    triangles = np.array([rng.choice(20, 3, replace=False) for _ in range(40)], np.uint32)
    coarse, error = cluster_vertices(triangles, points, target)
    a, b, c = coarse.T
    kept = coarse[(a != b) & (b != c) & (c != a)]
    assert len(kept) <= target
    moved = np.linalg.norm(points[coarse].astype(float) - points[triangles].astype(float), axis=2)
    assert error == pytest.approx(2 * moved.max())
    # One place for each vertex: a map of vertices, which keeps chains, and borders on border vertices.
    assert len(np.unique(np.stack([triangles.reshape(-1), coarse.reshape(-1)]), axis=1).T) == len(np.unique(triangles))
    border = np.unique(boundary_chain(triangles)[0])
    assert np.isin(boundary_chain(kept)[0], border).all()


def test_a_closed_surface_stays_closed_when_clustered(bumpy: meshes.TriangleMesh) -> None:
    coarse, _ = cluster_vertices(bumpy.triangles, bumpy.positions, 500)
    a, b, c = coarse.T
    kept = coarse[(a != b) & (b != c) & (c != a)]
    assert 0 < len(kept) <= 500
    assert not len(boundary_chain(kept)[0])


@given(st.integers(0, 2**32 - 1), st.integers(1, 40))
def test_pinned_vertices_stay_and_draw_no_others(seed: int, target: int) -> None:
    rng = np.random.default_rng(seed)
    points = rng.normal(size=(20, 3)).astype(np.float32)
    triangles = np.array([rng.choice(20, 3, replace=False) for _ in range(40)], np.uint32)
    pinned = rng.random(20) < rng.random()
    coarse, _ = cluster_vertices(triangles, points, target, pinned=pinned)
    assert np.array_equal(coarse[pinned[triangles]], triangles[pinned[triangles]])
    assert not pinned[coarse[~pinned[triangles]]].any()


@pytest.mark.parametrize("coarse", [False, True])
def test_a_stuck_group_with_neighbours_is_clustered_only_in_coarse_steps(coarse: bool) -> None:
    """Cubes that share all their edges, of which half are another group's."""
    points, corners = lattice(6)
    mesh = meshes.from_arrays(points, corners)
    geometry, half = Geometry.of(mesh.positions), mesh.positions[mesh.triangles].mean(axis=1)[:, 0] < 3
    ours, theirs = mesh.triangles[half], mesh.triangles[~half]
    shared = np.zeros(len(mesh.positions), np.uint8)
    shared[np.intersect1d(ours, theirs)] = 1
    assert shared.any()
    step = CoarseStep(64, coarse=coarse)
    result = simplify_stuck_group(ours.reshape(-1).copy(), geometry, shared, shared, step)
    if not coarse:
        assert result is None
        return
    assert result is not None
    assert 0 < result.indices.size <= 0.85 * ours.size
    # What the two groups have in common is as it was, so that nothing opens between them.
    for before, after in zip(_common(ours, shared), _common(result.indices.reshape(-1, 3), shared), strict=True):
        assert len(before)
        assert np.array_equal(before, after)


def _common(triangles: np.ndarray, shared: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The edges of the boundary chain between shared vertices, with their counts."""
    edges, counts = boundary_chain(triangles)
    inside = shared[edges].all(axis=1)
    return edges[inside], counts[inside]

"""Surfaces of several materials whose topology lets no edge collapse: clustering keeps every triangle's material."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hra.domains import meshes
from hra.domains.meshes.building.geometry import AttributeMetric
from hra.domains.meshes.building.part import cluster_vertices
from tests.helpers.lattices import lattice


def slabs(cells: int, materials: int) -> meshes.TriangleMesh:
    """A lattice in slabs of different materials."""
    points, corners = lattice(cells)
    slab = (points[corners].mean(axis=1)[:, 0] * materials / (cells + 1)).astype(np.int32)
    attributes = meshes.VertexAttributes(
        material=np.repeat(slab, 3), materials=tuple(meshes.Material(name=str(k)) for k in range(materials))
    )
    return meshes.from_arrays(
        points[corners.reshape(-1)], np.arange(corners.size).reshape(-1, 3), attributes, warn_duplicates=False
    )


@pytest.fixture(scope="module")
def built() -> meshes.ClusterMesh:
    return meshes.build(slabs(10, 3))


def material_of(clusters: meshes.ClusterMesh, triangles: np.ndarray) -> np.ndarray:
    assert clusters.attributes is not None
    assert clusters.attributes.material is not None
    return clusters.attributes.material[triangles]


def test_it_goes_on_to_a_small_root_without_cracks(built: meshes.ClusterMesh) -> None:
    assert built.root_triangle_count < built.triangle_count / 10
    assert meshes.check(built, cuts=100).sound


def test_every_triangle_has_one_material_and_no_material_is_lost_early(built: meshes.ClusterMesh) -> None:
    every = np.arange(len(built.offsets) - 1)
    material = material_of(built, built.triangles(every))
    assert (material == material[:, :1]).all()
    levels = built.hierarchy.attribute("level")
    for level in range(int(levels.max())):  # the root itself may be too coarse for all of them
        triangles = built.triangles(np.flatnonzero(levels == level))
        assert set(np.unique(material_of(built, triangles))) == {0, 1, 2}


@given(st.integers(0, 2**32 - 1), st.integers(1, 40), st.integers(1, 12))
def test_vertices_move_to_where_the_same_materials_meet(seed: int, target: int, count: int) -> None:
    rng = np.random.default_rng(seed)
    points = rng.normal(size=(20, 3)).astype(np.float32)
    triangles = np.array([rng.choice(20, 3, replace=False) for _ in range(40)], np.uint32)
    materials = rng.integers(0, count, 40)
    moved, _ = cluster_vertices(triangles, points, target, np.repeat(materials, 3).reshape(-1, 3))
    meet = {v: set(materials[(triangles == v).any(axis=1)].tolist()) for v in range(20)}
    for before, after in zip(triangles.reshape(-1).tolist(), moved.reshape(-1).tolist(), strict=True):
        assert meet[before] == meet[after]
    # A map of vertices: what touches goes on touching.
    assert len(np.unique(np.stack([triangles.reshape(-1), moved.reshape(-1)]), axis=1).T) == len(np.unique(triangles))


def test_corners_get_a_wedge_of_their_own_material(rng: np.random.Generator) -> None:
    points = np.array([[0, 0, 0], [1, 0, 0]], np.float32).repeat(2, axis=0)
    attributes = meshes.VertexAttributes(
        normals=np.array([[0, 0, 1], [1, 0, 0], [1, 0, 0], [0, 0, 1]], np.float32),
        material=np.array([0, 1, 0, 1], np.int32),
        materials=(meshes.Material(name="a"), meshes.Material(name="b")),
    )
    metric, position_of = AttributeMetric.of(points, attributes), np.array([0, 0, 2, 2], np.uint32)
    corners = rng.integers(0, 4, 30).astype(np.uint32)
    targets = position_of[rng.permutation(corners)]
    found = metric.nearest_wedges(
        np.r_[corners, np.arange(4, dtype=np.uint32)], np.r_[targets, 0, 0, 2, 2], position_of, attributes.material
    )
    assert np.array_equal(position_of[found[:30]], targets)
    assert attributes.material is not None
    assert np.array_equal(attributes.material[found[:30]], attributes.material[corners])

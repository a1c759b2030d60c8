"""Triangles found in a tree are the nearest ones of all."""

from __future__ import annotations

from typing import Literal

import numpy as np
import pytest
from numba import config

from hra.domains import meshes
from hra.domains.meshes.distances.box_tree import (
    box_tree,
    find_feet,
    nearest_in_tree,
    nearest_of_tree,
    search_memory,
)
from hra.domains.meshes.distances.triangle_distance import square_distance
from hra.errors import MeshError
from tests.helpers.surface_distance import true_distances

CORNERS = np.array([[0, 0, 0], [1, 0, 0], [0, 1, 0]], np.float32)
FACE = np.array([[0, 1, 2]], np.uint32)
POINTS = np.array([[0.2, 0.2, 0.5], [2.0, 0.0, 0.0]])


def test_the_nearest_triangle_of_a_kind_is_found_with_the_point_on_it() -> None:
    rng = np.random.default_rng(0)
    corners = (rng.normal(size=(60, 1, 3)) + 0.3 * rng.normal(size=(60, 3, 3))).reshape(-1, 3).astype(np.float32)
    indices, points = np.arange(180, dtype=np.uint32), rng.normal(size=(300, 3))
    tree = box_tree(corners, indices, np.zeros(3))
    triangles = indices.reshape(-1, 3)
    _, distance = nearest_of_tree(points, *tree)
    expected = true_distances(points, meshes.TriangleMesh(corners, triangles))
    assert np.allclose(distance, expected)
    kind, asked = np.arange(60) % 3, rng.integers(0, 4, 300)  # none is of the last kind
    face, shares = np.full(300, -1), np.zeros((300, 3))
    normals = np.zeros((300, 3)), np.zeros((60, 3))
    find_feet(points, normals[0], asked, tree, (normals[1], kind), -2.0, face, shares)
    assert ((face < 0) == (asked == 3)).all()
    for k in range(3):
        own = asked == k
        assert (kind[face[own]] == k).all()
        on = np.einsum("sc,sca->sa", shares[own], corners.reshape(-1, 3, 3)[face[own]])
        expected = true_distances(points[own], meshes.TriangleMesh(corners, triangles[kind == k]))
        assert np.allclose(np.linalg.norm(on - points[own], axis=1), expected)
    assert np.allclose(shares[asked < 3].sum(axis=1), 1) and (shares > -1e-12).all()


def test_triangles_that_face_a_point_come_first() -> None:
    square = np.array([[0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1], [1, 0, 1], [0, 1, 1]], float)
    tree = box_tree(square, np.array([0, 1, 2, 3, 5, 4], np.uint32), np.zeros(3))
    up = np.array([[0, 0, 1.0], [0, 0, -1.0]])
    face, shares, kinds = np.full(3, -1), np.zeros((3, 3)), np.zeros(3, np.int64)
    points, normals = np.full((3, 3), 0.2), np.array([[0, 0, 1.0], [0, 0, -1.0], [1.0, 0, 0]])
    find_feet(points, normals, kinds, tree, (up, np.zeros(2, np.int64)), 0.2, face, shares)
    assert face.tolist() == [0, 1, 0]  # the last is faced by none, and takes the nearest


def test_the_number_of_threads_changes_no_foot(monkeypatch) -> None:
    rng = np.random.default_rng(5)
    corners = (rng.normal(size=(200, 1, 3)) + 0.3 * rng.normal(size=(200, 3, 3))).reshape(-1, 3)
    tree, kind = box_tree(corners, np.arange(600, dtype=np.uint32), np.zeros(3)), np.arange(200) % 3
    # Every point twice, so that many have a nearest triangle at equal distance, and more than one range of them.
    points, normals = np.tile(rng.normal(size=(20_000, 3)).round(1), (2, 1)), np.zeros((40_000, 3))
    found = []
    for threads in (1, 3):
        monkeypatch.setattr(config, "NUMBA_NUM_THREADS", threads)
        face, shares = np.full(40_000, -1), np.empty((40_000, 3))
        find_feet(points, normals, np.arange(40_000) % 3, tree, (np.zeros((200, 3)), kind), -2.0, face, shares)
        found.append((face, shares, *nearest_of_tree(points, *tree)))
    assert all(np.array_equal(one, other) for one, other in zip(*found, strict=True))
    assert (kind[found[0][0]] == np.arange(40_000) % 3).all()


@pytest.mark.parametrize("facing", [0.2, 0.95, 0.9999])
@pytest.mark.parametrize("count", [40, 120, 700])
def test_the_nearest_that_faces_a_point_is_found_whatever_the_guess(count: int, facing: float) -> None:
    rng = np.random.default_rng(count)
    corners = rng.normal(size=(count, 1, 3)) + 0.3 * rng.normal(size=(count, 3, 3))
    normals, own = (rng.normal(size=(size, 3)) for size in (count, 150))
    normals, own = (one / np.linalg.norm(one, axis=1, keepdims=True) for one in (normals, own))
    kind, asked, points = rng.integers(0, 2, count), rng.integers(0, 2, 150), rng.normal(size=(150, 3))
    tree = box_tree(corners.reshape(-1, 3), np.arange(3 * count), np.zeros(3))
    face, shares = rng.integers(-1, count, 150), np.zeros((150, 3))
    find_feet(points, own, asked, tree, (normals, kind), facing, face, shares)
    for i, found in enumerate(face.tolist()):
        alike = kind == asked[i]
        allowed = alike & (normals @ own[i] >= facing)
        those = np.flatnonzero(allowed if allowed.any() else alike)
        least = min(square_distance(*points[i], tree[0], k) for k in those)
        assert found in those and square_distance(*points[i], tree[0], found) == least


@pytest.mark.parametrize("count", [1, 2, 8, 9, 63, 64, 65, 600])
@pytest.mark.parametrize("kind", ["scattered", "flat", "thin", "far from the origin"])
def test_no_triangle_is_nearer_than_the_one_that_is_found(kind: str, count: int) -> None:
    rng = np.random.default_rng(count)
    corners = rng.normal(size=(count, 1, 3)) + 0.2 * rng.normal(size=(count, 3, 3))
    points = rng.normal(size=(200, 3))
    if kind == "flat":  # boxes without a height, and points on them
        corners[..., 2], points[:100, 2] = 1.0, 1.0
    elif kind == "thin":
        corners[:, 2] = corners[:, 1] + 1e-9 * rng.normal(size=(count, 3))
    elif kind == "far from the origin":
        corners, points = corners + 1e6, points + 1e6
    points = np.concatenate([points, corners[:, 1], corners.mean(axis=1)])
    tree = box_tree(corners.reshape(-1, 3), np.arange(3 * count), np.zeros(3))
    triangles, (near, distance) = tree[0], nearest_of_tree(points, *tree)
    least = [min(square_distance(*point, triangles, k) for k in range(count)) for point in points]
    assert np.array_equal(distance, np.sqrt(least))
    own = [square_distance(*point, triangles, k) for point, k in zip(points, near, strict=True)]
    assert np.array_equal(own, least)


def test_a_search_says_how_many_triangles_it_measured() -> None:
    # Triangles around the origin, in whose boxes it mostly lies: no box is too far away.
    rng = np.random.default_rng(3)
    corners = rng.normal(size=(200, 3, 3)).astype(np.float32)
    corners[:, 2] = -corners[:, 0] - corners[:, 1] + 0.01 * corners[:, 2]
    tree = box_tree(corners.reshape(-1, 3), np.arange(600, dtype=np.uint32), np.zeros(3))
    waiting = search_memory(tree[2])
    near, square, measured = nearest_in_tree(0.0, 0.0, 0.0, *tree, np.int64(0), waiting, -1.0)
    assert 20 < measured <= 201
    assert nearest_in_tree(0.0, 0.0, 0.0, *tree, near, waiting, square) == (near, square, 1)
    far = nearest_in_tree(100.0, 0.0, 0.0, *tree, np.int64(0), waiting, -1.0)
    assert far[2] < measured


def test_distances_from_a_mesh_in_any_order_are_true(make_grid) -> None:
    rng = np.random.default_rng(0)
    mesh, points = make_grid(160, 0.3), rng.uniform(-0.2, 1.2, (300, 3))
    found = meshes.nearest_distances(points, mesh.positions, rng.permutation(mesh.triangles))
    assert found == pytest.approx(true_distances(points, mesh), rel=1e-9, abs=1e-12)


@pytest.mark.parametrize(
    ("points", "positions", "triangles", "message"),
    [
        (POINTS, CORNERS, FACE[:0], "no triangles"),
        (POINTS, CORNERS, np.array([[0, 1, 9]], np.uint32), "but there are 3"),
        (POINTS, CORNERS[:0], FACE, "but there are 0"),
        (POINTS, CORNERS * np.nan, FACE, "not finite"),
        (POINTS[:, :2], CORNERS, FACE, r"\[V, 3\]"),
        (np.full((1, 3), np.inf), CORNERS, FACE, "not finite"),
    ],
)
def test_what_cannot_be_measured_is_refused(points, positions, triangles, message):
    with pytest.raises(MeshError, match=message):
        meshes.nearest_distances(points, positions, triangles)


@pytest.mark.parametrize("order", ["<", ">"])
def test_bytes_may_be_in_either_order(order: Literal["<", ">"]):
    points, positions, triangles = (array.astype(array.dtype.newbyteorder(order)) for array in (POINTS, CORNERS, FACE))
    assert meshes.nearest_distances(points, positions, triangles).tolist() == [0.5, 1.0]


def test_no_points_have_no_distances():
    assert meshes.nearest_distances(POINTS[:0], CORNERS, FACE).shape == (0,)

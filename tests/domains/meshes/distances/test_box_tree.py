"""Triangles found in a tree are the nearest ones of all."""

from __future__ import annotations

import numpy as np

from hra.domains import meshes
from hra.domains.meshes.distances.box_tree import box_tree, find_feet, nearest_of_tree


def test_the_nearest_triangle_of_a_kind_is_found_with_the_point_on_it() -> None:
    rng = np.random.default_rng(0)
    corners = (rng.normal(size=(60, 1, 3)) + 0.3 * rng.normal(size=(60, 3, 3))).reshape(-1, 3)
    indices, points = np.arange(180, dtype=np.uint32), rng.normal(size=(300, 3))
    tree = box_tree(corners, indices, np.zeros(3))
    triangles = indices.reshape(-1, 3)
    _, distance = nearest_of_tree(points, *tree)
    expected = meshes.nearest_distances(points, corners.astype(np.float64), triangles)
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
        expected = meshes.nearest_distances(points[own], corners, triangles[kind == k])
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

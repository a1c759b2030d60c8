"""Where clusters face: outward on closed surfaces, both ways on open ones."""

from __future__ import annotations

import numpy as np
import pytest

from hra.domains import meshes
from hra.domains.meshes.building.appearance import cluster_facing


def facing_of(mesh: meshes.TriangleMesh, size: int = 8) -> np.ndarray:
    """Of clusters of ``size`` triangles in their order."""
    offsets = np.append(np.arange(0, mesh.triangles.size, 3 * size), mesh.triangles.size)
    itself = np.arange(len(mesh.positions), dtype=np.uint32)
    return cluster_facing(mesh.positions, itself, mesh.triangles.reshape(-1), offsets)


def plain_means(mesh: meshes.TriangleMesh, size: int = 8) -> np.ndarray:
    means = []
    for begin in range(0, len(mesh.triangles), size):
        a, b, c = np.moveaxis(mesh.positions[mesh.triangles[begin : begin + size]].astype(np.float64), 1, 0)
        across = np.cross(b - a, c - a)
        means.append(across.sum(axis=0) / np.linalg.norm(across, axis=1).sum())
    return np.array(means)


@pytest.mark.parametrize("turned", [False, True])
def test_closed_surfaces_face_outward_however_they_are_wound(make_closed, turned: bool) -> None:
    ball = make_closed(2)
    moved = meshes.from_arrays(ball.positions + 100, ball.triangles[:, ::-1] if turned else ball.triangles)
    facing = facing_of(moved)
    np.testing.assert_allclose(facing[:, :3], plain_means(moved) * (-1 if turned else 1), atol=1e-5)
    assert (facing[:, 3] == 0).all()
    centers = moved.positions[moved.triangles].mean(axis=1).reshape(-1, 8, 3).mean(axis=1) - 100
    assert (np.einsum("na,na->n", facing[:, :3], centers) > 0).all()


def test_open_surfaces_show_their_backs(make_grid) -> None:
    facing = facing_of(make_grid(4))
    np.testing.assert_allclose(np.abs(facing), np.tile([0, 0, 1, 1], (len(facing), 1)), atol=1e-6)


def test_nothing_faces_nowhere() -> None:
    points = np.zeros((3, 3), np.float32)
    nothing = cluster_facing(points, np.arange(3, dtype=np.uint32), np.empty(0, np.uint32), np.array([0, 0]))
    assert nothing.tolist() == [[0, 0, 0, 0]]

"""Normals for meshes that have none: smooth where the surface is, sharp at its edges."""

from __future__ import annotations

import numpy as np
import pytest
import trimesh

from hra.domains import meshes


def mesh_of(shape: trimesh.Trimesh) -> meshes.TriangleMesh:
    return meshes.from_arrays(shape.vertices, shape.faces)


def normals_of(mesh: meshes.TriangleMesh) -> np.ndarray:
    assert mesh.attributes is not None and mesh.attributes.normals is not None
    return mesh.attributes.normals


def test_a_sphere_is_smooth() -> None:
    ball = mesh_of(trimesh.creation.icosphere(subdivisions=3))
    smooth = ball.with_normals()
    assert len(smooth.positions) == len(ball.positions)
    assert (normals_of(smooth) * smooth.positions).sum(axis=1).min() > 0.99


def test_the_edges_of_a_box_are_sharp() -> None:
    box = mesh_of(trimesh.creation.box())
    sharp = box.with_normals()
    assert len(sharp.positions) == 24 and len(sharp.triangles) == 12
    assert np.allclose(np.sort(np.abs(normals_of(sharp)), axis=1), [0, 0, 1])
    # Every corner has the normal of its own face, and lies where it was.
    assert np.array_equal(sharp.positions[sharp.triangles], box.positions[box.triangles])
    corners = sharp.positions[sharp.triangles]
    faces = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    assert ((normals_of(sharp)[sharp.triangles] * faces[:, None]).sum(axis=2) > 0).all()


def test_seams_of_texture_coordinates_stay_smooth() -> None:
    ball = mesh_of(trimesh.creation.icosphere(subdivisions=2))
    uv = np.zeros((3 * len(ball.triangles), 2), np.float32)
    uv[:, 0] = np.repeat(np.arange(len(ball.triangles)), 3)
    # Every triangle has vertices of its own, so that every edge is a seam.
    apart = meshes.TriangleMesh(
        ball.positions[ball.triangles].reshape(-1, 3),
        np.arange(3 * len(ball.triangles), dtype=np.uint32).reshape(-1, 3),
        meshes.VertexAttributes(uv=uv),
    )
    smooth = apart.with_normals()
    assert (normals_of(smooth) * smooth.positions).sum(axis=1).min() > 0.99
    assert smooth.attributes is not None and smooth.attributes.uv is not None
    assert len(smooth.positions) == len(apart.positions)


def test_what_has_normals_keeps_them_and_slivers_get_some() -> None:
    ball = mesh_of(trimesh.creation.icosphere(subdivisions=2)).with_normals()
    assert ball.with_normals() is ball
    points = np.array([[0, 0, 0], [1, 0, 0], [2, 0, 0], [0, 1, 0]], np.float32)
    flat = meshes.TriangleMesh(points, np.array([[0, 1, 2], [0, 2, 3]], np.uint32)).with_normals()
    assert np.allclose(normals_of(flat), [0, 0, 1])


@pytest.mark.parametrize("thick", [100.0, 2.0, 0.1])
def test_the_thin_sides_of_a_plate_have_normals_of_their_own(thick: float) -> None:
    plate = mesh_of(trimesh.creation.box((100, 100, thick)))
    smooth = plate.with_normals()
    corners = smooth.positions[smooth.triangles].astype(float)
    faces = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    faces /= np.linalg.norm(faces, axis=1, keepdims=True)
    assert (normals_of(smooth)[smooth.triangles] * faces[:, None]).sum(axis=2).min() > 0.999

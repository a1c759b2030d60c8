"""Arrays that cannot be a mesh are refused, what can be repaired is repaired with a warning that counts."""

from __future__ import annotations

import warnings

import numpy as np
import pytest

from hra.domains import meshes
from hra.domains.meshes.mesh.attributes import VertexAttributes
from hra.errors import ArrayError, MeshError, RepairWarning

POINTS = np.array([[0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1]], np.float64)
FACES = np.array([[0, 2, 1], [0, 1, 3], [1, 2, 3], [0, 3, 2]])


@pytest.mark.case(4)
@pytest.mark.parametrize("value", [np.nan, np.inf, 1e39], ids=str)
def test_a_vertex_that_is_not_finite_is_named(value: float) -> None:
    points = POINTS.copy()
    points[2, 1] = value
    with pytest.raises(MeshError) as error:
        meshes.from_arrays(points, FACES, where="box.ply")
    assert "vertex 2" in error.value.what
    assert error.value.where.startswith("box.ply")
    assert error.value.fix


@pytest.mark.case(5)
@pytest.mark.parametrize("index", [4, 4_000_000_000, -1])
def test_an_index_out_of_range_is_named(index: int) -> None:
    faces = FACES.copy()
    faces[3, 2] = index
    with pytest.raises(MeshError, match="triangle 3"):
        meshes.from_arrays(POINTS, faces)


@pytest.mark.case(1)
@pytest.mark.parametrize(
    ("points", "faces"),
    [
        (np.empty((0, 3)), np.empty((0, 3), int)),
        (POINTS, np.empty((0, 3), int)),
        (POINTS[:, :2], FACES),
        (POINTS, FACES[:, :2]),
        (POINTS, FACES.astype(float)),
        (POINTS.astype(complex), FACES),
        (POINTS, FACES.reshape(-1)),
    ],
    ids=["empty", "points only", "2D", "edges", "float indices", "complex", "flat"],
)
def test_what_is_no_mesh_is_refused(points: np.ndarray, faces: np.ndarray) -> None:
    with pytest.raises(MeshError):
        meshes.from_arrays(points, faces)


@pytest.mark.case(36)
def test_objects_are_refused() -> None:
    with pytest.raises(ArrayError):
        meshes.from_arrays([[0, 0, None]], [[0, 0, 0]])
    with pytest.raises(MeshError):
        meshes.from_arrays([["0", "0", "x"]], [[0, 0, 0]])


def test_triangle_mesh_takes_only_checked_arrays() -> None:
    with pytest.raises(MeshError, match="float32"):
        meshes.TriangleMesh(POINTS, FACES.astype(np.uint32))
    with pytest.raises(MeshError, match="not finite"):
        meshes.TriangleMesh(np.full((3, 3), np.nan, np.float32), np.array([[0, 1, 2]], np.uint32))


def repaired(points: np.ndarray, faces: np.ndarray) -> tuple[meshes.TriangleMesh, list[str]]:
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        mesh = meshes.from_arrays(points, faces)
    assert all(w.category is RepairWarning for w in caught)
    return mesh, [str(w.message) for w in caught]


def test_a_clean_mesh_stays_as_it_is() -> None:
    mesh, messages = repaired(POINTS, FACES)
    assert not messages
    assert np.array_equal(mesh.positions, POINTS)
    assert np.array_equal(mesh.triangles, FACES)
    assert meshes.is_closed(mesh)


def test_faces_with_two_equal_corners_are_dropped() -> None:
    mesh, messages = repaired(POINTS, np.concatenate([FACES, [[1, 1, 2], [3, 0, 3]]]))
    assert np.array_equal(mesh.triangles, FACES)
    assert ["2 faces with two equal corners" in m for m in messages] == [True]


@pytest.mark.case(7)
def test_faces_without_area_are_kept_and_reported() -> None:
    # Vertex 4 lies on the edge 0-1; without the flat face 0-4-1 the surface would be open there.
    points = np.concatenate([POINTS, [[0.5, 0, 0]]])
    faces = np.concatenate([FACES[1:], [[0, 2, 4], [4, 2, 1], [0, 4, 1]]])
    mesh, messages = repaired(points, faces)
    assert len(mesh.triangles) == 6
    assert meshes.is_closed(mesh)
    assert ["1 faces have no area" in m for m in messages] == [True]


@pytest.mark.case(8)
def test_duplicate_faces_are_dropped_in_any_rotation() -> None:
    mesh, messages = repaired(POINTS, np.concatenate([FACES[:2], [[2, 1, 0], [0, 2, 1]], FACES[2:]]))
    assert np.array_equal(mesh.triangles, FACES)
    assert any("2 duplicate faces" in m for m in messages)


@pytest.mark.case(9)
def test_duplicate_vertices_are_merged() -> None:
    mesh, messages = repaired(POINTS[FACES].reshape(-1, 3) * [1, 1, -1], np.arange(12).reshape(-1, 3))
    assert len(mesh.positions) == 4
    assert meshes.is_closed(mesh)
    assert ["8 vertices at the position" in m for m in messages] == [True]


@pytest.mark.case(16)
def test_vertices_without_a_face_are_dropped() -> None:
    mesh, messages = repaired(np.concatenate([[[9, 9, 9]], POINTS]), FACES + 1)
    assert np.array_equal(mesh.positions, POINTS)
    assert np.array_equal(mesh.triangles, FACES)
    assert ["1 vertices without a face" in m for m in messages] == [True]


@pytest.mark.case(14)
def test_a_flipped_face_is_reported() -> None:
    flipped = FACES.copy()
    flipped[0] = flipped[0, ::-1]
    mesh, messages = repaired(POINTS, flipped)
    assert not meshes.is_closed(mesh)
    assert ["3 edges join two faces of opposite winding" in m for m in messages] == [True]


def test_input_may_change_later_and_the_mesh_may_not() -> None:
    points = POINTS.astype(np.float32)
    mesh = meshes.from_arrays(points, FACES.astype(np.uint32))
    points[:] = 7
    assert np.array_equal(mesh.positions, POINTS)
    with pytest.raises(ValueError, match="read-only"):
        mesh.positions[0, 0] = 1


def test_attributes_of_another_number_are_refused() -> None:
    attributes = VertexAttributes(uv=np.zeros((3, 2), np.float32))
    with pytest.raises(MeshError, match="attributes of 3 vertices, but 4 positions"):
        meshes.from_arrays(POINTS, FACES, attributes)


@pytest.mark.parametrize("points", [POINTS.reshape(-1), np.zeros((4, 4)), POINTS.astype("U8")])
def test_repairing_refuses_what_are_no_positions(points: np.ndarray) -> None:
    for repair in (False, True):
        with pytest.raises(MeshError) as caught:
            meshes.from_arrays(points, FACES, repair=repair)
        assert f"[V, 3], got {points.dtype} {points.shape}" in caught.value.what


def test_repairing_takes_whole_numbers_as_positions() -> None:
    whole = np.rint(POINTS).astype(np.int64)
    assert np.array_equal(
        meshes.from_arrays(whole, FACES, repair=True).positions, meshes.from_arrays(whole, FACES).positions
    )

"""What parsers find becomes attributes of the right types, or is refused; copies elsewhere keep directions."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest

from hra.domains.meshes.files.gltf_nodes import moved
from hra.domains.meshes.files.parsed import Parsed, vertex_attributes
from hra.domains.meshes.mesh.attributes import VertexAttributes
from hra.errors import FileError, RepairWarning


def attributes(**arrays: Any) -> VertexAttributes:
    found = vertex_attributes(len(next(iter(arrays.values()))), "a.glb", **arrays)
    assert found is not None
    return found


def test_tangents_are_unit_vectors_and_a_sign() -> None:
    signs = np.array([-1, -0.25, 0, 0.5, 1, 7])
    found = attributes(tangents=np.c_[np.full((6, 2), 3.0), np.zeros(6), signs]).tangents
    assert found is not None and found.dtype == np.float32
    assert np.allclose(found[:, :3], [np.sqrt(0.5), np.sqrt(0.5), 0])
    assert found[:, 3].tolist() == [-1, -1, 1, 1, 1, 1]


def test_normals_that_are_nearly_unit_are_kept_bit_by_bit() -> None:
    normals = np.array([[0.6, 0.800001, 0], [0, 3, 4], [0, 0, 0]], np.float32)
    found = attributes(normals=normals).normals
    assert found is not None
    assert np.array_equal(found[0], normals[0]) and np.allclose(found[1], [0, 0.6, 0.8]) and not found[2].any()


@pytest.mark.parametrize(("name", "width"), [("uv", 2), ("uv2", 2), ("normals", 3), ("tangents", 4)])
@pytest.mark.parametrize("change", [(1, 0), (0, 1)])
def test_arrays_of_another_shape_are_refused(name: str, width: int, change: tuple[int, int]) -> None:
    shape = 4 + change[0], width + change[1]
    arrays: dict[str, Any] = {name: np.zeros(shape)}
    with pytest.raises(FileError, match=re.escape(f"have the shape {shape}, expected {(4, width)}")) as caught:
        vertex_attributes(4, "a.glb", **arrays)
    assert caught.value.where == "a.glb"


@pytest.mark.parametrize("shape", [(4, 2), (4, 5), (3, 4), (16,)])
def test_colours_of_another_shape_are_refused(shape: tuple[int, ...]) -> None:
    with pytest.raises(FileError, match="colours have the shape"):
        vertex_attributes(4, "a.glb", colors=np.zeros(shape))


@pytest.mark.parametrize(
    ("colors", "expected"),
    [
        (np.array([[1, 2, 3]], np.uint8), [1, 2, 3, 255]),
        (np.array([[1, 2, 3, 4]], np.uint8), [1, 2, 3, 4]),
        (np.array([[0, 65535, 257]], np.uint16), [0, 255, 1, 255]),
        (np.array([[-1.0, 0.5, 2.0, 0.0]]), [0, 128, 255, 0]),
    ],
)
def test_colours_become_bytes(colors: np.ndarray, expected: list[int]) -> None:
    found = attributes(colors=colors).colors
    assert found is not None and found.tolist() == [expected]


def test_rows_that_are_not_finite_are_counted_once_each() -> None:
    uv = np.array([[np.nan, np.inf], [0.5, 0.25], [1e39, 1]])
    with pytest.warns(RepairWarning, match="a.glb: texture coordinates of 2 vertices are not finite"):
        found = attributes(uv=uv).uv
    assert found is not None and found.tolist() == [[0, 0], [0.5, 0.25], [0, 1]]


def test_directions_without_a_length_stay_so_elsewhere() -> None:
    normals = np.array([[0, 0, 0], [1, 0, 0], [0, 1, 0]], np.float32)
    tangents = np.array([[0, 0, 0, 1], [0, 1, 0, -1], [0, 1, 0, -1]], np.float32)
    part = Parsed(np.eye(3), np.array([[0, 1, 2]]), attributes(normals=normals, tangents=tangents))
    mirror = np.diag([-2.0, 1, 4, 1])
    with np.errstate(all="raise"):
        copy = moved(part, mirror[None])
    found = copy.attributes
    assert found is not None and found.normals is not None and found.tangents is not None
    assert np.array_equal(found.normals, normals * [-1, 1, 1])
    assert np.array_equal(found.tangents, tangents * [1, 1, 1, -1])
    assert copy.triangles.tolist() == [[2, 1, 0]]

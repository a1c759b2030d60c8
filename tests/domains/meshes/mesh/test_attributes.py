"""Attributes and materials: what is checked, how parts are joined, and how equal vertices are found."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hra.domains import meshes
from hra.domains.meshes.mesh.attributes import concatenate
from hra.domains.meshes.mesh.weld import first_at_position, weld, weld_wedges
from hra.errors import MeshError

UV = np.array([[0, 0], [1, 0], [0, 1]], np.float32)
PNG = b"\x89PNG\r\n\x1a\n"


def test_names_bytes_and_rows_are_those_of_what_is_there() -> None:
    some = meshes.VertexAttributes(uv=UV, colors=np.zeros((3, 4), np.uint8))
    assert some.names == ("uv", "colors")
    assert len(some) == 3
    assert some.vertex_bytes == some.rows.shape[1] == 12
    taken: Any = some.take(np.array([2, 0]))
    assert np.array_equal(taken.uv, UV[[2, 0]])
    assert "uv, colors of 3 vertices" in repr(some)


@pytest.mark.parametrize(
    "arrays",
    [
        {},
        {"uv": UV.astype(np.float64)},
        {"uv": UV[:, :1]},
        {"uv": UV.tolist()},
        {"uv": UV, "normals": np.zeros((2, 3), np.float32)},
        {"uv": np.where(UV > 0, np.nan, UV).astype(np.float32)},
        {"normals": np.full((3, 3), np.inf, np.float32)},
        {"colors": np.zeros((3, 3), np.uint8)},
        {"material": np.zeros(3, np.int32)},
        {"uv": UV, "materials": (meshes.Material(),)},
        {"material": np.array([0, 1, 0], np.int32), "materials": (meshes.Material(),)},
        {"material": np.array([0, -1, 0], np.int32), "materials": (meshes.Material(),)},
    ],
    ids=str,
)
def test_bad_attributes_are_refused(arrays: dict[str, Any]) -> None:
    with pytest.raises(MeshError) as error:
        meshes.VertexAttributes(**arrays)
    assert error.value.where


def test_arrays_of_the_caller_stay_writable_and_are_not_shared() -> None:
    uv = np.zeros((3, 2), np.float32)
    attributes = meshes.VertexAttributes(uv=uv)
    uv[0] = 1.0
    assert attributes.uv is not None and not attributes.uv.any() and not attributes.uv.flags.writeable
    assert meshes.VertexAttributes(uv=attributes.uv).uv is attributes.uv  # what nobody writes to is not copied


def test_a_value_that_is_not_finite_is_named() -> None:
    uv = UV.copy()
    uv[1, 0] = np.nan
    with pytest.raises(MeshError, match="vertex 1 is not finite") as error:
        meshes.VertexAttributes(uv=uv)
    assert error.value.fix


@pytest.mark.parametrize(
    "fields",
    [
        {"base_color": (1.0, 1.0, 1.0)},
        {"base_color": (1.0, 1.0, 1.5, 1.0)},
        {"roughness": float("nan")},
        {"emissive": (0.0, -1.0, 0.0)},
        {"alpha_mode": "GLASS"},
        {"image": b"GIF89a"},
    ],
    ids=str,
)
def test_bad_materials_are_refused(fields: dict[str, Any]) -> None:
    with pytest.raises(MeshError) as error:
        meshes.Material("glass", **fields)
    assert "glass" in error.value.where


def test_materials_know_their_images() -> None:
    assert meshes.Material(image=PNG).image_type == "image/png"
    assert meshes.Material(image=b"\xff\xd8\xff\xe0").image_type == "image/jpeg"
    assert meshes.Material().image_type == ""
    assert "image/png of 8 bytes" in repr(meshes.Material("a", image=PNG))


def test_meshes_check_that_attributes_fit() -> None:
    points, faces = np.eye(3, dtype=np.float32), np.array([[0, 1, 2]], np.uint32)
    with pytest.raises(MeshError, match="attributes of 2 vertices, but 3 positions"):
        meshes.TriangleMesh(points, faces, meshes.VertexAttributes(uv=UV[:2].copy()))
    two = (meshes.Material("a"), meshes.Material("b"))
    mixed = meshes.VertexAttributes(material=np.array([0, 0, 1], np.int32), materials=two)
    with pytest.raises(MeshError, match="triangle 0 have materials"):
        meshes.from_arrays(points, faces, mixed)


def test_joined_parts_fill_in_what_they_lack_and_share_materials() -> None:
    red, plain = meshes.Material("red", base_color=(1.0, 0.0, 0.0, 1.0)), meshes.Material()
    first = meshes.VertexAttributes(uv=UV, material=np.zeros(3, np.int32), materials=(red,))
    second = meshes.VertexAttributes(
        colors=np.full((2, 4), 9, np.uint8), material=np.array([1, 0], np.int32), materials=(red, plain)
    )
    whole: Any = concatenate([first, None, second], [3, 1, 2])
    assert whole.materials == (red, plain)
    assert whole.material.tolist() == [0, 0, 0, 1, 1, 0]
    assert np.array_equal(whole.uv, np.concatenate([UV, np.zeros((3, 2))]))
    assert whole.colors[:, 0].tolist() == [255, 255, 255, 255, 9, 9]
    assert concatenate([None, None], [3, 1]) is None


@st.composite
def wedges(draw: st.DrawFn) -> tuple[np.ndarray, np.ndarray, meshes.VertexAttributes]:
    """Vertices that often coincide in position, in attributes, or in both; zeros have both signs."""
    count = draw(st.integers(3, 12))
    few = st.sampled_from([-0.0, 0.0, 1.0])
    positions = draw(st.lists(st.tuples(few, few, few), min_size=count, max_size=count))
    uv = draw(st.lists(st.tuples(few, few), min_size=count, max_size=count))
    material = draw(st.lists(st.integers(0, 1), min_size=count, max_size=count))
    attributes = meshes.VertexAttributes(
        uv=np.array(uv, np.float32),
        material=np.array(material, np.int32),
        materials=(meshes.Material("a"), meshes.Material("b")),
    )
    faces = draw(st.lists(st.tuples(*[st.integers(0, count - 1)] * 3), min_size=1, max_size=8))
    return np.array(positions, np.float32), np.array(faces), attributes


@given(wedges())
def test_welding_merges_what_is_equal_in_everything(case: tuple) -> None:
    positions, faces, attributes = case
    welded, corners, found = weld_wedges(positions, faces, attributes)
    kept: Any = found
    seen: dict[tuple, int] = {}
    for v in range(len(positions)):
        key = (*positions[v].tolist(), *attributes.uv[v].tolist(), int(attributes.material[v]))
        seen.setdefault(key, len(seen))  # Python compares -0.0 and 0.0 as equal, and hashes them alike
    ours = [(*p.tolist(), *u.tolist(), int(m)) for p, u, m in zip(welded, kept.uv, kept.material, strict=True)]
    assert ours == list(seen)
    assert np.array_equal(welded[corners], positions[faces])
    assert np.array_equal(kept.uv[corners], attributes.uv[faces])
    assert np.array_equal(kept.material[corners], attributes.material[faces])


@given(wedges())
def test_the_first_vertex_at_a_position_stands_for_all(case: tuple) -> None:
    positions = case[0]
    first = first_at_position(positions)
    expected = [next(i for i, q in enumerate(positions) if (q == p).all()) for p in positions]
    assert first.tolist() == expected


@given(wedges())
def test_without_attributes_welding_is_by_position(case: tuple) -> None:
    positions, faces, _ = case
    points, corners, nothing = weld_wedges(positions, faces, None)
    assert nothing is None
    assert np.array_equal(points, weld(positions, faces)[0])
    assert np.array_equal(corners, weld(positions, faces)[1])

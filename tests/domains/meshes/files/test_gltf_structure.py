"""Checks of glTF headers: what just fits passes, one byte or entry more is refused by name, and by the right check."""

from __future__ import annotations

import struct
from typing import Any

import pytest

from hra.domains.meshes.files.gltf_accessors import check_accessors
from hra.domains.meshes.files.gltf_files import split_glb
from hra.domains.meshes.files.gltf_meshopt import check_compressed
from hra.domains.meshes.files.gltf_primitives import check_primitives
from hra.domains.meshes.files.gltf_structure import check_structure
from hra.domains.meshes.files.structure import Misfit, number, whole
from hra.errors import FileError

BYTE, UBYTE, SHORT, USHORT, UINT, FLOAT = 5120, 5121, 5122, 5123, 5125, 5126


def last_byte(component: int, side: int) -> int:
    """Behind the last number of a square matrix, by columns that begin at multiples of four (glTF 2.0, 3.6.2.4)."""
    at = 0
    for _ in range(side):
        at += -at % 4
        at += side * component
    return at


@pytest.mark.parametrize(("kind", "side"), [("MAT2", 2), ("MAT3", 3), ("MAT4", 4)])
@pytest.mark.parametrize(("component", "size"), [(BYTE, 1), (UBYTE, 1), (SHORT, 2), (USHORT, 2), (UINT, 4), (FLOAT, 4)])
@pytest.mark.parametrize(("count", "stride"), [(1, {}), (3, {"byteStride": 64})])
def test_columns_of_matrices_are_padded_to_four_bytes(
    component: int, size: int, kind: str, side: int, count: int, stride: dict[str, int]
) -> None:
    def header(room: int) -> dict[str, Any]:
        return {
            "buffers": [{"byteLength": room}],
            "bufferViews": [{"buffer": 0, "byteLength": room} | stride],
            "accessors": [{"bufferView": 0, "componentType": component, "count": count, "type": kind}],
        }

    needed = last_byte(size, side) + (count - 1) * 64
    check_accessors(header(needed), "a.glb")
    with pytest.raises(FileError, match=f"it claims {count} elements, which its {needed - 1} bytes") as caught:
        check_accessors(header(needed - 1), "a.glb")
    assert caught.value.where == "a.glb, accessors[0]"


def sparse(**view: int) -> dict[str, Any]:
    """A header whose sparse values lie in a view of its own."""
    entry = {"indices": {"bufferView": 0, "componentType": UBYTE}, "values": {"bufferView": 1}, "count": 2}
    return {
        "buffers": [{"byteLength": 64}],
        "bufferViews": [{"buffer": 0, "byteLength": 2}, {"buffer": 0, "byteOffset": 4, "byteLength": 24} | view],
        "accessors": [{"componentType": FLOAT, "count": 3, "type": "VEC3", "sparse": entry}],
    }


def test_sparse_values_lie_close() -> None:
    check_accessors(sparse(), "a.glb")
    with pytest.raises(FileError, match="sparse data lies in a view with a stride"):
        check_accessors(sparse(byteStride=12), "a.glb")
    with pytest.raises(FileError, match="it claims 2 elements, which its 23 bytes"):
        check_accessors(sparse(byteLength=23), "a.glb")


def test_compressed_data_ends_within_its_buffer() -> None:
    def header(offset: int, length: int) -> dict[str, Any]:
        entry = {"buffer": 0, "byteOffset": offset, "byteLength": length, "byteStride": 4, "count": 2}
        extensions = {"EXT_meshopt_compression": entry | {"mode": "ATTRIBUTES"}}
        return {
            "buffers": [{"byteLength": 20}, {"byteLength": 8}],
            "bufferViews": [{"buffer": 1, "byteLength": 8, "extensions": extensions}],
        }

    check_compressed(header(8, 12), "a.glb")
    for offset, length in ((9, 12), (8, 13), (20, 1)):
        with pytest.raises(FileError, match="compressed data reaches beyond its buffer") as caught:
            check_compressed(header(offset, length), "a.glb")
        assert caught.value.where == "a.glb, bufferViews[0]"


def accessor(kind: str, component: int = FLOAT, count: int = 3, **more: Any) -> dict[str, Any]:
    return {"type": kind, "componentType": component, "count": count, **more}


def primitive(accessors: list[dict[str, Any]], used: tuple[str, ...] = (), **more: Any) -> dict[str, Any]:
    """A header with a primitive that uses the accessors, the first ones under names."""
    attributes = {name: place for place, name in enumerate(used)}
    return {"accessors": accessors, "meshes": [{"primitives": [{"attributes": attributes, **more}]}]}


@pytest.mark.parametrize(
    ("header", "what"),
    [
        (
            primitive([accessor("VEC3"), accessor("VEC3", count=4)], ("POSITION", "NORMAL")),
            r"the attributes have different shapes: \[3, 4\] elements",
        ),
        (primitive([accessor("VEC2")], ("POSITION",)), "POSITION has a format that glTF does not allow"),
        (primitive([accessor("VEC3", SHORT)], ("POSITION",)), "POSITION has a format that glTF does not allow"),
        (primitive([accessor("VEC2")], ("TEXCOORD_1",)), "TEXCOORD_1 is there without the one before it"),
        *(
            (primitive([wrong], targets=[{name: 0}]), f"{name} of a morph target has a format")
            for name in ("POSITION", "NORMAL", "TANGENT")
            for wrong in (accessor("VEC4"), accessor("VEC3", SHORT, normalized=True))
        ),
        *(
            (primitive([wrong], indices=0), "indices have a format that glTF does not allow")
            for wrong in (accessor("SCALAR"), accessor("VEC2", UINT), accessor("SCALAR", UBYTE, normalized=True))
        ),
    ],
)
def test_primitives_of_other_formats_are_refused(header: dict[str, Any], what: str) -> None:
    with pytest.raises(FileError, match=what) as caught:
        check_primitives(header, "a.glb")
    assert caught.value.where == "a.glb, meshes[0].primitives[0]"


@pytest.mark.parametrize("offset", [accessor("VEC3", FLOAT), accessor("VEC3", SHORT, normalized=True)])
def test_quantized_morph_targets_are_allowed_where_the_extension_is_used(offset: dict[str, Any]) -> None:
    header = primitive([accessor("VEC3"), offset], ("POSITION",), targets=[{"POSITION": 1, "TEXCOORD_0": 1}])
    check_primitives(header | {"extensionsUsed": ["KHR_mesh_quantization"]}, "a.glb")


def test_an_extension_that_is_required_is_used() -> None:
    header = {"asset": {"version": "2.0"}, "extensionsUsed": ["KHR_mesh_quantization"]}
    check_structure(header | {"extensionsRequired": ["KHR_mesh_quantization"]}, "a.glb")
    with pytest.raises(FileError, match="it requires an extension that it does not declare as used") as caught:
        check_structure(header | {"extensionsRequired": ["KHR_texture_transform"]}, "a.glb")
    assert caught.value.where == "a.glb, extensionsUsed"


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        ({"a": 1}, "an object"),
        ([1], "a list"),
        (True, "True"),
        ("x" * 38, "'" + "x" * 38 + "'"),
        ("x" * 39, "'" + "x" * 39 + "..."),
    ],
)
def test_a_value_of_another_kind_is_shown_shortly(value: object, shown: str) -> None:
    for kind, name in ((whole(), "a whole number"), (number(), "a number")):
        with pytest.raises(Misfit) as caught:
            kind(value, {})
        assert caught.value.what == f"{shown} is not {name}"


def test_a_number_of_many_bits_is_not_shown() -> None:
    for value, shown in ((2**128, "a number of 129 bits"), (2**128 - 1, f"{2**128 - 1}")):
        with pytest.raises(Misfit) as caught:
            whole()(value, {})
        assert caught.value.what == f"{shown} is out of range"


@pytest.mark.parametrize(
    ("header", "place"),
    [
        ({"accessors": [{"componentType": 5126, "count": 0, "type": "VEC3"}]}, "accessors[0].count"),
        ({"scenes": [{"nodes": []}, {"nodes": [3]}]}, "scenes[0].nodes"),
        (
            {"meshes": [{"primitives": [{"attributes": {"POSITION": 1}}]}]},
            "meshes[0].primitives[0].attributes.POSITION",
        ),
        ({"materials": [{"x" * 50: 1, "alphaCutoff": -1}]}, "materials[0].alphaCutoff"),
        ({"extensions": {"y" * 50: 1}}, "extensions." + "y" * 40),
        ({"nodes": 1}, "nodes"),
    ],
)
def test_the_way_to_what_is_wrong_is_named(header: dict[str, Any], place: str) -> None:
    with pytest.raises(FileError, match="the glTF header is wrong") as caught:
        check_structure({"asset": {"version": "2.0"}} | header, "a.glb")
    assert caught.value.where == f"a.glb, {place}"


def test_extensions_may_be_empty() -> None:
    empty: dict[str, Any] = {"extensions": {}}
    check_structure({"asset": {"version": "2.0"} | empty, "nodes": [empty, {"extensions": {"A": {}}}]} | empty, "a.glb")


def test_the_shortest_container_has_an_empty_header() -> None:
    chunk = struct.pack("<I4s", 0, b"JSON")
    for data, what in ((chunk, "the chunks of the GLB file are not one of JSON"), (chunk[:-1], "too short for a GLB")):
        with pytest.raises(FileError, match=what):
            split_glb(b"glTF" + struct.pack("<II", 2, 20) + data, "a.glb")
    assert split_glb(b"glTF" + struct.pack("<II", 2, 24) + struct.pack("<I4s", 4, b"JSON") + b"{}  ", "")[0] == b"{}  "

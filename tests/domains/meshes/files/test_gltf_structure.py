"""Checks of glTF headers: what just fits passes, one byte or entry more is refused by name, and by the right check."""

from __future__ import annotations

import copy
from typing import Any

import pytest

from hra.domains.meshes.files.gltf_structure import check_structure, leave_out_unsaid
from hra.errors import FileError


def test_an_extension_that_is_required_is_used() -> None:
    header = {"asset": {"version": "2.0"}, "extensionsUsed": ["KHR_mesh_quantization"]}
    check_structure(header | {"extensionsRequired": ["KHR_mesh_quantization"]}, "a.glb")
    with pytest.raises(FileError, match="it requires an extension that it does not declare as used") as caught:
        check_structure(header | {"extensionsRequired": ["KHR_texture_transform"]}, "a.glb")
    assert caught.value.where == "a.glb, extensionsUsed"


def test_what_says_nothing_is_left_out_and_what_others_say_stays() -> None:
    kept = {
        "extensions": {"A_b": {"lists": [], "max": [None]}},
        "nodes": [{"extras": {"children": []}, "name": "a"}],
        "accessors": [{"min": [0.0, 1.0], "count": 1}],
        "meshes": [{"primitives": [{"attributes": {"POSITION": 0}, "mode": 0}]}],
    }
    header = copy.deepcopy(kept) | {"extensionsUsed": [], "skins": []}
    header["nodes"][0]["children"] = []
    header["accessors"][0]["max"] = [None, 2.0]
    header["meshes"][0]["primitives"][0]["targets"] = []
    leave_out_unsaid(header)
    assert header == kept


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


def test_attributes_of_extensions_have_names_of_their_own() -> None:
    """A file of splats is refused for what it requires, and not for a name that its extension gives."""
    attributes = {"POSITION": 0, "KHR_gaussian_splatting:ROTATION": 0}
    primitive = {"mode": 0, "attributes": attributes, "extensions": {"KHR_gaussian_splatting": {}}}
    header = {
        "asset": {"version": "2.0"},
        "accessors": [{"componentType": 5126, "count": 1, "type": "VEC3"}],
        "meshes": [{"primitives": [primitive]}],
        "extensionsUsed": ["KHR_gaussian_splatting"],
    }
    check_structure(header, "a.glb")
    with pytest.raises(FileError, match="it requires 'KHR_gaussian_splatting', which is not read"):
        check_structure(header | {"extensionsRequired": ["KHR_gaussian_splatting"]}, "a.glb")
    attributes["gaussian:ROTATION"] = 0
    with pytest.raises(FileError, match="the name 'gaussian:ROTATION' is not allowed"):
        check_structure(header, "a.glb")

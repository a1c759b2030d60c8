from __future__ import annotations

from typing import Any

import pytest

from hra.domains.meshes.files.gltf_primitives import check_primitives
from hra.errors import FileError
from tests.helpers.gltf_structure_cases import FLOAT, SHORT, UBYTE, UINT


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

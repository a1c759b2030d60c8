"""Every property of a glTF header with values that it must not have, judged by Khronos' validator.

What the validator calls an error must be refused, but for the leniencies that docs/readers.md names; what it calls
valid must be read, but for what that page says is not read.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from tests.helpers.hostile import gltf

_VALUES: tuple[Any, ...] = (
    *(gltf.REMOVE, None, True, -1, 0, 1, 2, 99, 0.5, -0.5, 1e9, 2**40, "x", "0", "", [], {}, [0], [-1], [0, 0]),
    *([1, 2, 3, 4], {"a": 1}, [None], ["x"], [1e300] * 3),
)
# Codes of the validator by the name of the leniency. "ANIMATION" stands for all codes that begin so.
LENIENCIES = {
    "bounds": (
        *("MESH_PRIMITIVE_POSITION_ACCESSOR_WITHOUT_BOUNDS", "ACCESSOR_MIN_MISMATCH", "ACCESSOR_MAX_MISMATCH"),
        *("ACCESSOR_ELEMENT_OUT_OF_M",),
    ),
    "alignment": (
        *("ACCESSOR_TOTAL_OFFSET_ALIGNMENT", "ACCESSOR_OFFSET_ALIGNMENT", "ACCESSOR_MATRIX_ALIGNMENT"),
        *("MESH_PRIMITIVE_ACCESSOR_UNALIGNED", "MESH_PRIMITIVE_ACCESSOR_WITHOUT_BYTESTRIDE", "GLB_CHUNK_LENGTH"),
    ),
    "targets": ("BUFFER_VIEW_TARGET_OVERRIDE", "ACCESSOR_USAGE_OVERRIDE", "BUFFER_VIEW_INVALID_BYTE_STRIDE"),
    "normals": ("ACCESSOR_VECTOR3_NON_UNIT", "ACCESSOR_INVALID_SIGN"),
    "values": ("ACCESSOR_NON_CLAMPED", "ACCESSOR_INVALID_FLOAT"),
    "emission": ("VALUE_NOT_IN_RANGE",),
    "matrices": ("NODE_MATRIX_NON_TRS",),
    "roots": ("SCENE_NON_ROOT_NODE",),
    "animations": ("ANIMATION", "ACCESSOR_ANIMATION", "KHR_ANIMATION"),
    "skins": (
        *("SKIN", "NODE_SKIN", "INVALID_IBM", "ACCESSOR_INVALID_IBM", "ACCESSOR_JOINTS", "ACCESSOR_WEIGHTS"),
        *("MESH_PRIMITIVE_JOINTS",),
    ),
    "morph targets": ("MESH_INVALID_WEIGHTS", "MESH_PRIMITIVES_UNEQUAL", "MESH_PRIMITIVE_MORPH", "NODE_WEIGHTS"),
    "cameras": ("CAMERA",),
    "images": ("IMAGE", "TEXTURE_INVALID_IMAGE", "IO_ERROR", "INVALID_URI"),
    "extensions": (
        *("UNDECLARED_EXTENSION", "UNEXPECTED_EXTENSION", "UNUSED_EXTENSION", "NON_REQUIRED_EXTENSION", "KHR_"),
    ),
    "empty lists": ("EMPTY_ENTITY",),
    "nulls": ("ARRAY_TYPE_MISMATCH", "ARRAY_LENGTH_NOT_IN_LIST"),
    "media types": ("BUFFER_DATA_URI_MIME_TYPE",),
    "coordinates": ("MESH_PRIMITIVE_TOO_FEW_TEXCOORDS",),
}
# Reasons of refusals of what the validator calls valid: nothing to show, or what it only warns of.
NOT_READ = (
    *("the mesh has no triangles", "all triangles of the mesh have two equal corners"),
    *("vertices give no whole triangles", "neither a file nor data", "which is not read"),
)


def leniency(codes: list[str], change: str) -> str:
    """The leniencies that cover all of a file's errors, "" if one is not covered.

    Parameters
    ----------
    change : what was changed: the codes for any property are covered for an emission and bounds alone.
    """
    bounds = any(word in change for word in (".min", ".max", "bounds"))
    besides = {"emission": "emissiveFactor" in change, "nulls": bounds}
    covered = {name: begins for name, begins in LENIENCIES.items() if besides.get(name, True)}
    names = [next((name for name, begins in covered.items() if code.startswith(begins)), "") for code in codes]
    # A morph target's accessors are judged by the same codes as positions.
    if names and "morph targets" in names:
        return "morph targets"
    if names and "skins" in names and set(names) <= {"skins", "targets", "alignment", "bounds"}:
        return "skins"
    return ", ".join(dict.fromkeys(names)) if all(names) else ""


def documents() -> Iterator[tuple[str, bytes]]:
    """A name and the content of every changed document."""
    document = gltf.document()
    for path in _paths(document):
        for value in _VALUES:
            try:
                header = gltf.edited({path: value})
            except (IndexError, KeyError, TypeError):
                continue
            shown = "removed" if value is gltf.REMOVE else json.dumps(value)
            yield f"{path} = {shown}", gltf.text(header)


def _paths(value: Any, path: str = "") -> Iterator[str]:
    entries = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for name, entry in entries:
        yield from _paths(entry, f"{path}.{name}")
    if path:
        yield path[1:]

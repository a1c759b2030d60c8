"""Primitives of a glTF file: the accessors that they use have the formats that glTF allows, and give triangles.

Source: Khronos, glTF 2.0 specification, section 3.7, and KHR_mesh_quantization.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from hra.domains.meshes.files.gltf_coordinates import BASE, coordinate_sets, coordinates_of, texture_infos
from hra.errors import FileError, warn

_TRIANGLES, _STRIP, _FAN = 4, 5, 6
_FLOAT, _UINT = 5126, 5125
_BYTE, _UBYTE, _SHORT, _USHORT = 5120, 5121, 5122, 5123
_OFFSET = ("VEC3", _FLOAT)
_ALL = {(kind, share) for kind in (_BYTE, _UBYTE, _SHORT, _USHORT) for share in (False, True)}
_SHARES = {(_FLOAT, False), (_UBYTE, True), (_USHORT, True)}
# Types and (component, normalized) of each attribute, without and with quantization.
_FORMATS = {
    "POSITION": (("VEC3",), {(_FLOAT, False)}, _ALL),
    "NORMAL": (("VEC3",), {(_FLOAT, False)}, {(_BYTE, True), (_SHORT, True)}),
    "TANGENT": (("VEC4",), {(_FLOAT, False)}, {(_BYTE, True), (_SHORT, True)}),
    "TEXCOORD": (("VEC2",), _SHARES, _ALL),
    "COLOR": (("VEC3", "VEC4"), _SHARES, set()),
    "JOINTS": (("VEC4",), {(_UBYTE, False), (_USHORT, False)}, set()),
    "WEIGHTS": (("VEC4",), _SHARES, set()),
}


def check_primitives(header: dict[str, Any], where: str) -> None:
    """Refuse primitives whose accessors have other formats or counts than glTF allows.

    Raises
    ------
    FileError : names the primitive.
    """
    for place, primitive in _primitives(header, where):
        _check_attributes(header, primitive, place)
        for target in primitive.get("targets", []):
            _check_target(header, target, place)
        if "indices" in primitive:
            _check_indices(header, primitive, place)
        _check_coordinates(header, primitive, place)


def vertex_accessors(primitive: Mapping[str, Any]) -> Iterator[int]:
    """The numbers of the accessors of a primitive's vertices, with those of its targets; some may come twice."""
    yield from primitive["attributes"].values()
    for target in primitive.get("targets", []):
        yield from target.values()


def accessors_of(primitive: Mapping[str, Any]) -> Iterator[int]:
    """The same and that of its triangles."""
    yield from vertex_accessors(primitive)
    if "indices" in primitive:
        yield primitive["indices"]


def is_blended(header: Mapping[str, Any], primitive: Mapping[str, Any]) -> bool:
    """Whether the triangles of a primitive are drawn over each other, so that their order shows."""
    variants = primitive.get("extensions", {}).get("KHR_materials_variants", {}).get("mappings", [])
    numbers = [int(one["material"]) for one in (primitive, *variants) if "material" in one]
    return any(header["materials"][number].get("alphaMode") == "BLEND" for number in numbers)


def _primitives(header: dict[str, Any], where: str) -> Iterator[tuple[str, dict[str, Any]]]:
    for number, mesh in enumerate(header.get("meshes", [])):
        for part, primitive in enumerate(mesh["primitives"]):
            yield f"{where}, meshes[{number}].primitives[{part}]", primitive


def _check_attributes(header: dict[str, Any], primitive: dict[str, Any], where: str) -> None:
    quantized = "KHR_mesh_quantization" in header.get("extensionsUsed", [])
    used = {name: header["accessors"][number] for name, number in primitive["attributes"].items()}
    for name, accessor in used.items():
        semantic, _, number = name.partition("_")
        if semantic not in _FORMATS:
            continue
        types, plain, more = _FORMATS[semantic]
        found = accessor["componentType"], accessor.get("normalized", False)
        if accessor["type"] not in types or found not in (plain | more if quantized else plain):
            raise FileError(f"{name} has a format that glTF does not allow", where=where)
        if number not in ("", "0") and f"{semantic}_{int(number) - 1}" not in used:
            raise FileError(f"{name} is there without the one before it", where=where)
    counts = {accessor["count"] for accessor in used.values()}
    if len(counts) > 1:
        raise FileError(f"the attributes have different shapes: {sorted(counts)} elements", where=where)


def _check_target(header: dict[str, Any], target: dict[str, int], where: str) -> None:
    """Morph targets move vectors of three, whatever they are of."""
    for name, number in target.items():
        accessor = header["accessors"][number]
        quantized = "KHR_mesh_quantization" in header.get("extensionsUsed", []) and accessor["type"] == "VEC3"
        allowed = quantized or (accessor["type"], accessor["componentType"]) == _OFFSET
        if name in ("POSITION", "NORMAL", "TANGENT") and not allowed:
            raise FileError(f"{name} of a morph target has a format that glTF does not allow", where=where)


def _check_indices(header: dict[str, Any], primitive: dict[str, Any], where: str) -> None:
    accessor = header["accessors"][primitive["indices"]]
    scalar = accessor["type"] == "SCALAR" and not accessor.get("normalized")
    if not scalar or accessor["componentType"] not in (_UBYTE, _USHORT, _UINT):
        raise FileError("indices have a format that glTF does not allow", where=where)
    if "bufferView" in accessor and "byteStride" in header["bufferViews"][accessor["bufferView"]]:
        raise FileError("indices lie in a view with a stride", where=where)


def _check_coordinates(header: dict[str, Any], primitive: dict[str, Any], where: str) -> None:
    if "material" not in primitive:
        return
    base = texture_infos(header["materials"][primitive["material"]]).get(BASE)
    there = coordinate_sets(primitive)
    # A texture without any coordinates shows its corner only; with another set in their place it would be a wrong one.
    if base is not None and there and coordinates_of(base, where).number not in there:
        raise FileError("the texture coordinates of its material are missing", where=where)


def shows_triangles(primitive: dict[str, Any], where: str) -> bool:
    """Whether it is of triangles with positions; others are left out with a warning."""
    if primitive.get("mode", _TRIANGLES) < _TRIANGLES:
        warn(f"{where}: points and lines were left out")
        return False
    if "POSITION" not in primitive["attributes"]:
        warn(f"{where}: a primitive without positions was left out")
        return False
    return True


def triangle_count(header: dict[str, Any], primitive: dict[str, Any]) -> int:
    """How many triangles it has."""
    corners = header["accessors"][primitive.get("indices", primitive["attributes"].get("POSITION", 0))]["count"]
    return corners // 3 if primitive.get("mode", _TRIANGLES) == _TRIANGLES else max(corners - 2, 0)


def triangles_of(indices: np.ndarray, mode: int, where: str) -> np.ndarray:
    """The ``indices`` [n] of a primitive as triangles int64 [F, 3].

    Raises
    ------
    FileError : their number does not fit the mode.
    """
    if (mode == _TRIANGLES and len(indices) % 3) or (mode != _TRIANGLES and len(indices) < 3):
        raise FileError(f"{len(indices)} vertices give no whole triangles", where=where)
    indices = indices.astype(np.int64)
    if mode == _TRIANGLES:
        return indices.reshape(-1, 3)
    if mode == _FAN:
        return np.stack([np.broadcast_to(indices[0], len(indices) - 2), indices[1:-1], indices[2:]], axis=1)
    three = np.stack([indices[:-2], indices[1:-1], indices[2:]], axis=1)
    three[1::2, :2] = three[1::2, 1::-1]
    return three

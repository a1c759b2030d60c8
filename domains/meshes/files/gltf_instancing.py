"""Nodes that show their mesh in many places: EXT_mesh_gpu_instancing (Khronos glTF extension)."""

from __future__ import annotations

from typing import Any

import numpy as np

from hra.domains.meshes.files.gltf_accessors import Accessors
from hra.domains.meshes.files.structure import Misfit, index, mapping, record
from hra.errors import FileError

NAME = "EXT_mesh_gpu_instancing"
_RECORD = record(
    {"attributes": mapping(index("accessors"), r"_.*|TRANSLATION|ROTATION|SCALE", 1)}, required=["attributes"]
)
_BYTE, _SHORT, _FLOAT = 5120, 5122, 5126
_FORMATS = {
    "TRANSLATION": ("VEC3", {(_FLOAT, False)}),
    "ROTATION": ("VEC4", {(_FLOAT, False), (_BYTE, True), (_SHORT, True)}),
    "SCALE": ("VEC3", {(_FLOAT, False)}),
}


def check_instancing(header: dict[str, Any], where: str) -> None:
    """Refuse instances whose accessors have other formats or counts than the extension allows.

    Raises
    ------
    FileError : names the node.
    """
    for number, node in enumerate(header.get("nodes", [])):
        entry, place = node.get("extensions", {}).get(NAME), f"{where}, nodes[{number}]"
        if entry is None:
            continue
        try:
            _RECORD(entry, header)
        except Misfit as misfit:
            raise FileError(f"{NAME} is wrong: {misfit.what}", where=f"{place}, {misfit.place}") from misfit
        _check_formats(header, entry["attributes"], place)


def _check_formats(header: dict[str, Any], attributes: dict[str, int], where: str) -> None:
    used = {name: header["accessors"][number] for name, number in attributes.items()}
    for name, (kind, formats) in _FORMATS.items():
        accessor = used.get(name, {"type": kind, "componentType": _FLOAT})
        if accessor["type"] != kind or (accessor["componentType"], accessor.get("normalized", False)) not in formats:
            raise FileError(f"{name} of instances has a format that {NAME} does not allow", where=where)
    counts = {accessor["count"] for accessor in used.values()}
    if len(counts) > 1:
        raise FileError(f"the attributes of instances have different counts: {sorted(counts)}", where=where)


def place_count(header: dict[str, Any], node: dict[str, Any]) -> int:
    """In how many places a node of a checked header shows its mesh."""
    entry = node.get("extensions", {}).get(NAME)
    return 1 if entry is None else header["accessors"][next(iter(entry["attributes"].values()))]["count"]


def local_matrices(accessors: Accessors, node: dict[str, Any], where: str) -> np.ndarray:
    """Matrices float64 [n, 4, 4] from the mesh of a node to the node, one of them where it has no instances.

    Raises
    ------
    FileError : a rotation of length 0.
    """
    matrices = np.tile(np.eye(4), (place_count(accessors.header, node), 1, 1))
    attributes = node.get("extensions", {}).get(NAME, {}).get("attributes", {})
    if "ROTATION" in attributes:
        rotations = accessors.scale(attributes["ROTATION"]).astype(np.float64)
        length = np.linalg.norm(rotations, axis=1, keepdims=True)
        if not (length > 0).all():
            raise FileError("a rotation of an instance has no length", where=where, fix="export it again")
        matrices[:, :3, :3] = rotation_matrices(rotations / length)
    if "SCALE" in attributes:
        matrices[:, :3, :3] *= accessors.scale(attributes["SCALE"])[:, None, :]
    if "TRANSLATION" in attributes:
        matrices[:, :3, 3] = accessors.scale(attributes["TRANSLATION"])
    return matrices


def rotation_matrices(rotations: np.ndarray) -> np.ndarray:
    """Unit quaternions (x, y, z, w) float64 [n, 4] as matrices [n, 3, 3]."""
    x, y, z, w = rotations.T
    rows = [
        [1 - 2 * (y * y + z * z), 2 * (x * y - z * w), 2 * (x * z + y * w)],
        [2 * (x * y + z * w), 1 - 2 * (x * x + z * z), 2 * (y * z - x * w)],
        [2 * (x * z - y * w), 2 * (y * z + x * w), 1 - 2 * (x * x + y * y)],
    ]
    return np.moveaxis(np.array(rows), 2, 0)

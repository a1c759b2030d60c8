"""Primitives of a glTF file that Draco has compressed: decoded by the package DracoPy.

Source: Khronos, KHR_draco_mesh_compression. Where a file holds the plain data, too, that is read.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from hra.domains.meshes.files.gltf_accessors import COLUMNS, COMPONENT, Views
from hra.domains.meshes.files.structure import Misfit, index, mapping, record, whole
from hra.errors import FileError, MissingExtra

NAME = "KHR_draco_mesh_compression"
_RECORD = record(
    {"bufferView": index("bufferViews"), "attributes": mapping(whole(), least=1)}, required=["bufferView", "attributes"]
)


def packed(primitive: dict[str, Any]) -> dict[str, Any] | None:
    """What a primitive says about Draco, None where it says nothing."""
    return primitive.get("extensions", {}).get(NAME)


def unpacked(views: Views) -> dict[int, np.ndarray]:
    """The content [count, columns] of the accessors that have no other data than Draco's, by number.

    Raises
    ------
    FileError : the data is damaged, or not what the accessors state.
    MissingExtra : DracoPy is not installed.
    """
    found: dict[int, np.ndarray] = {}
    for number, mesh in enumerate(views.header.get("meshes", [])):
        for part, primitive in enumerate(mesh["primitives"]):
            if (entry := packed(primitive)) is not None:
                found |= _decoded(views, entry, primitive, f"{views.where}, meshes[{number}].primitives[{part}]")
    return found


def _decoded(views: Views, entry: dict[str, Any], primitive: dict[str, Any], where: str) -> dict[int, np.ndarray]:
    accessors = views.header["accessors"]
    try:
        _RECORD(entry, views.header)
    except Misfit as misfit:
        raise FileError(f"{NAME} is wrong: {misfit.what}", where=f"{where}, {misfit.place}") from misfit
    wanted = {number: primitive["attributes"].get(name) for name, number in entry["attributes"].items()}
    if None in wanted.values() or "indices" not in primitive or primitive.get("mode", 4) != 4:
        raise FileError(f"{NAME} names attributes that the primitive lacks, or it is not of triangles", where=where)
    if all("bufferView" in accessors[place] for place in (primitive["indices"], *wanted.values())):
        return {}
    mesh = _read(views.content(entry["bufferView"]), where)
    arrays = {one["unique_id"]: one["data"] for one in mesh.attributes}
    found = {place: arrays.get(number) for number, place in wanted.items()} | {primitive["indices"]: mesh.faces}
    return {place: _typed(accessors[place], array, where) for place, array in found.items()}


def _read(data: bytes, where: str) -> Any:
    try:
        import DracoPy
    except ImportError as error:
        raise MissingExtra.of("DracoPy", "draco") from error
    try:
        mesh = DracoPy.decode(data)
    except Exception as error:  # the package raises several
        fix = "copy or export it again"
        raise FileError(f"data compressed by Draco is damaged ({error})", where=where, fix=fix) from error
    if getattr(mesh, "faces", None) is None:
        raise FileError("data compressed by Draco has no triangles", where=where)
    return mesh


def _typed(accessor: dict[str, Any], array: np.ndarray | None, where: str) -> np.ndarray:
    """A decoded array in the type of its accessor."""
    shape = accessor["count"], COLUMNS[accessor["type"]]
    if array is None or array.size != shape[0] * shape[1]:
        found = "nothing" if array is None else f"{array.size} numbers"
        raise FileError(f"Draco holds {found} where an accessor has {shape[0]} of {shape[1]}", where=where)
    return np.ascontiguousarray(array.reshape(shape).astype(COMPONENT[accessor["componentType"]], copy=False))

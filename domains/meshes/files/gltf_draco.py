"""Primitives of a glTF file that Draco has compressed: decoded by the package DracoPy.

Source: Khronos, KHR_draco_mesh_compression. Where a file holds the plain data, too, that is read.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from hra.domains.meshes.files.gltf_accessors import COLUMNS, COMPONENT, Views
from hra.domains.meshes.files.structure import Misfit, index, mapping, record, whole
from hra.errors import FileError, needs, warn

NAME = "KHR_draco_mesh_compression"
_RECORD = record(
    {"bufferView": index("bufferViews"), "attributes": mapping(whole(), least=1)}, required=["bufferView", "attributes"]
)


def packed(primitive: dict[str, Any]) -> dict[str, Any] | None:
    """What a primitive says about Draco, None where it says nothing."""
    return primitive.get("extensions", {}).get(NAME)


def unpacked(views: Views) -> dict[int, np.ndarray]:
    """The content [count, columns] of the accessors that have no other data than Draco's, by number.

    Old exporters of Blender state the vertices before Draco merges or splits them. The counts of the header become
    those of the data, as viewers show it.

    Warns
    -----
    RepairWarning : accessors stated other counts.

    Raises
    ------
    FileError : the data is damaged, or not what the accessors state.
    MissingExtra : DracoPy is not installed.
    """
    found: dict[int, np.ndarray] = {}
    accessors = views.header.get("accessors", [])
    for number, mesh in enumerate(views.header.get("meshes", [])):
        for part, primitive in enumerate(mesh["primitives"]):
            if (entry := packed(primitive)) is not None:
                where = f"{views.where}, meshes[{number}].primitives[{part}]"
                decoded = _decoded(views, entry, primitive, where)
                if any(len(found[place]) != len(decoded[place]) for place in found.keys() & decoded.keys()):
                    raise FileError("an accessor stands for two lengths of data compressed by Draco", where=where)
                found |= decoded
    wrong = [place for place, array in found.items() if accessors[place]["count"] != len(array)]
    for place in wrong:
        accessors[place]["count"] = len(found[place])
    if wrong:
        what = f"{views.where}: {len(wrong)} accessors state other counts than their data compressed by Draco has"
        warn(f"{what}; those of the data were taken")
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
    found = {place: arrays.get(number) for number, place in wanted.items()} | {
        primitive["indices"]: mesh.faces.reshape(-1, 1)
    }
    return {place: _typed(accessors[place], array, where) for place, array in found.items()}


def _read(data: bytes, where: str) -> Any:
    with needs("DracoPy", "draco"):
        import DracoPy
    try:
        mesh = DracoPy.decode(data)
    except Exception as error:  # the package raises several
        fix = "copy or export it again"
        raise FileError(f"data compressed by Draco is damaged ({error})", where=where, fix=fix) from error
    if getattr(mesh, "faces", None) is None:
        raise FileError("data compressed by Draco has no triangles", where=where)
    return mesh


def _typed(accessor: dict[str, Any], array: np.ndarray | None, where: str) -> np.ndarray:
    """A decoded array [n, columns] in the type of its accessor; n may be another count where no plain data is."""
    count, columns = accessor["count"], COLUMNS[accessor["type"]]
    if array is None or array.shape[1:] != (columns,) or ("bufferView" in accessor and len(array) != count):
        found = "nothing" if array is None else f"{' x '.join(map(str, array.shape))} numbers"
        raise FileError(f"Draco holds {found} where an accessor has {count} of {columns}", where=where)
    return np.ascontiguousarray(array.astype(COMPONENT[accessor["componentType"]], copy=False))

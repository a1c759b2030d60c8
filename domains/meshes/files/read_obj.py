"""OBJ in: faces decoded by trimesh, materials read here: trimesh opens images and drops the names it cannot find."""

from __future__ import annotations

import io
import re
import warnings
from typing import Any

import numpy as np

from hra.domains.meshes.files.mtl import read_mtl
from hra.domains.meshes.files.obj_indices import refuse_zero, with_absolute_indices
from hra.domains.meshes.files.parsed import Parsed, fans, joined_parts, vertex_attributes
from hra.domains.meshes.files.resolver import MissingFile, SiblingFiles
from hra.domains.meshes.materials import Material
from hra.errors import RepairWarning

_LIBRARY = re.compile(rb"^[ \t]*mtllib[ \t]+([^\r\n]*)", re.MULTILINE)
_USED = re.compile(rb"^[ \t]*usemtl[ \t]+([^\r\n]*)", re.MULTILINE)
_POLYGON = re.compile(rb"^f(?:[ \t]+[^\s]+){4}", re.MULTILINE)


def read_obj(data: bytes, files: SiblingFiles, where: str, *, attributes: bool = True) -> Parsed:
    """The triangles of an OBJ file with ``vt``, ``vn``, vertex colours and the materials of its MTL files.

    Raises
    ------
    FileError : vertex 0 is used, or an MTL file or texture lies outside of the folder.

    Warns
    -----
    RepairWarning : an MTL file or a texture is missing.
    """
    from trimesh.exchange.obj import load_obj

    text = with_absolute_indices(_readable(data))
    refuse_zero(text, where)
    polygons = len(_POLYGON.findall(text))
    if not attributes:
        parsed = load_obj(io.BytesIO(text), skip_materials=True)
        parts = [Parsed(entry["vertices"], fans(entry["faces"])) for entry in _geometries(parsed)]
        return _with_polygons(joined_parts(parts, where), polygons)
    known = _materials(text, files, where)
    names = dict.fromkeys(name.strip().decode() for name in _USED.findall(text))
    # trimesh keeps apart what a library names, so it gets a library of nothing but the names.
    library = "\n".join(f"newmtl {name}" for name in names).encode()
    parsed = load_obj(io.BytesIO(b"mtllib names\n" + text), resolver={"names": library})
    parts = [_part(entry, known, where) for entry in _geometries(parsed)]
    return _with_polygons(joined_parts(parts, where), polygons)


def _readable(data: bytes) -> bytes:
    """As UTF-8: names in other encodings are read as Latin-1, so that nothing is guessed."""
    try:
        data.decode()
    except UnicodeDecodeError:
        return data.decode("latin-1").encode()
    return data


def _geometries(parsed: dict[str, Any]) -> list[dict[str, Any]]:
    """What trimesh calls geometries, in the order of the file; none for a file of points."""
    return list(reversed(parsed.get("geometry", {}).values()))


def _with_polygons(parsed: Parsed, polygons: int) -> Parsed:
    return Parsed(parsed.positions, parsed.triangles, parsed.attributes, polygons)


def _materials(text: bytes, files: SiblingFiles, where: str) -> dict[str, Material]:
    materials: dict[str, Material] = {}
    for name in _LIBRARY.findall(text):
        library = name.strip().decode()
        try:
            content = files.get(library)
        except MissingFile:
            what = f"{where}: the material file {library!r} is missing, its materials became plain ones"
            warnings.warn(what, RepairWarning, stacklevel=2)
            continue
        materials |= read_mtl(content, files, f"{where}, {library}")
    return materials


def _part(entry: dict[str, Any], known: dict[str, Material], where: str) -> Parsed:
    visual = entry.get("visual")
    uv = getattr(visual, "uv", None)
    # A texture visual without a named material has one that trimesh made up.
    name = getattr(getattr(visual, "material", None), "name", None)
    material = None if name is None else known.get(name, Material(name))
    if uv is not None:
        uv = np.stack([uv[:, 0], 1 - uv[:, 1]], axis=1)  # OBJ counts from the lower left corner
    carried = vertex_attributes(
        len(entry["vertices"]),
        where,
        uv=uv,
        normals=entry.get("vertex_normals"),
        colors=entry.get("vertex_colors"),
        material=material,
    )
    return Parsed(entry["vertices"], fans(entry["faces"]), carried)

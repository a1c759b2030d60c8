"""PLY in: elements decoded by trimesh; which of their properties mean what is decided here.

trimesh splits and reorders vertices as soon as it knows texture coordinates, and loses normals and colours on the way.
So they are renamed in the header, and come through as plain properties.
"""

from __future__ import annotations

import io
import re
import warnings
from typing import Any

import numpy as np

from hra.domains.meshes.files.parsed import Parsed, fans, vertex_attributes
from hra.domains.meshes.files.resolver import MissingFile, SiblingFiles
from hra.domains.meshes.files.textures import texture
from hra.domains.meshes.materials import Material
from hra.errors import RepairWarning

_PREFIX = b"hra_"
_COORDINATES = (("u", "v"), ("s", "t"), ("texture_u", "texture_v"))
_TEXTURE_PROPERTY = re.compile(rb"^(property[ \t]+.*?)[ \t](texcoord|u|v|s|t|texture_u|texture_v)[ \t]*(?=\r?$)", re.M)
_TEXTURE_FILE = re.compile(rb"^comment[ \t]+texturefile[ \t]+([^\r\n]+)", re.MULTILINE | re.IGNORECASE)


def read_ply(data: bytes, files: SiblingFiles, where: str, *, attributes: bool = True) -> Parsed:
    """The triangles of a PLY file with normals, colours, texture coordinates (of vertices or faces) and its texture.

    Raises
    ------
    FileError : the texture lies outside of the folder.

    Warns
    -----
    RepairWarning : the texture is missing or cannot be read, or texture coordinates of polygons are left out.
    """
    from trimesh.exchange.ply import load_ply

    end = data.index(b"end_header")
    # Comments may be in any encoding, which trimesh takes for UTF-8.
    header = _TEXTURE_PROPERTY.sub(rb"\1 " + _PREFIX + rb"\2", data[:end].decode("latin-1").encode())
    parsed = load_ply(io.BytesIO(header + data[end:]), skip_materials=True)
    elements = parsed["metadata"]["_ply_raw"]
    positions, faces = np.asarray(parsed["vertices"]), np.asarray(parsed.get("faces", np.empty((0, 3), np.int64)))
    polygons = len(fans(faces)) - elements["face"]["length"] if len(faces) else 0
    if not attributes or not len(faces):
        return Parsed(positions, fans(faces), None, polygons)
    arrays = _vertex_arrays(elements["vertex"])
    corner_uv = _property(elements["face"], _PREFIX.decode() + "texcoord")
    if corner_uv is not None and np.shape(corner_uv) == (len(faces), 2 * faces.shape[1]):
        # Coordinates belong to corners: every corner becomes a vertex, and welding joins them again.
        corners = faces.reshape(-1)
        arrays = {name: values[corners] for name, values in arrays.items()} | {"uv": corner_uv.reshape(-1, 2)}
        positions, faces = positions[corners], np.arange(len(corners)).reshape(faces.shape)
    elif corner_uv is not None:
        warnings.warn(f"{where}: texture coordinates of polygons were left out", RepairWarning, stacklevel=2)
    if "uv" in arrays:
        arrays["uv"] = np.stack([arrays["uv"][:, 0], 1 - arrays["uv"][:, 1]], axis=1)  # from the lower left corner
    material = _material(data[:end], files, where) if "uv" in arrays else None
    carried = vertex_attributes(len(positions), where, **arrays, material=material)
    return Parsed(positions, fans(faces), carried, polygons, shares_vertices=len(positions) == len(parsed["vertices"]))


def _vertex_arrays(vertices: dict[str, Any]) -> dict[str, np.ndarray]:
    arrays = {"normals": _columns(vertices, "nx", "ny", "nz")}
    arrays["colors"] = _columns(vertices, "red", "green", "blue", "alpha")
    if arrays["colors"] is None:
        arrays["colors"] = _columns(vertices, "red", "green", "blue")
    prefixed = [[_PREFIX.decode() + name for name in pair] for pair in _COORDINATES]
    arrays["uv"] = next((uv for pair in prefixed if (uv := _columns(vertices, *pair)) is not None), None)
    return {name: values for name, values in arrays.items() if values is not None}


def _columns(element: dict[str, Any], *names: str) -> np.ndarray | None:
    """Properties side by side in the type that the header states (text files are read as floats), None if any lacks."""
    if not all(name in element["properties"] for name in names):
        return None
    dtype = np.dtype(element["properties"][names[0]].replace("<", "").replace(">", ""))
    return np.column_stack([element["data"][name] for name in names]).astype(dtype)


def _property(element: dict[str, Any], name: str) -> np.ndarray | None:
    """A list property with as many entries in every row, [N, n]; None if there is none."""
    if name not in element["properties"]:
        return None
    values = element["data"][name]
    return np.asarray(values["f1"] if getattr(values, "dtype", None) is not None and values.dtype.names else values)


def _material(header: bytes, files: SiblingFiles, where: str) -> Material | None:
    found = _TEXTURE_FILE.search(header)
    if not found:
        return None
    name = found.group(1).strip().decode("utf-8", "replace")
    try:
        content = files.get(name)
    except MissingFile:
        warnings.warn(f"{where}: the texture {name!r} is missing and was left out", RepairWarning, stacklevel=2)
        return Material(name, metallic=0.0)
    return Material(name, image=texture(content, where), metallic=0.0)

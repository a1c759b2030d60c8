"""PLY in: which elements and properties mean what."""

from __future__ import annotations

import warnings
from collections.abc import Mapping

import numpy as np

from hra.domains.meshes.files.parsed import Parsed, at_corners, strips, triangulate, vertex_attributes
from hra.domains.meshes.files.resolver import MissingFile, SiblingFiles, Textures
from hra.domains.meshes.mesh.materials import Material
from hra.errors import FileError, RepairWarning
from hra.files.limits import DEFAULT, Limits
from hra.files.ply.binary import read_binary
from hra.files.ply.columns import Columns
from hra.files.ply.header import parse_ply_header
from hra.files.ply.text import read_text

_COORDINATES = (("u", "v"), ("s", "t"), ("texture_u", "texture_v"))
_CORNERS = ("vertex_indices", "vertex_index")
_TEXTURE_FILE = b"texturefile"
# What is read of vertices, what of faces changes how a mesh looks and is not read, and elements that are read.
_READ = {*"xyz", "nx", "ny", "nz", "red", "green", "blue", "alpha", *(name for pair in _COORDINATES for name in pair)}
_UNREAD, _ELEMENTS = ("texnumber", "color"), ("vertex", "face", "tristrips")


def read_ply(
    data: bytes, files: SiblingFiles, where: str, *, attributes: bool = True, limits: Limits = DEFAULT
) -> Parsed:
    """The triangles of a PLY file with normals, colours, texture coordinates (of vertices or faces) and its texture.

    Raises
    ------
    FileError : the header is wrong or is not kept, or the texture lies outside of the folder.

    Warns
    -----
    RepairWarning : the texture is missing or cannot be read, or texture coordinates, other colours, or properties and
        elements that have no place in a mesh are left out.
    """
    header = parse_ply_header(data, where, limits)
    elements = read_binary(data, header, header.order, where) if header.order else read_text(data, header, where)
    vertices = elements.get("vertex", Columns())
    positions = _columns(vertices, "x", "y", "z")
    if positions is None:
        raise FileError("the PLY file has no vertices with x, y and z", where=where)
    if attributes:
        _name_losses(elements, where)
    if "face" not in elements and "tristrips" in elements:
        parsed = Parsed(positions, strips(*_corners(elements["tristrips"], where)))
        return _of_vertices(parsed, vertices, header.comments, files, where, attributes)
    faces = elements.get("face", Columns())
    corners, offsets = _corners(faces, where)
    places, polygons = triangulate(corners, offsets, where, at_corners(positions, corners))
    parsed = Parsed(positions, corners[places], None, polygons)
    own = _corner_uv(faces, offsets, where) if attributes else None
    shades = _face_colors(faces, vertices, where) if attributes else None
    if own is None and shades is None:
        return _of_vertices(parsed, vertices, header.comments, files, where, attributes)
    if shades is not None:
        shades = np.repeat(shades[np.searchsorted(offsets, places[:, 0], "right") - 1], 3, axis=0)
    uv = None if own is None else own[places].reshape(-1, 2)
    return _of_corners(parsed, vertices, uv, shades, header.comments, files, where)


def _name_losses(elements: Mapping[str, Columns], where: str) -> None:
    """Warn of what has no place in a mesh."""
    vertices, faces = elements.get("vertex", Columns()), elements.get("face", Columns())
    lost = [f"{name} of vertices" for name in (*vertices.scalars, *vertices.lists) if name not in _READ]
    lost += [f"{name} of faces" for name in _UNREAD if name in faces.lists or np.any(faces.scalars.get(name, 0))]
    lost += [f"element {name}" for name in elements if name not in _ELEMENTS]
    if lost:
        warnings.warn(f"{where}: left out were {', '.join(lost)}"[:500], RepairWarning, stacklevel=4)


def _face_colors(faces: Columns, vertices: Columns, where: str) -> np.ndarray | None:
    """Colours [F, 3 or 4] of all faces; None if there are none, or vertices have theirs."""
    found = _vertex_arrays(faces).get("colors")
    if found is not None and "colors" in _vertex_arrays(vertices):
        what = f"{where}: colours of faces were left out: vertices have colours, too"
        warnings.warn(what, RepairWarning, stacklevel=3)
        return None
    return found


def _of_vertices(
    parsed: Parsed,
    vertices: Columns,
    comments: tuple[bytes, ...],
    files: SiblingFiles,
    where: str,
    attributes: bool,
) -> Parsed:
    if not attributes or not len(parsed.triangles):
        return parsed
    arrays = _vertex_arrays(vertices)
    uv = _vertex_uv(vertices)
    material = None if uv is None else _material(comments, files, where)
    carried = vertex_attributes(len(parsed.positions), where, uv=_turn(uv), material=material, **arrays)
    return Parsed(parsed.positions, parsed.triangles, carried, parsed.polygons)


def _vertex_uv(vertices: Columns) -> np.ndarray | None:
    return next((found for pair in _COORDINATES if (found := _columns(vertices, *pair)) is not None), None)


def _of_corners(
    parsed: Parsed,
    vertices: Columns,
    uv: np.ndarray | None,
    colors: np.ndarray | None,
    comments: tuple[bytes, ...],
    files: SiblingFiles,
    where: str,
) -> Parsed:
    """Coordinates of corners or colours of faces: every corner becomes a vertex, and welding joins them again."""
    corners = parsed.triangles.reshape(-1)
    bad = np.flatnonzero((corners < 0) | (corners >= len(parsed.positions)))
    if bad.size:  # left to the check of all triangles, which names the first one
        return parsed
    arrays = {name: values[corners] for name, values in _vertex_arrays(vertices).items()}
    if colors is not None:
        arrays["colors"] = colors
    if uv is None:
        uv = _vertex_uv(vertices)
        uv = None if uv is None else uv[corners]
    material = None if uv is None else _material(comments, files, where)
    carried = vertex_attributes(len(corners), where, uv=_turn(uv), material=material, **arrays)
    triangles = np.arange(len(corners)).reshape(-1, 3)
    return Parsed(parsed.positions[corners], triangles, carried, parsed.polygons, shares_vertices=False)


def _corners(faces: Columns, where: str) -> tuple[np.ndarray, np.ndarray]:
    """The vertex numbers int64 [n] of all faces or strips, and where each begins."""
    found = next((faces.lists[name] for name in _CORNERS if name in faces.lists), None)
    if found is None:
        return np.empty(0, np.int64), np.zeros(1, np.int64)
    if found.values.dtype.kind == "f":
        raise FileError("the faces are not of whole numbers", where=where)
    return found.values.astype(np.int64), found.offsets


def _corner_uv(faces: Columns, offsets: np.ndarray, where: str) -> np.ndarray | None:
    """Texture coordinates [n, 2] of all corners of all faces; None if there are none that fit."""
    found = faces.lists.get("texcoord")
    if found is None:
        return None
    if np.array_equal(found.offsets, 2 * offsets):
        return found.values.reshape(-1, 2)
    what = f"{where}: texture coordinates were left out: their number differs from the corners'"
    warnings.warn(what, RepairWarning, stacklevel=2)
    return None


def _turn(uv: np.ndarray | None) -> np.ndarray | None:
    """Move the origin of coordinates from the lower left corner to the upper left one."""
    return None if uv is None else np.stack([uv[:, 0], 1 - uv[:, 1]], axis=1)


def _vertex_arrays(vertices: Columns) -> dict[str, np.ndarray]:
    colors = _columns(vertices, "red", "green", "blue", "alpha")
    found = {
        "normals": _columns(vertices, "nx", "ny", "nz"),
        "colors": _columns(vertices, "red", "green", "blue") if colors is None else colors,
    }
    return {name: values for name, values in found.items() if values is not None}


def _columns(element: Columns, *names: str) -> np.ndarray | None:
    """Properties side by side in the type of the first one, None if any lacks."""
    if not all(name in element.scalars for name in names):
        return None
    return np.column_stack([element.scalars[name] for name in names]).astype(element.scalars[names[0]].dtype)


def _material(comments: tuple[bytes, ...], files: SiblingFiles, where: str) -> Material | None:
    named = next((c[len(_TEXTURE_FILE) :].strip() for c in comments if c.lower().startswith(_TEXTURE_FILE)), b"")
    if not named:
        return None
    name = named.decode("utf-8", "replace")
    try:
        content = files.get(name)
    except MissingFile:
        warnings.warn(f"{where}: the texture {name!r} is missing and was left out", RepairWarning, stacklevel=2)
        return Material(name, metallic=0.0)
    return Material(name, image=Textures(files).read(content, where), metallic=0.0)

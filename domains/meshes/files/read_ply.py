"""PLY in: which elements and properties mean what."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from hra.domains.meshes.files.parsed import Parsed, at_corners, strips, triangulate, vertex_attributes
from hra.domains.meshes.files.resolver import MissingFile, SiblingFiles, Textures
from hra.domains.meshes.mesh.materials import Material
from hra.errors import FileError, warn
from hra.files.limits import DEFAULT, Limits
from hra.files.ply.binary import read_binary
from hra.files.ply.colors import COLOR_NAMES, COLORS, color_shares, ply_colors
from hra.files.ply.columns import Columns
from hra.files.ply.header import parse_ply_header
from hra.files.ply.text import read_text

_COORDINATES = (("u", "v"), ("s", "t"), ("texture_u", "texture_v"))
_CORNERS = ("vertex_indices", "vertex_index")
_TEXTURE_FILE = b"texturefile"
# What is read of vertices and of faces, and elements that are read.
_READ = {*"xyz", "nx", "ny", "nz", *COLORS, "alpha", *(name for pair in _COORDINATES for name in pair)}
_OF_FACES = {*_CORNERS, "texcoord", "alpha", *(name for names in COLOR_NAMES for name in names)}
_ELEMENTS = ("vertex", "face", "tristrips")


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
    arrays: dict[str, np.ndarray] = {}
    if attributes:
        arrays, names = _arrays(vertices, where)
        _name_losses(elements, names, where)
    faces, runs = (elements.get(name, Columns()) for name in ("face", "tristrips"))
    corners, offsets = _corners(faces, where)
    places, polygons = triangulate(corners, offsets, where, at_corners(positions, corners))
    triangles, more = corners[places], strips(*_corners(runs, where))
    own = _corner_arrays(faces, offsets, places, "colors" in arrays, where) if attributes and len(corners) else {}
    if own and len(more):
        what = f"{where}: {len(more)} triangles of strips were left out: faces have colours or coordinates of their own"
        warn(what)
    elif len(more):
        triangles = np.concatenate([triangles, more])
    flat = triangles.reshape(-1)
    # Numbers that are out of range are left to the check of all triangles, which names the first one.
    if not (arrays or own) or not flat.size or flat.min() < 0 or flat.max() >= len(positions):
        return Parsed(positions, triangles, None, polygons)
    if own:  # every corner becomes a vertex, and welding joins them again
        arrays = {name: values[flat] for name, values in arrays.items()} | own
        positions, triangles = positions[flat], np.arange(len(flat)).reshape(-1, 3)
    material = _material(header.comments, files, where) if "uv" in arrays else None
    carried = vertex_attributes(len(positions), where, material=material, **arrays)
    return Parsed(positions, triangles, carried, polygons, shares_vertices=not own)


def _name_losses(elements: Mapping[str, Columns], colors: tuple[str, ...], where: str) -> None:
    """Warn of what has no place in a mesh; ``colors`` are the names of those of vertices that are read."""
    vertices, faces = elements.get("vertex", Columns()), elements.get("face", Columns())
    read = {*_READ, *colors}
    lost = [f"{name} of vertices" for name in (*vertices.scalars, *vertices.lists) if name not in read]
    # Zeros are what writers put where there is nothing to say.
    unread = [name for name, values in faces.scalars.items() if name not in _OF_FACES and np.any(values)]
    unread += [name for name in faces.lists if name not in _OF_FACES]
    lost += [f"{name} of faces" for name in unread]
    lost += [f"element {name}" for name in elements if name not in _ELEMENTS]
    if lost:
        warn(f"{where}: left out were {', '.join(lost)}"[:500])


def _arrays(element: Columns, where: str) -> tuple[dict[str, np.ndarray], tuple[str, ...]]:
    """Normals, colours and coordinates of an element's rows, those that are there, and the names of its colours."""
    colors, names = _colors(element, where)
    uv = next((found for pair in _COORDINATES if (found := _columns(element, *pair)) is not None), None)
    found = {"normals": _columns(element, "nx", "ny", "nz"), "colors": colors, "uv": _turn(uv)}
    return {name: values for name, values in found.items() if values is not None}, names


def _colors(element: Columns, where: str) -> tuple[np.ndarray | None, tuple[str, ...]]:
    """Colours [n, 3 or 4], bytes as they are and others in 0 .. 1, and the names of red, green and blue."""
    names = (*COLORS, "alpha") if "alpha" in element.scalars else COLORS
    if all(name in element.scalars and element.scalars[name].dtype == np.uint8 for name in names):
        return _columns(element, *names), COLORS
    shares, found = ply_colors(element.scalars, where)
    if shares is not None and "alpha" in element.scalars:
        shares = np.column_stack([shares, color_shares(element.scalars["alpha"][:, None], where)])
    return shares, found


def _corner_arrays(
    faces: Columns, offsets: np.ndarray, places: np.ndarray, colored: bool, where: str
) -> dict[str, np.ndarray]:
    """What faces say of the corners of triangles at ``places`` [T, 3]; no colours where vertices are ``colored``."""
    arrays: dict[str, np.ndarray] = {}
    uv, (colors, _) = _corner_uv(faces, offsets, where), _colors(faces, where)
    if uv is not None:
        arrays["uv"] = uv[places].reshape(-1, 2)
    if colors is not None and colored:
        what = f"{where}: colours of faces were left out: vertices have colours, too"
        warn(what)
    elif colors is not None:
        arrays["colors"] = np.repeat(colors[np.searchsorted(offsets, places[:, 0], "right") - 1], 3, axis=0)
    return arrays


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
        return _turn(found.values.reshape(-1, 2))
    what = f"{where}: texture coordinates were left out: their number differs from the corners'"
    warn(what)
    return None


def _turn(uv: np.ndarray | None) -> np.ndarray | None:
    """Move the origin of coordinates from the lower left corner to the upper left one."""
    return None if uv is None else np.stack([uv[:, 0], 1 - uv[:, 1]], axis=1)


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
        warn(f"{where}: the texture {name!r} is missing and was left out")
        return Material(name, metallic=0.0)
    return Material(name, image=Textures(files).read(content, where), metallic=0.0)

"""What a parser found in a mesh file, before it is checked and welded; polygons and strips as triangles."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from hra.domains.meshes.mesh.attributes import VertexAttributes, concatenate
from hra.domains.meshes.mesh.materials import Material
from hra.domains.meshes.mesh.triangle_mesh import check_triangles
from hra.errors import FileError, needs, warn

# Normals whose squared length is nearer to 1 than this are kept bit by bit.
_UNIT = 1e-5
# Colours that are so far outside of 0 .. 1 are another colour when they are clipped.
_CLIPPED = 2e-3


@dataclass(frozen=True, eq=False)
class Parsed:
    """Unchecked triangles.

    Attributes
    ----------
    positions : numbers [V, 3]; triangles : integers [F, 3].
    attributes : of the V vertices, or None.
    polygons : how many faces of more than three corners the file has, at least.
    shares_vertices : whether faces share vertices here; where they cannot, merging equal ones repairs nothing.
    """

    positions: np.ndarray
    triangles: np.ndarray
    attributes: VertexAttributes | None = None
    polygons: int = 0
    shares_vertices: bool = True


def joined_parts(parts: Sequence[Parsed], where: str) -> Parsed:
    """Several parsed meshes as one.

    Raises
    ------
    MeshError : an index out of range, which would otherwise end up in another part.
    """
    if len(parts) == 1:
        return parts[0]
    if not parts:
        return Parsed(np.empty((0, 3)), np.empty((0, 3), np.int64))
    counts = [len(part.positions) for part in parts]
    for number, (part, count) in enumerate(zip(parts, counts, strict=True)):
        check_triangles(part.triangles, count, f"{where}, part {number}")
    begin = np.cumsum([0, *counts[:-1]])
    return Parsed(
        np.concatenate([part.positions for part in parts]),
        np.concatenate([part.triangles + first for part, first in zip(parts, begin, strict=True)]),
        concatenate([part.attributes for part in parts], counts),
        sum(part.polygons for part in parts),
    )


def vertex_attributes(
    count: int,
    where: str,
    *,
    uv: np.ndarray | None = None,
    normals: np.ndarray | None = None,
    colors: np.ndarray | None = None,
    material: Material | None = None,
    uv2: np.ndarray | None = None,
    tangents: np.ndarray | None = None,
) -> VertexAttributes | None:
    """Attributes of ``count`` vertices in the types of `VertexAttributes`, None if there are none.

    Parameters
    ----------
    uv, uv2 : numbers [V, 2]; normals : numbers [V, 3], made unit length.
    tangents : numbers [V, 4], the first three made unit length, the fourth 1 or -1.
    colors : [V, 3 or 4], floats in 0 .. 1 or unsigned integers over their whole range.
    material : of all the vertices.

    Raises
    ------
    FileError : an array of another shape.

    Warns
    -----
    RepairWarning : values that are not finite, replaced by 0; colours outside of 0 .. 1, clipped.
    """
    arrays: dict[str, np.ndarray] = {}
    if uv is not None:
        arrays["uv"] = _finite("texture coordinates", uv, (count, 2), where)
    if uv2 is not None:
        arrays["uv2"] = _finite("texture coordinates", uv2, (count, 2), where)
    if tangents is not None:
        arrays["tangents"] = _finite("tangents", tangents, (count, 4), where)
        arrays["tangents"][:, :3] = unit(arrays["tangents"][:, :3])
        arrays["tangents"][:, 3] = np.where(arrays["tangents"][:, 3] < 0, -1, 1)
    if normals is not None:
        arrays["normals"] = unit(_finite("normals", normals, (count, 3), where))
    if colors is not None:
        arrays["colors"] = _bytes(colors, count, where)
    if material is not None:
        arrays["material"] = np.zeros(count, np.int32)
    return VertexAttributes(**arrays, materials=(material,) if material else ()) if arrays else None


def _finite(name: str, values: np.ndarray, shape: tuple[int, int], where: str) -> np.ndarray:
    if values.shape != shape:
        raise FileError(f"{name} have the shape {values.shape}, expected {shape}", where=where, fix="export it again")
    with np.errstate(over="ignore"):
        result = np.array(values, np.float32, order="C")
    bad = ~np.isfinite(result)
    if bad.any():
        result[bad] = 0
        count = int(bad.any(axis=1).sum())
        warn(f"{where}: {name} of {count} vertices are not finite and became 0")
    return result


def unit(normals: np.ndarray) -> np.ndarray:
    """Rows [V, 3] of unit length, except for those that are so nearly, and for zeros; those given may be read-only."""
    square = np.einsum("va,va->v", normals.astype(np.float64), normals)
    other = (np.abs(square - 1) > _UNIT) & (square > 0)
    result = normals.copy()
    result[other] = normals[other] / np.sqrt(square[other])[:, None]
    return result


def _bytes(colors: np.ndarray, count: int, where: str) -> np.ndarray:
    if colors.ndim != 2 or len(colors) != count or colors.shape[1] not in (3, 4):
        raise FileError(f"colours have the shape {colors.shape}, expected ({count}, 4)", where=where)
    result = np.full((count, 4), 255, np.uint8)
    if colors.dtype == np.uint8:
        result[:, : colors.shape[1]] = colors
        return result
    full = 1.0 if colors.dtype.kind == "f" else float(np.iinfo(colors.dtype).max)
    shares = _finite("colours", colors / full, colors.shape, where)
    kept = np.clip(shares, 0, 1)
    if outside := int((np.abs(shares - kept) > _CLIPPED).any(axis=1).sum()):
        what = f"{where}: colours of {outside} vertices are outside of 0 to 1 and were clipped"
        warn(what)
    result[:, : colors.shape[1]] = np.rint(kept * 255)
    return result


def triangulate(
    corners: np.ndarray, offsets: np.ndarray, where: str, positions: np.ndarray | None = None
) -> tuple[np.ndarray, int]:
    """Faces as triangles, in their order: fans around the first corner where these keep inside, else by ears.

    Area is kept. A corner on the line between its neighbours stays a corner of a triangle, so that what meets the face
    there meets it without a crack.

    Parameters
    ----------
    corners : [n] of any type; offsets : int64 [F + 1], where each face begins among them.
    positions : numbers [n, 3] of the corners; None where they are not known yet makes fans of all faces.

    Returns
    -------
    Places among ``corners`` int64 [T, 3], and how many faces had more than three.

    Raises
    ------
    FileError : a face of fewer than three corners.
    MissingExtra : a face is not convex, and mapbox_earcut is not installed.

    Warns
    -----
    RepairWarning : faces that touch themselves, as those do that lead around a hole, or that cross themselves.
    """
    counts = np.diff(offsets)
    short = np.flatnonzero(counts < 3)
    if short.size:
        what = f"face {short[0]} has {counts[short[0]]} corners (and {short.size - 1} more have fewer than 3)"
        raise FileError(what, where=where)
    if (counts == 3).all():
        return np.arange(len(corners)).reshape(-1, 3), 0
    fans, polygons = _fans(offsets), int((counts > 3).sum())
    if positions is None:
        return fans, polygons
    ends = np.cumsum(counts - 2)
    odd, whole = _turned_over(fans, ends, positions)
    parts, at, kinds = [], 0, {"touch": [], "cross": []}
    for face in odd.tolist():
        begin, end = int(offsets[face]), int(offsets[face + 1])
        points = positions[begin:end].astype(np.float64)
        if not np.all(np.abs(points) <= np.finfo(np.float32).max):
            continue  # products of such numbers overflow; no mesh keeps the corner
        found, kind = ears(points, whole[face])
        parts += [fans[at : ends[face] - (end - begin - 2)], begin + found]
        at = int(ends[face])
        if kind:
            kinds[kind].append(face)
    for kind, faces in kinds.items():
        if faces:
            what = f"{where}: {len(faces)} polygons {kind} themselves, first face {faces[0]}"
            lost = "" if kind == "touch" else "; what they cover twice or turned over cannot be kept"
            warn(what + lost)
    return np.concatenate([*parts, fans[at:]]), polygons


def _fans(offsets: np.ndarray) -> np.ndarray:
    """All faces as triangles around their first corners, int64 [T, 3]."""
    per_face = np.diff(offsets) - 2
    first = np.repeat(offsets[:-1], per_face)
    second = first + 1 + np.arange(len(first)) - np.repeat(np.cumsum(per_face) - per_face, per_face)
    return np.stack([first, second, second + 1], axis=1)


def _turned_over(fans: np.ndarray, ends: np.ndarray, positions: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The faces whose fan has a triangle that is turned over; twice the vector area of each face, float64 [F, 3].

    ``ends`` is where the triangles of each face end. Areas of triangles add up to that of a face (Newell's method).
    """
    begins = np.concatenate([[0], ends[:-1]])
    a, b, c = (positions[column].astype(np.float64) for column in fans.T)
    with np.errstate(invalid="ignore", over="ignore"):
        own = np.cross(b - a, c - a)
        whole = np.add.reduceat(own, begins)
        outside = (own * np.repeat(whole, np.diff(ends, prepend=0), axis=0)).sum(axis=1) < 0
    return np.flatnonzero(np.logical_or.reduceat(outside, begins)), whole


def at_corners(positions: np.ndarray, corners: np.ndarray) -> np.ndarray | None:
    """The positions of corners [n, 3]; None where some name no vertex, which the check of all triangles refuses."""
    fits = not corners.size or (corners.min() >= 0 and corners.max() < len(positions))
    return positions[corners] if fits else None


def ears(points: np.ndarray, normal: np.ndarray) -> tuple[np.ndarray, str]:
    """One polygon as triangles by ear clipping, and whether it is one that must "touch" or "cross" itself, or "".

    Source: mapbox/earcut.hpp; D. Eberly, Triangulation by Ear Clipping (2002).

    Parameters
    ----------
    points : float64 [n, 3]; normal : [3], of the plane in which it is looked at, any length but 0.

    Returns
    -------
    int64 [T, 3], numbers of points, counter-clockwise seen against the normal.
    """
    with needs("mapbox_earcut", "meshes"):
        import mapbox_earcut
    count = len(points)
    toward = normal / np.linalg.norm(normal)
    across = np.cross(toward, np.eye(3)[np.abs(toward).argmin()])
    across /= np.linalg.norm(across)
    flat = (points - points[0]) @ np.stack([across, np.cross(toward, across)], axis=1)
    found = mapbox_earcut.triangulate_float64(flat, np.array([count], np.uint32)).reshape(-1, 3).astype(np.int64)
    if not found.size:  # the sides run back over each other
        second = np.arange(1, count - 1)
        return np.stack([np.zeros_like(second), second, second + 1], axis=1), "cross"
    areas = _doubled_areas(flat, found)
    found[areas < 0] = found[areas < 0][:, ::-1]
    around = np.roll(flat, -1, axis=0)
    whole = float((flat[:, 0] * around[:, 1] - flat[:, 1] * around[:, 0]).sum())
    kind = "touch" if len(np.unique(points, axis=0)) < count else ""
    if abs(np.abs(areas).sum() - whole) > 1e-9 * whole:
        return found, "cross"
    return _with_all_corners(found, flat), kind


def _doubled_areas(flat: np.ndarray, triangles: np.ndarray) -> np.ndarray:
    (a, b), (c, d) = (
        (flat[triangles[:, 1]] - flat[triangles[:, 0]]).T,
        (flat[triangles[:, 2]] - flat[triangles[:, 0]]).T,
    )
    return a * d - b * c


def _with_all_corners(triangles: np.ndarray, flat: np.ndarray) -> np.ndarray:
    """Triangles split where a corner lies on a side: ear clipping leaves out corners on straight lines."""
    count, waiting, done = len(flat), triangles.tolist(), []
    edges = {(t[k], t[k - 2]) for t in waiting for k in range(3)}
    border = {(k, (k + 1) % count) for k in range(count)}
    missing = (border | {(b, a) for a, b in edges if (a, b) not in border}) - edges
    follows: dict[int, list[int]] = {}
    for a, b in missing:
        follows.setdefault(a, []).append(b)
    scale = np.abs(flat).max() ** 2
    while waiting:
        t = waiting.pop()
        split = None
        for k in range(3):
            a, b = t[k], t[k - 2]
            if (a, b) in border or (b, a) not in missing:
                continue
            way = flat[b] - flat[a]
            for p in follows.get(a, ()):
                step = flat[p] - flat[a]
                on_line = abs(way[0] * step[1] - way[1] * step[0]) <= 1e-12 * scale
                if p not in t and on_line and 0 < step @ way < way @ way:
                    split = [a, p, t[k - 1]], [p, b, t[k - 1]]
                    follows[a].remove(p)
                    missing.add((b, p))
                    break
            if split:
                break
        if split:
            waiting += split
        else:
            done.append(t)
    return np.array(done, np.int64)


def strips(indices: np.ndarray, offsets: np.ndarray) -> np.ndarray:
    """Triangle strips as triangles [T, 3] of ``indices``: every second one is turned, -1 begins a new strip.

    Parameters
    ----------
    indices : integers [n]; offsets : int64 [S + 1], where each strip begins.
    """
    begins = np.zeros(len(indices) + 1, bool)
    begins[offsets] = True
    restart = indices == -1
    begins[1:] |= restart
    begins[:-1] |= restart  # the restart itself is a strip of one
    runs = np.flatnonzero(begins)
    run_of = np.repeat(np.arange(len(runs) - 1), np.diff(runs))
    place = np.arange(len(indices)) - runs[:-1][run_of]
    last = np.flatnonzero(place >= 2)
    odd = (place[last] % 2 == 1)[:, None]
    three = np.stack([last - 2, last - 1, last], axis=1)
    return indices[np.where(odd, three[:, [1, 0, 2]], three)]

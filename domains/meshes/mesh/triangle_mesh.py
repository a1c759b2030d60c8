"""An indexed triangle mesh: what is loaded, built from, and realised; with normals of its surface where it has none."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from hra.caching import cached_property
from hra.domains.meshes.mesh.attributes import VertexAttributes
from hra.domains.meshes.mesh.methods import METHODS
from hra.domains.meshes.mesh.weld import first_at_position
from hra.errors import MeshError, check_kind
from hra.model.arrays import ReadOnlyArrays, group, numbers

# Index buffers stay below 2**31 entries, the limit of meshoptimizer and of many graphics interfaces.
MAX_TRIANGLES = (2**31 - 1) // 3

_NOWHERE = 0.0, 0.0, 0.0


@dataclass(frozen=True, eq=False)
class TriangleMesh(ReadOnlyArrays):
    """Triangles over shared vertices. `load` and `from_arrays` make one from unchecked data and repair it.

    Attributes
    ----------
    positions : float32 [V, 3], object units.
    triangles : uint32 [F, 3], vertex numbers, counter-clockwise from outside.
    attributes : texture coordinates, normals, colours and materials of the V vertices, or None. Vertices at a seam
        are doubled: the same position, other attributes.
    origin : float64 [3], object units, what files add to positions, where float32 would be too coarse without; bounds,
        errors and cameras do without.

    Raises
    ------
    MeshError : wrong shape or type, no triangle, a coordinate that is not finite, a vertex number out of range,
        attributes of another number of vertices, or a triangle of several materials.
    ArrayError : an origin that is not three finite numbers. HraError : other attributes.

    Examples
    --------
    >>> import numpy as np
    >>> from hra.domains import meshes
    >>> mesh = meshes.TriangleMesh(np.eye(3, dtype=np.float32), np.array([[0, 1, 2]], np.uint32))
    >>> mesh, mesh.bounds.tolist()
    (TriangleMesh(1 triangles, 3 vertices), [[0.0, 0.0, 0.0], [1.0, 1.0, 1.0]])
    """

    positions: np.ndarray
    triangles: np.ndarray
    attributes: VertexAttributes | None = None
    origin: tuple[float, float, float] = _NOWHERE

    def __post_init__(self) -> None:
        check_positions(self.positions, "positions")
        check_triangles(self.triangles, len(self.positions), "triangles")
        if self.positions.dtype != np.float32 or self.triangles.dtype != np.uint32:
            found = f"{self.positions.dtype} and {self.triangles.dtype}"
            fix = "use meshes.from_arrays, which converts"
            raise MeshError(
                f"positions must be float32 and triangles uint32, got {found}", where="TriangleMesh", fix=fix
            )
        if self.origin is not _NOWHERE:  # the usual, without a call
            object.__setattr__(self, "origin", tuple(numbers("origin", self.origin, 3).tolist()))
        if self.attributes is not None:
            check_attributes(self.attributes, self.triangles, len(self.positions), "TriangleMesh")

    def __repr__(self) -> str:
        carried = f", {', '.join(self.attributes.names)}" if self.attributes is not None else ""
        return f"TriangleMesh({len(self.triangles)} triangles, {len(self.positions)} vertices{carried})"

    def _repr_png_(self) -> bytes | None:
        return METHODS["portrait"](self)

    @cached_property
    def position_of(self) -> np.ndarray:
        """The first vertex at the position of each, uint32 [V]: surfaces join by position, seams do not open them."""
        return first_at_position(self.positions)

    @property
    def bounds(self) -> np.ndarray:
        """Smallest and largest coordinates, float32 [2, 3]."""
        return np.stack([self.positions.min(axis=0), self.positions.max(axis=0)])

    def with_normals(self) -> TriangleMesh:
        """The mesh with normals, those of its surface where it has none: smooth except at edges of 75 degrees and more.

        Programs shade meshes without normals flat. At edges vertices are doubled.
        """
        return with_normals(self)

    def export(self, path: str | Path) -> None:
        """Write the mesh as GLB, PLY, STL, OFF or OBJ, by the file's suffix; see `hra.domains.meshes.files.write_glb`.

        Raises
        ------
        FileError : unknown suffix, or the file cannot be written.
        """
        METHODS["export"](self, path)


def referenced_only(
    positions: np.ndarray,
    triangles: np.ndarray,
    attributes: VertexAttributes | None = None,
    origin: tuple[float, float, float] = (0.0, 0.0, 0.0),
) -> TriangleMesh:
    """The mesh of ``triangles`` with the vertices that none of them uses left out, in their order."""
    used = np.zeros(len(positions), bool)
    used[triangles] = True
    number = np.cumsum(used, dtype=np.int64) - 1
    kept = None if attributes is None else attributes.take(used)
    return TriangleMesh(positions[used], number[triangles].astype(np.uint32), kept, origin)


def check_positions(positions: np.ndarray, where: str) -> None:
    """Raise MeshError unless ``positions`` are numbers [V, 3] that are finite in float32."""
    _check_plain("positions", positions, where)
    if positions.ndim != 2 or positions.shape[1] != 3 or positions.dtype.kind not in "iuf":
        raise MeshError(f"positions must be numbers [V, 3], got {positions.dtype} {positions.shape}", where=where)
    limit = np.finfo(np.float32).max
    bad = np.flatnonzero(~((positions >= -limit) & (positions <= limit)).all(axis=1))
    if bad.size:
        raise MeshError(
            f"vertex {bad[0]} is not finite in float32: {positions[bad[0]].tolist()}",
            where=f"{where}, vertex {bad[0]} (and {bad.size - 1} more)",
            fix="remove the vertex and its faces, or export the mesh again",
        )


def check_triangles(triangles: np.ndarray, vertex_count: int, where: str) -> None:
    """Raise MeshError unless ``triangles`` are integers [F, 3] below ``vertex_count``, with F > 0."""
    _check_plain("triangles", triangles, where)
    if triangles.size == 0:
        raise MeshError("the mesh has no triangles", where=where, fix="point clouds and curves cannot be simplified")
    if triangles.ndim != 2 or triangles.shape[1] != 3 or triangles.dtype.kind not in "iu":
        raise MeshError(f"triangles must be integers [F, 3], got {triangles.dtype} {triangles.shape}", where=where)
    if max(len(triangles), vertex_count) > MAX_TRIANGLES:
        raise MeshError(f"{len(triangles)} triangles and {vertex_count} vertices are too many", where=where)
    if triangles.min() >= 0 and triangles.max() < vertex_count:
        return
    bad = np.flatnonzero(((triangles < 0) | (triangles >= vertex_count)).any(axis=1))
    raise MeshError(
        f"triangle {bad[0]} refers to vertices {triangles[bad[0]].tolist()}, but there are {vertex_count}",
        where=f"{where}, triangle {bad[0]} (and {bad.size - 1} more)",
        fix="export the mesh again",
    )


def _check_plain(name: str, values: np.ndarray, where: str) -> None:
    if not isinstance(values, np.ndarray) or hasattr(values, "mask"):
        what = f"{name} are a {type(values).__name__}, not a plain array"
        raise MeshError(what, where=where, fix="use meshes.from_arrays, which converts")


def check_attributes(attributes: VertexAttributes, triangles: np.ndarray, vertex_count: int, where: str) -> None:
    """Raise MeshError unless ``attributes`` are of ``vertex_count`` vertices and give each triangle one material."""
    check_kind("attributes", attributes, VertexAttributes, "pass VertexAttributes(uv=...), or None")
    if len(attributes) != vertex_count:
        raise MeshError(
            f"there are attributes of {len(attributes)} vertices, but {vertex_count} positions", where=where
        )
    if attributes.material is None or len(attributes.materials) < 2:
        return
    a, b, c = attributes.material[triangles].T
    bad = np.flatnonzero((a != b) | (b != c))
    if bad.size:
        raise MeshError(
            f"the corners of triangle {bad[0]} have materials {attributes.material[triangles[bad[0]]].tolist()}",
            where=f"{where}, triangle {bad[0]} (and {bad.size - 1} more)",
            fix="double the vertices at borders between materials",
        )


def completed_normals(mesh: TriangleMesh) -> np.ndarray:
    """The mesh's normals with those of length 0 replaced, of unit length, float32 [V, 3].

    A vertex without a normal gets the mean of its triangles' normals by area, or the z axis if they have none.
    """
    given = mesh.attributes.normals if mesh.attributes is not None else None
    normals = np.zeros((len(mesh.positions), 3), np.float32) if given is None else given
    given_one = np.any(normals, axis=1, keepdims=True)
    return normals if given_one.all() else np.where(given_one, normals, surface_normals(mesh))


def surface_normals(mesh: TriangleMesh) -> np.ndarray:
    """The mean of the triangles' normals at each vertex by area, float32 [V, 3]; the z axis where they cancel."""
    corners = mesh.positions[mesh.triangles].astype(np.float64)
    weighted = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    count = len(mesh.positions)
    total = np.stack(
        [np.bincount(mesh.triangles.reshape(-1), np.repeat(weighted[:, axis], 3), count) for axis in range(3)], axis=1
    )
    length = np.linalg.norm(total, axis=1, keepdims=True)
    up = np.broadcast_to([0.0, 0.0, 1.0], total.shape)
    return np.divide(total, length, out=up.copy(), where=length > 0).astype(np.float32)


# Faces that bend by more meet at an edge that looks sharp.
_CREASE_DEGREES = 75.0
# What has no more than this share of the area around a vertex does not.
_SLIVER = 0.05
# Two faces that bend by less are in one plane.
_ONE_PLANE_DEGREES = 5.0


def with_normals(mesh: TriangleMesh) -> TriangleMesh:
    """The mesh with normals, which programs need to shade it smoothly; one that has normals stays as it is.

    A corner gets the mean by area of the triangles at its position that bend away from its own by less than 75 degrees,
    so that edges stay sharp; there vertices are doubled.
    """
    carried = mesh.attributes
    if carried is not None and carried.normals is not None:
        return mesh
    vertices = mesh.triangles.reshape(-1)
    normals, bent = _corner_normals(mesh)
    number, first = _split(vertices, normals, bent)
    kept = vertices[first]
    attributes = VertexAttributes(normals=normals[first]) if carried is None else carried.take(kept)
    attributes = replace(attributes, normals=normals[first])
    return TriangleMesh(mesh.positions[kept], number.reshape(-1, 3).astype(np.uint32), attributes, mesh.origin)


def _split(vertices: np.ndarray, normals: np.ndarray, bent: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """New vertex of each corner [3 F] and a corner of each new vertex: one for each normal of an old one.

    Only corners that are ``bent`` bool [3 F] may differ from others of their vertex.
    """
    smooth, edges = np.flatnonzero(~bent), np.flatnonzero(bent)
    number = np.empty(vertices.size, np.int64)
    _, first, number[smooth] = np.unique(vertices[smooth], return_index=True, return_inverse=True)
    # Normals by their bits: only equal ones share a vertex.
    rows = np.column_stack([vertices[edges], normals[edges].view(np.uint32)])
    _, sharp, of_edge = np.unique(rows, axis=0, return_index=True, return_inverse=True)
    number[edges] = of_edge.reshape(-1) + first.size
    return number, np.concatenate([smooth[first], edges[sharp]])


def _corner_normals(mesh: TriangleMesh) -> tuple[np.ndarray, np.ndarray]:
    """The normal of each corner, of unit length, float32 [3 F, 3], and whether it is at an edge, bool [3 F]."""
    points = mesh.positions[mesh.triangles].astype(np.float64)
    # Cross products are as long as twice the area: their sums are means by area.
    weighted = np.repeat(np.cross(points[:, 1] - points[:, 0], points[:, 2] - points[:, 0]), 3, axis=0)
    position, count = mesh.position_of[mesh.triangles].reshape(-1), len(mesh.positions)
    own, area = _unit(weighted), np.linalg.norm(weighted, axis=1)
    total = _sums(weighted, position, count)[position]
    # Slivers that simplification leaves stand at odd angles, and show no edge; but two in one plane are the side of
    # a thin plate.
    large = area > _SLIVER * np.bincount(position, area, count)[position]
    if not large.all():
        large |= np.repeat(_in_one_plane_with_another(points, position.reshape(-1, 3), own[::3]), 3)
    # Where all triangles are near their mean, none of them bends away from another.
    bends = (own * _unit(total)).sum(axis=1) < np.cos(np.radians(_CREASE_DEGREES / 2))
    edge = np.zeros(count, np.bool_)
    edge[position[bends & large]] = True
    corners = np.flatnonzero(edge[position] & large)
    total[corners] = _sums_within(weighted[corners], own[corners], position[corners])
    normals = _unit(total)
    normals[~normals.any(axis=1)] = (0.0, 0.0, 1.0)
    return normals.astype(np.float32), edge[position]


def _in_one_plane_with_another(points: np.ndarray, position: np.ndarray, normals: np.ndarray) -> np.ndarray:
    """Whether faces [F] lie in one plane with another one at their longest edge, bool [F].

    Parameters
    ----------
    points : float64 [F, 3, 3]; position : [F, 3], equal for what lies at one place; normals : [F, 3], unit vectors.
    """
    following = np.roll(position, -1, axis=1)
    keys = np.minimum(position, following) * (int(position.max(initial=0)) + 1) + np.maximum(position, following)
    longest = np.linalg.norm(points - np.roll(points, -1, axis=1), axis=2).argmax(axis=1)
    order = np.argsort(keys, axis=None, kind="stable")
    sorted_keys, wanted = keys.ravel()[order], keys[np.arange(len(keys)), longest]
    first, own, found = np.searchsorted(sorted_keys, wanted), np.arange(len(keys)), np.zeros(len(keys), bool)
    for place in (first, first + 1):  # two faces meet in an edge; of more the first two count
        there = place < len(sorted_keys)
        there[there] = sorted_keys[place[there]] == wanted[there]
        other = order[np.minimum(place, len(order) - 1)] // 3
        alike = (normals * normals[other]).sum(axis=1) >= np.cos(np.radians(_ONE_PLANE_DEGREES))
        found |= there & (other != own) & alike
    return found


def _sums_within(weighted: np.ndarray, own: np.ndarray, position: np.ndarray) -> np.ndarray:
    """The sum for each corner over those at its position that do not bend away from it."""
    _, place = np.unique(position, return_inverse=True)
    offsets, order = group(place, int(place.max(initial=-1)) + 1)
    count = np.diff(offsets)[place]
    # All pairs of corners at one position: each corner as often as there are corners, and these by turns.
    one = np.repeat(np.arange(place.size), count)
    within = np.arange(one.size) - np.repeat(np.cumsum(count) - count, count)
    other = order[offsets[place[one]] + within]
    near = (own[one] * own[other]).sum(axis=1) >= np.cos(np.radians(_CREASE_DEGREES))
    return _sums(weighted[other[near]], one[near], place.size)


def _sums(values: np.ndarray, number: np.ndarray, count: int) -> np.ndarray:
    return np.stack([np.bincount(number, values[:, axis], count) for axis in range(3)], axis=1)


def _unit(vectors: np.ndarray) -> np.ndarray:
    length = np.linalg.norm(vectors, axis=1, keepdims=True)
    return np.divide(vectors, length, out=np.zeros_like(vectors), where=length > 0)

"""What is known of every cluster and page without reading a page: the tables, and the streams of vertices by name."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from hra.domains.meshes.asset.layout import MAX_CLUSTER_VERTICES, PAGE_ALIGNMENT, POSITION, Kind, MappedFile
from hra.domains.meshes.asset.packing import storage_order
from hra.domains.meshes.mesh.attributes import LAYOUT, VertexAttributes
from hra.domains.meshes.mesh.materials import Material
from hra.domains.meshes.mesh.point_grid import PointGrid
from hra.domains.meshes.mesh.ragged import run_offsets
from hra.errors import HraError
from hra.model.arrays import frozen
from hra.model.hierarchy import Hierarchy

if TYPE_CHECKING:
    from hra.domains.meshes.mesh.cluster_mesh import ClusterMesh

FORMS = {POSITION: (np.dtype(np.float32), (3,))}
FORMS |= {name: (dtype, (columns,) if columns else ()) for name, (dtype, columns) in LAYOUT.items()}
# Tables of clusters that are not node attributes.
_LINKS = ("added_by", "removed_by", "triangle_count", "stored")
# Node attributes that every asset has, and those that have a fixed form where they are there.
_REQUIRED = ("center", "radius", "error", "area", "level", "vertex_count")
_FORMS = {
    "center": ("<f4", (3,)),
    "radius": ("<f4", ()),
    "box": ("<f4", (2, 3)),
    "error": ("<f4", ()),
    "hausdorff": ("<f4", ()),
    "normal_change": ("<f4", ()),
    "facing": ("<f4", (4,)),
    "area": ("<f8", ()),
    "level": ("<i4", ()),
    "vertex_count": ("<i4", ()),
}
# Of an origin and a step: 65,535 steps further is still within float32.
_FARTHEST = 1e33
_NOT_NEGATIVE = ("radius", "error", "hausdorff", "normal_change", "area", "level")


def slot_vertex_bytes(attribute_bytes: int) -> int:
    """What a vertex of a compressed page takes where it is drawn: three numbers of 16 bits, and its attributes."""
    return 6 + attribute_bytes


def vertex_streams(mesh: ClusterMesh) -> dict[str, np.ndarray]:
    """The arrays [V, ...] by name, in the order in which pages hold them."""
    carried = mesh.attributes
    names = carried.names if carried else ()
    return {POSITION: mesh.positions} | {name: getattr(carried, name) for name in names}


def vertex_attributes(streams: Mapping[str, np.ndarray], materials: tuple[Material, ...]) -> VertexAttributes | None:
    """What vertices carry beside positions.

    Raises
    ------
    MeshError : the arrays are not valid attributes.
    """
    carried = {name: array for name, array in streams.items() if name != POSITION}
    return VertexAttributes(**carried, materials=materials) if carried else None


@dataclass(frozen=True, eq=False)
class Tables:
    """N clusters in P pages.

    Attributes
    ----------
    hierarchy : of the clusters, costs in triangles.
    triangle_count : int64 [N].
    order : int [N], the clusters as the pages hold them, one after the other.
    page_ends : int64 [P + 1], places in ``order`` where each page begins and the last one ends.
    page_offsets, page_bytes : int64 [P], where each page lies in the file; page_crc : uint32 [P].
    vertex_offsets, corner_offsets : int64 [N + 1], places of the first vertex and corner of the clusters in ``order``.
    slot_bytes : what the largest page takes where it is drawn, in whole words of four bytes, as GPUs hold it.
    grid : of compressed pages, None for plain ones.
    """

    hierarchy: Hierarchy
    triangle_count: np.ndarray
    order: np.ndarray
    page_ends: np.ndarray
    page_offsets: np.ndarray
    page_bytes: np.ndarray
    page_crc: np.ndarray
    vertex_offsets: np.ndarray
    corner_offsets: np.ndarray
    slot_bytes: int
    grid: PointGrid | None

    @property
    def page_of(self) -> np.ndarray:
        """The page of each cluster, int64 [N]."""
        pages = np.empty(len(self.order), np.int64)
        pages[self.order] = np.repeat(np.arange(len(self.page_bytes)), np.diff(self.page_ends))
        return frozen(pages)

    def read_bytes(self, vertex_bytes: int) -> np.ndarray:
        """What each page takes while it is read, int64 [P]: its bytes in the file and its arrays."""
        ends = self.page_ends
        arrays = np.diff(self.vertex_offsets[ends]) * vertex_bytes + np.diff(self.corner_offsets[ends])
        return self.page_bytes + arrays


def read_tables(file: MappedFile) -> Tables:
    """The tables of a mapped asset.

    Raises
    ------
    FileError : a table is missing, of another form, damaged, or they contradict each other.
    """
    _check_directory(file)
    triangles = file.section("triangle_count", Kind.CLUSTER, "<u2").astype(np.int64)
    _require(file, bool((triangles > 0).all()) and int(triangles.sum()) == file.header.triangles, "triangle_count")
    hierarchy = _read_hierarchy(file, triangles)
    vertices = hierarchy.attribute("vertex_count").astype(np.int64)
    sound = (vertices > 0) & (vertices <= np.minimum(MAX_CLUSTER_VERTICES, 3 * triangles))
    _require(file, bool(sound.all()) and file.header.vertices <= int(vertices.sum()), "vertex_count")
    compressed = file.header.compressed
    order = _stored_order(file) if compressed else storage_order(hierarchy.added_by)
    ends = np.concatenate([[0], file.section("page_end", Kind.PAGE, "<u4").astype(np.int64)])
    _require(file, bool((np.diff(ends) > 0).all()) and ends[-1] == len(order), "page_end")
    offsets = run_offsets(vertices[order]), run_offsets(3 * triangles[order])
    largest = int(np.diff((offsets[0] * _drawn_bytes(file, compressed) + offsets[1])[ends]).max())
    tables = Tables(
        hierarchy,
        triangles,
        order,
        ends,
        file.section("page_offset", Kind.PAGE, "<u8").astype(np.int64),
        file.section("page_bytes", Kind.PAGE, "<u4").astype(np.int64),
        file.section("page_crc", Kind.PAGE, "<u4"),
        *offsets,
        slot_bytes=-(-largest // 4) * 4,
        grid=_read_grid(file) if compressed else None,
    )
    _check_pages(file, tables)
    return tables


def _stored_order(file: MappedFile) -> np.ndarray:
    """The clusters as compressed pages hold them."""
    stored = file.section("stored", Kind.CLUSTER, "<i4")
    order = np.argsort(stored, kind="stable")
    _require(file, np.array_equal(stored[order], np.arange(len(stored))), "stored")
    return order


def _drawn_bytes(file: MappedFile, compressed: bool) -> int:
    """Bytes of one vertex of one cluster where it is drawn."""
    if not compressed:
        return vertex_bytes(file)
    return slot_vertex_bytes(sum(file.entries[name].row_bytes for name in file.names(Kind.VERTEX) if name != POSITION))


def _read_grid(file: MappedFile) -> PointGrid:
    values = file.section("grid", Kind.BLOCK, "<f8")
    sound = len(values) == 4 and bool((np.abs(values) < _FARTHEST).all()) and values[3] > 0
    _require(file, sound, "grid")
    return PointGrid(tuple(values[:3].tolist()), float(values[3]))


def vertex_bytes(file: MappedFile) -> int:
    """Bytes of one vertex of one cluster: its number and a row of each array."""
    return 4 + sum(file.entries[name].row_bytes for name in file.names(Kind.VERTEX))


def _check_directory(file: MappedFile) -> None:
    counts = {Kind.CLUSTER: file.header.clusters, Kind.PAGE: file.header.pages, Kind.VERTEX: file.header.vertices}
    for name, entry in file.entries.items():
        if entry.rows != counts.get(entry.kind, entry.rows) or counts.get(entry.kind) == 0:
            raise file.error(f"the section {name!r} of the mesh asset has {entry.rows} rows")
    for name in file.names(Kind.VERTEX):
        entry = file.entries[name]
        _require(file, FORMS.get(name) == (entry.dtype, entry.shape) and not entry.offset, name)
    _require(file, POSITION in file.names(Kind.VERTEX), POSITION)


def _read_hierarchy(file: MappedFile, triangles: np.ndarray) -> Hierarchy:
    names = {*_REQUIRED, *file.names(Kind.CLUSTER)} - set(_LINKS)
    columns = {name: file.section(name, Kind.CLUSTER, *_FORMS.get(name, ())) for name in sorted(names)}
    for name, column in columns.items():
        _require(file, column.dtype.kind != "f" or bool(np.isfinite(column).all()), name)
        _require(file, name not in _NOT_NEGATIVE or bool((column >= 0).all()), name)
    added_by, removed_by = (file.section(name, Kind.CLUSTER, "<i4") for name in ("added_by", "removed_by"))
    try:
        hierarchy = Hierarchy.groups(triangles, added_by, removed_by, attributes=columns, cost_unit="triangles")
    except HraError as error:
        raise file.error(f"the groups of the mesh asset are invalid: {error.what}") from error
    # The order of the pages is that of these numbers, so they must be the hierarchy's own.
    _require(file, np.array_equal(hierarchy.added_by, added_by), "added_by")
    filled = np.bincount(added_by[added_by >= 0], minlength=len(hierarchy))
    _require(file, hierarchy.replaces and bool(filled.all()), "removed_by")
    return hierarchy


def _check_pages(file: MappedFile, tables: Tables) -> None:
    place = tables.vertex_offsets * vertex_bytes(file) + tables.corner_offsets
    most = np.diff(place[tables.page_ends])
    # What compression cannot gain is a few bytes for each of its parts.
    sound = np.array_equal(most, tables.page_bytes) if tables.grid is None else (tables.page_bytes <= 2 * most + 4096)
    _require(file, bool(np.all(sound)), "page_bytes")
    offsets = tables.page_offsets
    inside = (offsets >= 0) & (offsets <= len(file.data) - tables.page_bytes)
    _require(file, bool((inside & (offsets % PAGE_ALIGNMENT == 0)).all()), "page_offset")


def _require(file: MappedFile, valid: bool, name: str) -> None:
    if not valid:
        raise file.error(f"the section {name!r} of the mesh asset is invalid")

"""Pages: clusters with vertices of their own, which can be loaded and drawn without any other page.

Where several pages are joined, the copies of a vertex become one again.
"""

from __future__ import annotations

import zlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from hra.compiling import njit
from hra.domains.meshes.asset.codec import Corrupt, decode_page
from hra.domains.meshes.asset.layout import POSITION, Kind, MappedFile
from hra.domains.meshes.asset.tables import Tables
from hra.domains.meshes.mesh.point_grid import PointGrid
from hra.domains.meshes.mesh.ragged import run_offsets, take_runs
from hra.errors import MeshError
from hra.model.arrays import frozen, indices


@dataclass(frozen=True, eq=False)
class Page:
    """Some clusters, one after the other. All arrays are read-only; of plain pages they are views of the file.

    Attributes
    ----------
    clusters : int [K], their numbers in the mesh.
    vertices : uint32 [n], for each vertex of each cluster its number in the mesh, by which copies are welded.
    streams : arrays [n, ...] by name, "position" float32 [n, 3] and those of `VertexAttributes`.
    corners : uint8 [3 T], vertices of the cluster, counted from its first one, three for each of its triangles.
    vertex_offsets, corner_offsets : int64 [K + 1], where each cluster begins.

    Examples
    --------
    >>> import hra
    >>> from hra.domains import meshes
    >>> meshes.build(hra.samples.path("skull.ply")).save("skull.hra")
    >>> page = meshes.open_asset("skull.hra").read_page(0)
    >>> page.streams["position"].shape[1], len(page.vertex_offsets) - len(page.clusters)
    (3, 1)
    """

    clusters: np.ndarray
    vertices: np.ndarray
    streams: Mapping[str, np.ndarray]
    corners: np.ndarray
    vertex_offsets: np.ndarray
    corner_offsets: np.ndarray

    def take(self, rows: np.ndarray) -> Page:
        """The clusters in these ``rows`` [K] of the page, copied; ArrayError : no such rows."""
        rows = indices("rows", rows, 0, len(self.clusters))
        vertices, vertex_offsets = take_runs(self.vertices, self.vertex_offsets, rows)
        places, _ = take_runs(np.arange(len(self.vertices)), self.vertex_offsets, rows)
        corners, corner_offsets = take_runs(self.corners, self.corner_offsets, rows)
        streams = {name: stream[places] for name, stream in self.streams.items()}
        return Page(self.clusters[rows], vertices, streams, corners, vertex_offsets, corner_offsets)


def read_page(file: MappedFile, tables: Tables, page: int) -> Page:
    """One page, checked.

    Raises
    ------
    FileError : its checksum is wrong, or it names a vertex that does not exist.
    """
    data = file.span(int(tables.page_offsets[page]), int(tables.page_bytes[page]), f"page {page}")
    if zlib.crc32(data) != tables.page_crc[page]:
        raise file.error(f"page {page} of the mesh asset is damaged")
    begin, end = tables.page_ends[page : page + 2]
    vertex_offsets, corner_offsets = (
        offsets[begin : end + 1] - offsets[begin] for offsets in (tables.vertex_offsets, tables.corner_offsets)
    )
    if tables.grid is not None:
        return _decode(file, tables.grid, data, tables.order[begin:end], vertex_offsets, corner_offsets)
    arrays = _split(file, data, int(vertex_offsets[-1]))
    vertices, corners = arrays.pop(""), np.frombuffer(data, np.uint8)[-int(corner_offsets[-1]) :]
    if int(vertices.max()) >= file.header.vertices or not _in_range(corners, vertex_offsets, corner_offsets):
        raise file.error(f"page {page} of the mesh asset names a vertex that does not exist")
    return Page(tables.order[begin:end], vertices, arrays, corners, vertex_offsets, corner_offsets)


def _decode(
    file: MappedFile,
    grid: PointGrid,
    data: memoryview,
    clusters: np.ndarray,
    vertex_offsets: np.ndarray,
    corner_offsets: np.ndarray,
) -> Page:
    """A compressed page."""
    forms = {name: (file.entries[name].dtype, file.entries[name].shape) for name in file.names(Kind.VERTEX)}
    forms[POSITION] = np.dtype("<u2"), (3,)
    try:
        found = decode_page(data, forms, np.diff(vertex_offsets), corner_offsets)
    except Corrupt as error:
        raise file.error(f"a page of the mesh asset cannot be decoded, with cluster {clusters[0]}") from error
    if int(found.vertices.max()) >= file.header.vertices:
        raise file.error("a page of the mesh asset names a vertex that does not exist")
    streams = {name: frozen(stream[found.rows]) for name, stream in found.streams.items()}
    streams[POSITION] = frozen(grid.positions(streams[POSITION]))
    return Page(clusters, frozen(found.vertices), streams, frozen(found.corners), vertex_offsets, corner_offsets)


def _split(file: MappedFile, data: memoryview, count: int) -> dict[str, np.ndarray]:
    """The numbers of the vertices, under the name "", and their arrays."""
    forms = [("", np.dtype("<u4"), ())]
    forms += [(name, file.entries[name].dtype, file.entries[name].shape) for name in file.names(Kind.VERTEX)]
    arrays, at = {}, 0
    for name, dtype, shape in forms:
        length = count * int(np.prod(shape, dtype=np.int64))
        arrays[name] = np.frombuffer(data, dtype, length, at).reshape(count, *shape)
        at += arrays[name].nbytes
    return arrays


@njit(cache=True)
def _in_range(corners, vertex_offsets, corner_offsets):
    for k in range(vertex_offsets.size - 1):
        count = vertex_offsets[k + 1] - vertex_offsets[k]
        for i in range(corner_offsets[k], corner_offsets[k + 1]):
            if corners[i] >= count:
                return False
    return True


@dataclass(frozen=True, eq=False)
class Welded:
    """Clusters one after the other.

    Attributes
    ----------
    streams : arrays [n, ...] by name over the vertices that the clusters use, by rising number in the mesh.
    indices : uint32 [3 T], rows of ``streams``; offsets : int64 [K + 1], where each cluster begins.
    """

    streams: Mapping[str, np.ndarray]
    indices: np.ndarray
    offsets: np.ndarray


def weld_pages(pages: Sequence[Page], clusters: np.ndarray, count: int | None = None) -> Welded:
    """The ``clusters`` [K] of ``pages``, in this order.

    Parameters
    ----------
    pages : hold all of the clusters, and no others.
    count : of the mesh's vertices, where the pages use all of them; None where they use only some.

    Raises
    ------
    MeshError : copies of a vertex differ, or one of ``count`` is not used.
    """
    places = [page.vertices for page in pages]
    if count is None:
        numbers = np.unique(np.concatenate(places))
        places, count = [np.searchsorted(numbers, own).astype(np.uint32) for own in places], len(numbers)
    streams = {name: _weld([page.streams[name] for page in pages], places, count) for name in pages[0].streams}
    resolved = [
        _resolve(p.corners, p.vertex_offsets, p.corner_offsets, at) for p, at in zip(pages, places, strict=True)
    ]
    stored = np.concatenate([page.clusters for page in pages])
    offsets = run_offsets(np.concatenate([np.diff(page.corner_offsets) for page in pages]))
    order = np.argsort(stored)
    rows = order[np.searchsorted(stored, clusters, sorter=order)]
    return Welded(streams, *take_runs(np.concatenate(resolved), offsets, rows))


def _weld(parts: list[np.ndarray], places: list[np.ndarray], count: int) -> np.ndarray:
    """One array [count, ...] from the rows of ``parts``, which belong at ``places``."""
    welded, seen = np.empty((count, *parts[0].shape[1:]), parts[0].dtype), np.zeros(count, np.bool_)
    for part, at in zip(parts, places, strict=True):
        if not _scatter(_words(part), at, _words(welded), seen):
            raise MeshError("copies of a vertex differ")
    if not seen.all():
        raise MeshError(f"vertex {int((~seen).argmax())} is not used by any cluster")
    return welded


def _words(rows: np.ndarray) -> np.ndarray:
    """The bits of ``rows`` [n, ...] as uint32 [n, w]."""
    return rows.view(np.uint32).reshape(len(rows), -1)


@njit(cache=True)
def _scatter(words, places, out, seen):
    """Put ``words`` [n, w] to their ``places`` [n]; whether they equal what was there before."""
    for i in range(words.shape[0]):
        at = places[i]
        for k in range(words.shape[1]):
            if seen[at] and out[at, k] != words[i, k]:
                return False
            out[at, k] = words[i, k]
        seen[at] = True
    return True


@njit(cache=True)
def _resolve(corners, vertex_offsets, corner_offsets, places):
    """Corners that count within their cluster as places of vertices."""
    indices = np.empty(corners.size, np.uint32)
    for k in range(vertex_offsets.size - 1):
        for i in range(corner_offsets[k], corner_offsets[k + 1]):
            indices[i] = places[vertex_offsets[k] + corners[i]]
    return indices

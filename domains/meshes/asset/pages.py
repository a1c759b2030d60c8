"""Pages: clusters with vertices of their own, which can be loaded and drawn without any other page."""

from __future__ import annotations

import zlib
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from hra.compiling import njit
from hra.domains.meshes.asset.codec import Corrupt, decode_page
from hra.domains.meshes.asset.grid import Grid
from hra.domains.meshes.asset.layout import Kind
from hra.domains.meshes.asset.mapped import MappedFile
from hra.domains.meshes.asset.streams import POSITION
from hra.domains.meshes.asset.tables import Tables
from hra.domains.meshes.mesh.ragged import take_runs
from hra.model.arrays import frozen


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
        """The clusters in these ``rows`` of the page, copied."""
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
    grid: Grid,
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

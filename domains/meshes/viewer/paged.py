"""A mesh as pages for the GPU: those of an asset, or of a mesh in memory as an asset would hold it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np

from hra.domains.meshes.allocator import Clusters
from hra.domains.meshes.asset.layout import PAGE_BYTES, POSITION
from hra.domains.meshes.asset.mesh_asset import MeshAsset
from hra.domains.meshes.asset.packing import Packed, page_ends, storage_order
from hra.domains.meshes.asset.pages import Page
from hra.domains.meshes.asset.tables import vertex_streams
from hra.domains.meshes.mesh.cluster_mesh import ClusterMesh
from hra.domains.meshes.mesh.materials import Material
from hra.errors import HraError
from hra.kernels.raster.clusters.geometry import ClusterGeometry, VertexGrid


class PagedMesh(Protocol):
    """What a renderer reads of a mesh."""

    @property
    def materials(self) -> tuple[Material, ...]:
        """The mesh's materials."""
        ...

    def geometry(self, slots: int | None) -> ClusterGeometry:
        """Its clusters, with this many slots; None: one for each page."""
        ...

    def read_page(self, page: int) -> Page:
        """One page."""
        ...


@dataclass(frozen=True, eq=False)
class AssetPages:
    """Pages as an asset's file holds them."""

    asset: MeshAsset

    @property
    def materials(self) -> tuple[Material, ...]:
        """See `MeshAsset.materials`."""
        return self.asset.materials

    def geometry(self, slots: int | None) -> ClusterGeometry:
        """See `PagedMesh.geometry`."""
        tables, pages = self.asset.page_tables, len(self.asset.page_bytes)
        grid = tables.grid and VertexGrid(tables.grid.origin, tables.grid.step)
        offsets = tables.vertex_offsets, tables.corner_offsets
        count, size = pages if slots is None else min(slots, pages), self.asset.slot_bytes
        return ClusterGeometry(tables.order, tables.page_ends, *offsets, size, count, self.asset.attribute_bytes, grid)

    def read_page(self, page: int) -> Page:
        """See `MeshAsset.read_page`."""
        return self.asset.read_page(page)


class MemoryPages:
    """A mesh in memory, in pages as an asset would hold them."""

    def __init__(self, mesh: ClusterMesh) -> None:
        added_by = mesh.hierarchy.added_by
        self._mesh, self._order = mesh, storage_order(added_by)
        self._packed = Packed.of(mesh.indices, mesh.offsets, self._order)
        self._streams = vertex_streams(mesh)
        self._bytes = sum(_width(stream) for stream in self._streams.values())
        packed = self._packed
        sizes = np.diff(packed.vertex_offsets) * self._bytes + np.diff(packed.corner_offsets)
        ends = page_ends(sizes, added_by[self._order], PAGE_BYTES)
        self._ends = np.concatenate([[0], ends])
        self._slot_bytes = int(np.add.reduceat(sizes, self._ends[:-1]).max())

    @property
    def materials(self) -> tuple[Material, ...]:
        """See `VertexAttributes`."""
        return self._mesh.attributes.materials if self._mesh.attributes else ()

    def geometry(self, slots: int | None) -> ClusterGeometry:
        """See `PagedMesh.geometry`."""
        pages = len(self._ends) - 1
        streams = {name: _width(stream) for name, stream in self._streams.items() if name != POSITION}
        offsets = self._packed.vertex_offsets, self._packed.corner_offsets
        count = pages if slots is None else min(slots, pages)
        return ClusterGeometry(self._order, self._ends, *offsets, self._slot_bytes, count, streams)

    def read_page(self, page: int) -> Page:
        """One page, cut out of the mesh."""
        begin, end = self._ends[page : page + 2].tolist()
        packed = self._packed
        offsets = [part[begin : end + 1] - part[begin] for part in (packed.vertex_offsets, packed.corner_offsets)]
        vertices = packed.vertices[packed.vertex_offsets[begin] : packed.vertex_offsets[end]]
        corners = packed.corners[packed.corner_offsets[begin] : packed.corner_offsets[end]]
        streams = {name: stream[vertices] for name, stream in self._streams.items()}
        return Page(self._order[begin:end], vertices, streams, corners, *offsets)


def paged(mesh: Clusters) -> PagedMesh:
    """The pages of a mesh.

    Raises
    ------
    HraError : neither a `ClusterMesh` nor a `MeshAsset`.
    """
    if isinstance(mesh, MeshAsset):
        return AssetPages(mesh)
    if isinstance(mesh, ClusterMesh):
        return MemoryPages(mesh)
    raise HraError(
        f"a {type(mesh).__name__} has no pages", where="placed", fix="pass the result of `build` or `open_asset`"
    )


def slot_content(page: Page, grid: VertexGrid | None) -> bytes:
    """A page as shaders/clusters.glsl reads it: attributes, positions, corners."""
    positions = page.streams[POSITION]
    if grid is not None:
        positions = np.rint((positions.astype(np.float64) - grid.origin) / grid.step).astype(np.uint16)
    attributes = [stream for name, stream in page.streams.items() if name != POSITION]
    return b"".join(array.tobytes() for array in (*attributes, positions, page.corners))


def cluster_boxes_of(page: Page) -> np.ndarray:
    """Boxes around the vertices of each cluster of a page, float32 [K, 2, 3]."""
    positions, begins = page.streams[POSITION], page.vertex_offsets[:-1]
    return np.stack([np.minimum.reduceat(positions, begins), np.maximum.reduceat(positions, begins)], axis=1)


def _width(stream: np.ndarray) -> int:
    """Bytes of a row."""
    return stream.itemsize * int(np.prod(stream.shape[1:], dtype=np.int64))

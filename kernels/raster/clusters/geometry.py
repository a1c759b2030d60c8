"""What a GPU has to know of a mesh's clusters before any of its triangles are there."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from hra.caching import cached_property

CLUSTER = np.dtype(
    [("box", "<f4", (2, 3)), ("triangles", "<u4"), ("page", "<u4"), ("first_vertex", "<u4"), ("first_corner", "<u4"),
     ("mesh", "<u4"), ("number", "<u4")]
)  # fmt: skip
"""`struct Cluster` of shaders/clusters.glsl."""

MESH = np.dtype(
    [("grid", "<f4", 4), ("attribute_bytes", "<u4"), ("normals", "<u4"), ("uv", "<u4"), ("colors", "<u4"),
     ("material", "<u4"), ("first_material", "<u4"), ("padding", "<u4", 2)]
)  # fmt: skip
"""`struct Mesh` of shaders/clusters.glsl."""

NOWHERE = 0xFFFFFFFF
"""The slot of a page that is not there, and the place of a stream that a mesh lacks."""


class VertexGrid(NamedTuple):
    """Points origin + step * (i, j, k) with i, j, k in 0 .. 65535, all exact in float32."""

    origin: tuple[float, float, float]
    step: float


@dataclass(frozen=True, eq=False)
class ClusterGeometry:
    """N clusters in P pages, all in the order in which pages hold them, which is theirs here.

    Attributes
    ----------
    numbers : [N], what the mesh calls each cluster, 0 .. N - 1 each once.
    page_ends : [P + 1], the first cluster of each page, and N.
    vertex_offsets, corner_offsets : [N + 1], where each cluster's vertices and corners begin among those of all.
    slot_bytes : what the largest page takes, as shaders/clusters.glsl lays it out; slots : how many there are.
    streams : bytes of a vertex in each stream of attributes, by name, in their order; multiples of 4.
    grid : of positions in three numbers of 16 bits; None for three float32.
    """

    numbers: np.ndarray
    page_ends: np.ndarray
    vertex_offsets: np.ndarray
    corner_offsets: np.ndarray
    slot_bytes: int
    slots: int
    streams: dict[str, int]
    grid: VertexGrid | None = None

    @cached_property
    def triangles(self) -> np.ndarray:
        """The triangles of each cluster, int64 [N]."""
        return np.diff(self.corner_offsets) // 3

    @cached_property
    def page(self) -> np.ndarray:
        """The page of each cluster, int64 [N]."""
        return np.repeat(np.arange(len(self.page_ends) - 1), np.diff(self.page_ends))

    @cached_property
    def places(self) -> np.ndarray:
        """Where the mesh's clusters stand here, int64 [N]: the inverse of `numbers`."""
        places = np.empty(len(self.numbers), np.int64)
        places[self.numbers] = np.arange(len(places))
        return places

    @property
    def page_vertices(self) -> np.ndarray:
        """int64 [P]."""
        return np.diff(self.vertex_offsets[self.page_ends])

    @property
    def slot_words(self) -> int:
        """Words of 4 bytes of one slot."""
        return -(-self.slot_bytes // 4)

    @property
    def words_per_row(self) -> int:
        """Words of 32 bits that a set of clusters takes."""
        return -(-len(self.numbers) // 32)

    def cluster_rows(self, mesh: int, first_page: int) -> np.ndarray:
        """The table of clusters, `CLUSTER` [N], of the mesh number ``mesh`` whose pages begin at ``first_page``.

        Boxes are unknown until pages are there.
        """
        rows, begin = np.zeros(len(self.numbers), CLUSTER), self.page_ends[self.page]
        rows["triangles"], rows["page"], rows["mesh"] = self.triangles, self.page + first_page, mesh
        rows["first_vertex"] = self.vertex_offsets[:-1] - self.vertex_offsets[begin]
        rows["first_corner"] = self.corner_offsets[:-1] - self.corner_offsets[begin]
        rows["number"] = self.numbers
        return rows

    def mesh_row(self) -> np.ndarray:
        """The row of the table of meshes, `MESH` [1]."""
        row = np.zeros(1, MESH)
        before = np.cumsum([0, *self.streams.values()])
        places = dict(zip(self.streams, before.tolist(), strict=False))
        row["attribute_bytes"] = before[-1]
        for name in ("normals", "uv", "colors", "material"):
            row[name] = places.get(name, NOWHERE)
        if self.grid is not None:
            row["grid"] = *self.grid.origin, self.grid.step
        return row

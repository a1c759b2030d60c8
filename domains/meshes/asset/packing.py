"""Clusters into pages: which ones share a page, and the numbers that a page holds."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace

import numpy as np

from hra.compiling import njit
from hra.domains.meshes.mesh.ragged import local_vertices, run_offsets, take_runs


def storage_order(added_by: np.ndarray) -> np.ndarray:
    """Clusters [N] in the order of pages: the base, then the members of one group after the other, coarse to fine.

    So a prefix of the file is a whole level of detail, and one refinement lies in one or two pages.
    """
    return np.argsort(added_by, kind="stable")


@dataclass(frozen=True, eq=False)
class Packed:
    """Clusters in storage order, each with vertices of its own.

    Attributes
    ----------
    vertices : uint32 [L], for each vertex of each cluster its number in the mesh, by first use in the cluster.
    corners : uint8 [3 T], three vertices of the cluster for each of its triangles.
    vertex_offsets, corner_offsets : int64 [N + 1], where each cluster begins.
    """

    vertices: np.ndarray
    corners: np.ndarray
    vertex_offsets: np.ndarray
    corner_offsets: np.ndarray

    @classmethod
    def of(cls, indices: np.ndarray, offsets: np.ndarray, order: np.ndarray) -> Packed:
        """Pack clusters, given by their vertex numbers uint32 [3 T], that begin at ``offsets`` [N + 1]."""
        ordered, corner_offsets = take_runs(indices, offsets, order)
        vertices, corners, counts = localize(ordered, corner_offsets)
        return cls(vertices, corners, run_offsets(counts), corner_offsets)

    def page_ends(self, groups: np.ndarray, vertex_bytes: int, limit: int) -> np.ndarray:
        """Where each page ends, int64 [P] numbers of clusters in storage order.

        A page takes clusters as long as they fit into ``limit`` bytes; a group that fits into one page is not split.

        Parameters
        ----------
        groups : int [N], ascending: the group of each cluster.
        vertex_bytes : of each vertex of each cluster.
        """
        size = np.diff(self.vertex_offsets) * vertex_bytes + np.diff(self.corner_offsets)
        return page_ends(size, groups, limit)

    def by_first_use(self) -> tuple[Packed, np.ndarray]:
        """The same with vertices numbered by first use, and the old number of each new one, int64 [V]."""
        _, first = np.unique(self.vertices, return_index=True)
        old = self.vertices[np.sort(first)].astype(np.int64)
        new = np.empty(len(old), np.uint32)
        new[old] = np.arange(len(old), dtype=np.uint32)
        return replace(self, vertices=new[self.vertices]), old

    def indices(self, begin: int, end: int) -> np.ndarray:
        """The vertex numbers of the triangles of clusters ``begin`` to ``end`` in storage order, uint32 [3 T]."""
        first = np.repeat(self.vertex_offsets[begin:end], np.diff(self.corner_offsets[begin : end + 1]))
        return self.vertices[first + self.corners[self.corner_offsets[begin] : self.corner_offsets[end]]]

    def pages(self, ends: np.ndarray, streams: Mapping[str, np.ndarray]) -> Iterator[bytes]:
        """The bytes of the pages that end at ``ends`` [P]; ``streams`` are arrays over the vertices of the mesh."""
        begin = 0
        for end in ends.tolist():
            vertices = self.vertices[self.vertex_offsets[begin] : self.vertex_offsets[end]]
            corners = self.corners[self.corner_offsets[begin] : self.corner_offsets[end]]
            parts = [vertices, *(stream[vertices] for stream in streams.values()), corners]
            yield b"".join(part.tobytes() for part in parts)
            begin = end


@njit(cache=True)
def localize(indices, offsets):
    """Distinct vertices of each run of ``indices``, the runs as places among them, and how many each run has."""
    vertices, corners = np.empty(indices.size, np.uint32), np.empty(indices.size, np.uint8)
    counts, total = np.empty(offsets.size - 1, np.int64), 0
    for c in range(offsets.size - 1):
        distinct, local = local_vertices(indices[offsets[c] : offsets[c + 1]])
        counts[c] = distinct.size
        for i in range(distinct.size):
            vertices[total + i] = distinct[i]
        for i in range(local.size):
            corners[offsets[c] + i] = local[i]
        total += distinct.size
    return vertices[:total].copy(), corners, counts


def page_ends(sizes: np.ndarray, runs: np.ndarray, limit: int) -> np.ndarray:
    """Where each page ends, int64 [P], for clusters of these ``sizes`` [N] whose groups are ``runs`` [N] of numbers."""
    return np.append(cut_pages(sizes, runs, limit, 0)[0], len(sizes))


def cut_pages(sizes: np.ndarray, runs: np.ndarray, limit: int, used: int) -> tuple[np.ndarray, int]:
    """The same but the end of the last page, for clusters after ``used`` bytes of a page; and what that one holds."""
    ends = np.empty(len(sizes), np.int64)
    count, used = _cut_pages(np.asarray(sizes, np.int64), np.asarray(runs, np.int64), limit, used, ends)
    return ends[:count].copy(), used


@njit(cache=True)
def _cut_pages(size, groups, limit, used, ends):
    """Write where each page ends; how many do, and the bytes of the last one."""
    count, c = 0, 0
    while c < size.size:
        last, whole = c + 1, size[c]
        while last < size.size and groups[last] == groups[c]:
            whole += size[last]
            last += 1
        if used + whole > limit and used > 0:
            ends[count] = c
            count, used = count + 1, 0
        for k in range(c, last):
            if used + size[k] > limit and used > 0:
                ends[count] = k
                count, used = count + 1, 0
            used += size[k]
        c = last
    return count, used

"""What of a cluster mesh goes into a file: tables of clusters and pages, streams of vertices, and the pages.

Compressed pages hold groups of one level that lie near each other: each time the nearest group that still fits.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from hra.compiling import njit
from hra.domains.meshes.asset.codec import encode_page, on_grid
from hra.domains.meshes.asset.layout import (
    COMPRESSED,
    MAX_CLUSTER_VERTICES,
    PAGE_BYTES,
    PLAIN,
    POSITION,
    SLOT_BYTES,
    Kind,
    portable,
)
from hra.domains.meshes.asset.packing import Packed, storage_order
from hra.domains.meshes.asset.tables import slot_vertex_bytes, vertex_streams
from hra.domains.meshes.mesh.ragged import local_vertices
from hra.errors import MeshError
from hra.model.hierarchy import Hierarchy

if TYPE_CHECKING:
    from hra.domains.meshes.mesh.cluster_mesh import ClusterMesh

Sections = Mapping[str, tuple[Kind, np.ndarray]]


@dataclass(frozen=True, eq=False)
class Body:
    """The parts of a file.

    Attributes
    ----------
    version : of the format.
    tables : sections by name; zeros hold the place of what is known only when pages are written.
    streams : arrays [V, ...] in the forms in which readers give them.
    pages : the bytes of one page after the other.
    """

    version: int
    tables: dict[str, tuple[Kind, np.ndarray]]
    streams: dict[str, np.ndarray]
    pages: Iterable[bytes]


def plain(mesh: ClusterMesh) -> Body:
    """All values to the bit, vertices of each cluster for themselves, pages in the order of groups."""
    used, indices = _used_vertices(mesh)
    streams = {name: portable(array[used]) for name, array in vertex_streams(mesh).items()}
    order = storage_order(mesh.hierarchy.added_by)
    packed = _packed(mesh, indices, order)
    vertex_bytes = 4 + sum(array.nbytes for array in streams.values()) // len(used)
    ends = packed.page_ends(mesh.hierarchy.added_by[order], vertex_bytes, PAGE_BYTES)
    offsets = packed.vertex_offsets * vertex_bytes + packed.corner_offsets
    sizes = np.diff(offsets[ends], prepend=0)
    tables = _cluster_tables(mesh, streams[POSITION]) | _page_tables(ends, sizes)
    return Body(PLAIN, tables, streams, packed.pages(ends, streams))


def compressed(mesh: ClusterMesh, grid_bits: int) -> Body:
    """Positions on one grid, vertices of each page once, in compressed form; near groups share a page."""
    mesh, grid = on_grid(mesh, grid_bits)
    used, indices = _used_vertices(mesh)
    carried = vertex_streams(mesh)
    vertex_bytes = slot_vertex_bytes(sum(a.nbytes for n, a in carried.items() if n != POSITION) // len(mesh.positions))
    vertices = mesh.hierarchy.attribute("vertex_count").astype(np.int64)
    cluster_bytes = vertices * vertex_bytes + 3 * mesh.triangles_per_cluster
    order = near_order(mesh.hierarchy, cluster_bytes, SLOT_BYTES)
    packed, renamed = _packed(mesh, indices, order).by_first_use()
    streams = {name: portable(array[used[renamed]]) for name, array in carried.items()}
    ends = packed.page_ends(_runs(mesh.hierarchy.added_by[order]), vertex_bytes, SLOT_BYTES)
    places = streams | {POSITION: grid.snap(streams[POSITION])}
    pages = list(_compressed_pages(packed, ends, places))
    tables = _cluster_tables(mesh, streams[POSITION]) | _page_tables(ends, np.array([len(page) for page in pages]))
    stored = np.empty(len(order), "<i4")
    stored[order] = np.arange(len(order), dtype="<i4")
    tables["stored"] = Kind.CLUSTER, stored
    tables["grid"] = Kind.BLOCK, np.array([*grid.origin, grid.step], "<f8")
    return Body(COMPRESSED, tables, streams, pages)


def _compressed_pages(packed: Packed, ends: np.ndarray, streams: Mapping[str, np.ndarray]) -> Iterator[bytes]:
    """The bytes of the pages that end at ``ends`` [P], each vertex once; ``streams`` are over the mesh's vertices."""
    begin = 0
    for end in ends.tolist():
        indices = packed.indices(begin, end)
        distinct, rows = local_vertices(indices)
        carried = {"": distinct, **{name: stream[distinct] for name, stream in streams.items()}}
        yield encode_page(indices, rows, carried)
        begin = end


def _runs(groups: np.ndarray) -> np.ndarray:
    """Rising numbers of runs of equal ``groups`` [N]."""
    return np.cumsum(np.diff(groups, prepend=groups[:1]) != 0)


def _used_vertices(mesh: ClusterMesh) -> tuple[np.ndarray, np.ndarray]:
    """The vertices that some cluster uses, and the indices as places among them."""
    used = np.zeros(len(mesh.positions), bool)
    used[mesh.indices] = True
    if used.all():
        return np.arange(len(used)), mesh.indices
    number = np.cumsum(used, dtype=np.int64) - 1
    return np.flatnonzero(used), number[mesh.indices].astype(np.uint32)


def _packed(mesh: ClusterMesh, indices: np.ndarray, order: np.ndarray) -> Packed:
    """The clusters in storage ``order``, each with vertices of its own."""
    packed = Packed.of(indices, mesh.offsets, order)
    if np.diff(packed.vertex_offsets).max() > MAX_CLUSTER_VERTICES:
        raise MeshError(f"a cluster has more than {MAX_CLUSTER_VERTICES} vertices", fix="use a smaller cluster_size")
    return packed


def _cluster_tables(mesh: ClusterMesh, positions: np.ndarray) -> dict[str, tuple[Kind, np.ndarray]]:
    hierarchy = mesh.hierarchy
    columns = {
        "added_by": hierarchy.added_by,
        "removed_by": hierarchy.removed_by,
        "triangle_count": mesh.triangles_per_cluster.astype("<u2"),
        **dict(sorted(hierarchy.node.items())),
    }
    bounds = np.stack([positions.min(axis=0), positions.max(axis=0)])
    return {"bounds": (Kind.BLOCK, bounds)} | {
        name: (Kind.CLUSTER, portable(column)) for name, column in columns.items()
    }


def _page_tables(ends: np.ndarray, sizes: np.ndarray) -> dict[str, tuple[Kind, np.ndarray]]:
    """What is known of pages before they are written; zeros hold the place of the rest."""
    columns = {
        "page_end": ends.astype("<u4"),
        "page_bytes": sizes.astype("<u4"),
        "page_offset": np.zeros(len(ends), "<u8"),
        "page_crc": np.zeros(len(ends), "<u4"),
    }
    return {name: (Kind.PAGE, column) for name, column in columns.items()}


def near_order(hierarchy: Hierarchy, cluster_bytes: np.ndarray, limit: int) -> np.ndarray:
    """Clusters [N] in the order of pages: the base, then groups by level, near groups in one page.

    Views want a part of a level, so what lies together is wanted together; coarse levels come first, so that whatever a
    group refines lies in the same page or before it.

    Parameters
    ----------
    cluster_bytes : int64 [N]; limit : bytes of a page.
    """
    groups, rank = len(hierarchy), np.empty(len(hierarchy) + 1, np.int64)
    member = np.flatnonzero(hierarchy.added_by >= 0)
    added_by = hierarchy.added_by[member]
    size = np.bincount(added_by, cluster_bytes[member], groups).astype(np.int64)
    center, count = hierarchy.attribute("center")[member].astype(np.float64), np.bincount(added_by, minlength=groups)
    middle = np.stack([np.bincount(added_by, center[:, axis], groups) / count for axis in range(3)], axis=1)
    base = int(cluster_bytes[hierarchy.added_by < 0].sum())
    rank[_near_order(hierarchy.level_offsets, middle.reshape(-1, 3), size, base, limit)] = np.arange(groups)
    rank[-1] = -1
    return np.argsort(rank[hierarchy.added_by], kind="stable")


@njit(cache=True)
def _near_order(levels, middle, size, used, limit):
    """Groups [R] in the order of pages, the first of which holds ``used`` bytes already."""
    order, taken = np.empty(size.size, np.int64), np.zeros(size.size, np.bool_)
    here, placed, fresh = np.zeros(3), 0, True
    for level in range(levels.size - 1):
        for _ in range(levels[level], levels[level + 1]):
            best, nearest = -1, np.inf
            for g in range(levels[level], levels[level + 1]):
                if not taken[g] and used + size[g] <= limit:
                    distance = 0.0 if fresh else ((middle[g] - here) ** 2).sum()
                    if distance < nearest:
                        best, nearest = g, distance
            if best < 0:  # nothing fits: a new page begins with the first group that is left
                best = levels[level]
                while taken[best]:
                    best += 1
                used, fresh = 0, True
            # Half of the way to the newest group: pages grow around their middle, not away from it.
            here = middle[best] if fresh else 0.5 * (here + middle[best])
            order[placed], taken[best], fresh = best, True, False
            used += size[best]
            placed += 1
    return order

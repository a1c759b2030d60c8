"""A cluster mesh as the bytes of an asset."""

from __future__ import annotations

import zlib
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from hra.domains.meshes.asset.info import info_sections
from hra.domains.meshes.asset.layout import (
    ENTRY_BYTES,
    HEADER_BYTES,
    MAX_CLUSTER_VERTICES,
    PAGE_ALIGNMENT,
    PAGE_BYTES,
    SECTION_ALIGNMENT,
    SUFFIXES,
    AssetHeader,
    Entry,
    Kind,
    align,
    portable,
)
from hra.domains.meshes.asset.packing import Packed, storage_order
from hra.domains.meshes.asset.streams import vertex_streams
from hra.domains.meshes.ragged import run_offsets
from hra.errors import FileError, MeshError
from hra.safety.atomic_write import write_atomically

if TYPE_CHECKING:
    from hra.domains.meshes.cluster_mesh import ClusterMesh

Sections = Mapping[str, tuple[Kind, np.ndarray]]


def save(mesh: ClusterMesh, path: str | Path) -> None:
    """Write ``mesh`` in one step. Equal meshes give equal bytes, but for the block that holds the build report.

    Vertices that no cluster uses are left out. Costs are not kept: files are read with costs in triangles.

    Raises
    ------
    FileError : another suffix than ``.hra``, or the file cannot be written.
    MeshError : a cluster has more than 256 vertices.
    """
    if Path(path).suffix.lower() not in SUFFIXES:
        raise FileError("cluster meshes are written as .hra", where=str(path), fix="give the file the suffix .hra")
    write_atomically(path, asset_bytes(mesh))


def asset_bytes(mesh: ClusterMesh) -> bytearray:
    """The content of the file that `save` writes."""
    used, indices = _used_vertices(mesh)
    streams = {name: portable(array[used]) for name, array in vertex_streams(mesh).items()}
    order, packed = _pack(mesh, indices)
    vertex_bytes = 4 + sum(array.nbytes for array in streams.values()) // len(used)
    ends = packed.page_ends(mesh.hierarchy.added_by[order], vertex_bytes, PAGE_BYTES)
    tables = _tables(mesh, streams["position"]) | _page_tables(packed, ends, vertex_bytes)
    blocks = info_sections(mesh)
    entry_count = len(tables) + len(blocks) + len(streams)
    # Tables, pages, and last what varies in length from one build to the next, so that it moves nothing else.
    table_at, end = _places(HEADER_BYTES + ENTRY_BYTES * entry_count, _sizes(tables), SECTION_ALIGNMENT)
    page_at, end = _places(end, tables["page_bytes"][1].tolist(), PAGE_ALIGNMENT)
    block_at, end = _places(end, _sizes(blocks), SECTION_ALIGNMENT)
    content = bytearray(end)
    tables["page_offset"] = Kind.PAGE, np.array(page_at, "<u8")
    tables["page_crc"] = Kind.PAGE, _write_pages(content, page_at, packed.pages(ends, streams))
    entries = _write_sections(content, {**tables, **blocks}, [*table_at, *block_at])
    entries += [
        Entry(name, array.dtype, array.shape[1:], Kind.VERTEX, 0, len(used), 0) for name, array in streams.items()
    ]
    directory = b"".join(entry.pack() for entry in entries)
    counts = len(used), indices.size // 3, len(order), len(ends), entry_count
    content[HEADER_BYTES : HEADER_BYTES + len(directory)] = directory
    content[:HEADER_BYTES] = AssetHeader(end, *counts, zlib.crc32(directory)).pack()
    return content


def _used_vertices(mesh: ClusterMesh) -> tuple[np.ndarray, np.ndarray]:
    """The vertices that some cluster uses, and the indices as places among them."""
    used = np.zeros(len(mesh.positions), bool)
    used[mesh.indices] = True
    if used.all():
        return np.arange(len(used)), mesh.indices
    number = np.cumsum(used, dtype=np.int64) - 1
    return np.flatnonzero(used), number[mesh.indices].astype(np.uint32)


def _pack(mesh: ClusterMesh, indices: np.ndarray) -> tuple[np.ndarray, Packed]:
    """The storage order of the clusters, and the clusters packed in that order."""
    order = storage_order(mesh.hierarchy.added_by)
    packed = Packed.of(indices, mesh.offsets, order)
    if np.diff(packed.vertex_offsets).max() > MAX_CLUSTER_VERTICES:
        raise MeshError(f"a cluster has more than {MAX_CLUSTER_VERTICES} vertices", fix="use a smaller cluster_size")
    return order, packed


def _tables(mesh: ClusterMesh, positions: np.ndarray) -> dict[str, tuple[Kind, np.ndarray]]:
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


def _page_tables(packed: Packed, ends: np.ndarray, vertex_bytes: int) -> dict[str, tuple[Kind, np.ndarray]]:
    """What is known of pages before they are written; zeros hold the place of the rest."""
    offsets = packed.vertex_offsets * vertex_bytes + packed.corner_offsets
    columns = {
        "page_end": ends.astype("<u4"),
        "page_bytes": np.diff(offsets[ends], prepend=0).astype("<u4"),
        "page_offset": np.zeros(len(ends), "<u8"),
        "page_crc": np.zeros(len(ends), "<u4"),
    }
    return {name: (Kind.PAGE, column) for name, column in columns.items()}


def _sizes(sections: Sections) -> list[int]:
    return [array.nbytes for _, array in sections.values()]


def _places(begin: int, sizes: list[int], unit: int) -> tuple[list[int], int]:
    """Where parts of these sizes begin, each at a multiple of ``unit``, and where the last one ends."""
    ends = run_offsets(np.array([align(size, unit) for size in sizes], np.int64)) + align(begin, unit)
    return ends[:-1].tolist(), int(ends[-2]) + sizes[-1]


def _write_pages(content: bytearray, offsets: list[int], pages: Iterable[bytes]) -> np.ndarray:
    """The checksums of the pages."""
    sums = []
    for offset, page in zip(offsets, pages, strict=True):
        content[offset : offset + len(page)] = page
        sums.append(zlib.crc32(page))
    return np.array(sums, "<u4")


def _write_sections(content: bytearray, sections: Sections, offsets: list[int]) -> list[Entry]:
    entries = []
    for (name, (kind, array)), offset in zip(sections.items(), offsets, strict=True):
        data = array.tobytes()
        content[offset : offset + len(data)] = data
        entries.append(Entry(name, array.dtype, array.shape[1:], kind, offset, len(array), zlib.crc32(data)))
    return entries

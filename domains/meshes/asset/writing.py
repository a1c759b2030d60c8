"""A cluster mesh as the bytes of an asset."""

from __future__ import annotations

import zlib
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from hra.domains.meshes.asset.body import Sections, compressed, plain
from hra.domains.meshes.asset.info import info_sections
from hra.domains.meshes.asset.layout import (
    ENTRY_BYTES,
    HEADER_BYTES,
    PAGE_ALIGNMENT,
    SECTION_ALIGNMENT,
    SUFFIXES,
    AssetHeader,
    Entry,
    Kind,
    align,
)
from hra.domains.meshes.mesh.ragged import run_offsets
from hra.errors import FileError
from hra.files.atomic_write import write_atomically

if TYPE_CHECKING:
    from hra.domains.meshes.mesh.cluster_mesh import ClusterMesh


def save(mesh: ClusterMesh, path: str | Path, grid_bits: int | None = None) -> None:
    """Write ``mesh`` in one step. Equal meshes give equal bytes, but for the block that holds the build report.

    Vertices that no cluster uses are left out. Costs are not kept: files are read with costs in triangles.

    Parameters
    ----------
    grid_bits : None keeps all positions to the bit. 8 to 16 moves vertices to a grid of so many bits along the longest
        axis, compresses the pages, and orders them for streaming; bounds in the file then count the way of vertices.

    Raises
    ------
    FileError : another suffix than ``.hra``, or the file cannot be written.
    MeshError : a cluster has more than 256 vertices, or another number of bits.

    Warns
    -----
    RepairWarning : vertices at different positions fell together on the grid.
    """
    if Path(path).suffix.lower() not in SUFFIXES:
        raise FileError("cluster meshes are written as .hra", where=str(path), fix="use the suffix .hra")
    write_atomically(path, asset_bytes(mesh, grid_bits))


def asset_bytes(mesh: ClusterMesh, grid_bits: int | None = None) -> bytearray:
    """The content of the file that `save` writes."""
    body = plain(mesh) if grid_bits is None else compressed(mesh, grid_bits)
    tables, blocks, streams = body.tables, info_sections(mesh), body.streams
    entry_count = len(tables) + len(blocks) + len(streams)
    # Tables, pages, and last what varies in length from one build to the next, so that it moves nothing else.
    table_at, end = places(HEADER_BYTES + ENTRY_BYTES * entry_count, _sizes(tables), SECTION_ALIGNMENT)
    page_at, end = places(end, tables["page_bytes"][1].tolist(), PAGE_ALIGNMENT)
    block_at, end = places(end, _sizes(blocks), SECTION_ALIGNMENT)
    content = bytearray(end)
    tables["page_offset"] = Kind.PAGE, np.array(page_at, "<u8")
    tables["page_crc"] = Kind.PAGE, _write_pages(content, page_at, body.pages)
    entries = _write_sections(content, {**tables, **blocks}, [*table_at, *block_at])
    rows = len(streams["position"])
    entries += [Entry(name, array.dtype, array.shape[1:], Kind.VERTEX, 0, rows, 0) for name, array in streams.items()]
    directory = b"".join(entry.pack() for entry in entries)
    counts = rows, mesh.indices.size // 3, len(mesh.offsets) - 1, len(page_at), entry_count
    content[HEADER_BYTES : HEADER_BYTES + len(directory)] = directory
    content[:HEADER_BYTES] = AssetHeader(end, *counts, zlib.crc32(directory), body.version).pack()
    return content


def _sizes(sections: Sections) -> list[int]:
    return [array.nbytes for _, array in sections.values()]


def places(begin: int, sizes: list[int], unit: int) -> tuple[list[int], int]:
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

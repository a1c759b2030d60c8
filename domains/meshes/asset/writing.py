"""A cluster mesh as the bytes of an asset: at once, or page by page where it is larger than memory."""

from __future__ import annotations

import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import IO, TYPE_CHECKING

import numpy as np

from hra.domains.meshes.asset.body import Sections, compressed, plain
from hra.domains.meshes.asset.info import info_sections
from hra.domains.meshes.asset.layout import (
    ENTRY_BYTES,
    HEADER_BYTES,
    ORIGIN,
    PAGE_ALIGNMENT,
    PLAIN,
    SECTION_ALIGNMENT,
    SUFFIXES,
    WITH_ORIGIN,
    AssetHeader,
    Entry,
    Kind,
    align,
)
from hra.domains.meshes.mesh.ragged import run_offsets
from hra.errors import FileError
from hra.files.atomic_write import write_atomically
from hra.files.local_files import local_path

if TYPE_CHECKING:
    from hra.domains.meshes.mesh.cluster_mesh import ClusterMesh

_PAGE_TABLES = {"page_end": "<u4", "page_bytes": "<u4", "page_offset": "<u8", "page_crc": "<u4"}


def save(mesh: ClusterMesh, path: str | Path, grid_bits: int | None = None) -> None:
    """Write ``mesh`` in one step. Equal meshes give equal bytes, except for the block that holds the build report.

    Vertices that no cluster uses are left out. Costs are not kept: files are read with costs in triangles.

    Parameters
    ----------
    grid_bits : None keeps all positions to the bit. 8 to 16 moves vertices to a grid of that many bits on the longest
        axis, compresses the pages, and orders them for streaming; bounds in the file then count the way of vertices.

    Raises
    ------
    FileError : another suffix than ``.hra``, or the file cannot be written.
    MeshError : a cluster has more than 256 vertices, or another number of bits.

    Warns
    -----
    RepairWarning : vertices at different positions fell together on the grid.
    """
    if local_path(path).suffix.lower() not in SUFFIXES:
        raise FileError("cluster meshes are written as .hra", where=str(path), fix="use the suffix .hra")
    write_atomically(path, asset_bytes(mesh, grid_bits))


def asset_bytes(mesh: ClusterMesh, grid_bits: int | None = None) -> bytearray:
    """The content of the file that `save` writes."""
    body = plain(mesh) if grid_bits is None else compressed(mesh, grid_bits)
    tables, blocks, streams = {**body.tables, **origin_section(mesh.origin)}, info_sections(mesh), body.streams
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
    content[:HEADER_BYTES] = AssetHeader(
        end, *counts, zlib.crc32(directory), body.version + WITH_ORIGIN * any(mesh.origin)
    ).pack()
    return content


def origin_section(origin: tuple[float, float, float]) -> Sections:
    """The section of an origin, none for zeros."""
    return {ORIGIN: (Kind.BLOCK, np.array([origin], "<f8"))} if any(origin) else {}


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


@dataclass(frozen=True)
class Table:
    """A section whose blocks are made when they are written."""

    kind: Kind
    dtype: np.dtype
    shape: tuple[int, ...]
    rows: int
    make: Callable[[], Iterable[np.ndarray]]

    @property
    def nbytes(self) -> int:
        """Its length in the file."""
        return self.rows * int(np.prod(self.shape, dtype=np.int64)) * self.dtype.itemsize


@dataclass(frozen=True, eq=False)
class StreamedBody:
    """The parts of a plain file.

    Attributes
    ----------
    tables : of clusters; blocks : the last ones of the file, but "bounds", which is the first of all.
    streams : types and shapes of what vertices carry.
    page_ends : int64 [P], clusters; page_sizes : int64 [P], bytes; pages : makes them.
    vertices, triangles : of all ``clusters``. origin : what positions count from.
    """

    tables: Mapping[str, Table]
    blocks: Mapping[str, np.ndarray]
    streams: Mapping[str, tuple[np.dtype, tuple[int, ...]]]
    page_ends: np.ndarray
    page_sizes: np.ndarray
    pages: Callable[[], Iterator[bytes]]
    vertices: int
    triangles: int
    clusters: int
    origin: tuple[float, float, float] = (0.0, 0.0, 0.0)


def write_streamed(stream: IO[bytes], body: StreamedBody) -> None:
    """Write the bytes that `asset_bytes` makes of the same mesh, holding one block or page at a time."""
    ends, sizes = body.page_ends, body.page_sizes
    pages: dict[str, np.ndarray] = {"page_end": ends, "page_bytes": sizes}
    tables = {"bounds": _block(body.blocks["bounds"]), **body.tables}
    tables |= {name: _page_table(pages, name, len(ends)) for name in _PAGE_TABLES}
    tables |= {name: _block(rows) for name, (_, rows) in origin_section(body.origin).items()}
    last = {name: _block(array) for name, array in body.blocks.items() if name != "bounds"}
    count = len(tables) + len(last) + len(body.streams)
    table_at, end = places(HEADER_BYTES + ENTRY_BYTES * count, [t.nbytes for t in tables.values()], SECTION_ALIGNMENT)
    page_at, end = places(end, sizes.tolist(), PAGE_ALIGNMENT)
    block_at, end = places(end, [t.nbytes for t in last.values()], SECTION_ALIGNMENT)
    pages["page_offset"] = np.array(page_at, "<u8")
    pages["page_crc"] = _stream_pages(stream, page_at, body.pages())
    entries = [
        _write(stream, name, table, offset)
        for (name, table), offset in zip({**tables, **last}.items(), [*table_at, *block_at], strict=True)
    ]
    entries += [Entry(name, *form, Kind.VERTEX, 0, body.vertices, 0) for name, form in body.streams.items()]
    directory = b"".join(entry.pack() for entry in entries)
    counts = body.vertices, body.triangles, body.clusters, len(ends), count
    stream.seek(0)
    version = PLAIN + WITH_ORIGIN * any(body.origin)
    stream.write(AssetHeader(end, *counts, zlib.crc32(directory), version).pack() + directory)


def _block(array: np.ndarray) -> Table:
    return Table(Kind.BLOCK, array.dtype, array.shape[1:], len(array), lambda: [array])


def _page_table(pages: Mapping[str, np.ndarray], name: str, rows: int) -> Table:
    return Table(Kind.PAGE, np.dtype(_PAGE_TABLES[name]), (), rows, lambda: [pages[name]])


def _stream_pages(stream: IO[bytes], offsets: list[int], pages: Iterator[bytes]) -> np.ndarray:
    sums = []
    for offset, page in zip(offsets, pages, strict=True):
        stream.seek(offset)
        stream.write(page)
        sums.append(zlib.crc32(page))
    return np.array(sums, "<u4")


def _write(stream: IO[bytes], name: str, table: Table, offset: int) -> Entry:
    crc = 0
    stream.seek(offset)
    for block in table.make():
        data = np.ascontiguousarray(block, table.dtype).view(np.uint8).reshape(-1).data
        stream.write(data)
        crc = zlib.crc32(data, crc)
    return Entry(name, table.dtype, table.shape, table.kind, offset, table.rows, crc)

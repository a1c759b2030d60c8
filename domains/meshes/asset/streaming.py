"""An asset that is larger than memory, written block by block of a table, and page by page."""

from __future__ import annotations

import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import IO

import numpy as np

from hra.domains.meshes.asset.layout import (
    ENTRY_BYTES,
    HEADER_BYTES,
    PAGE_ALIGNMENT,
    SECTION_ALIGNMENT,
    AssetHeader,
    Entry,
    Kind,
)
from hra.domains.meshes.asset.writing import places

_PAGE_TABLES = {"page_end": "<u4", "page_bytes": "<u4", "page_offset": "<u8", "page_crc": "<u4"}


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
    vertices, triangles : of all ``clusters``.
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


def write_streamed(stream: IO[bytes], body: StreamedBody) -> None:
    """Write the bytes that `asset_bytes` makes of the same mesh, holding one block or page at a time."""
    ends, sizes = body.page_ends, body.page_sizes
    pages: dict[str, np.ndarray] = {"page_end": ends, "page_bytes": sizes}
    tables = {"bounds": _block(body.blocks["bounds"]), **body.tables}
    tables |= {name: _page_table(pages, name, len(ends)) for name in _PAGE_TABLES}
    last = {name: _block(array) for name, array in body.blocks.items() if name != "bounds"}
    count = len(tables) + len(last) + len(body.streams)
    table_at, end = places(HEADER_BYTES + ENTRY_BYTES * count, [t.nbytes for t in tables.values()], SECTION_ALIGNMENT)
    page_at, end = places(end, sizes.tolist(), PAGE_ALIGNMENT)
    block_at, end = places(end, [t.nbytes for t in last.values()], SECTION_ALIGNMENT)
    pages["page_offset"] = np.array(page_at, "<u8")
    pages["page_crc"] = _write_pages(stream, page_at, body.pages())
    entries = [
        _write(stream, name, table, offset)
        for (name, table), offset in zip({**tables, **last}.items(), [*table_at, *block_at], strict=True)
    ]
    entries += [Entry(name, *form, Kind.VERTEX, 0, body.vertices, 0) for name, form in body.streams.items()]
    directory = b"".join(entry.pack() for entry in entries)
    counts = body.vertices, body.triangles, body.clusters, len(ends), count
    stream.seek(0)
    stream.write(AssetHeader(end, *counts, zlib.crc32(directory)).pack() + directory)


def _block(array: np.ndarray) -> Table:
    return Table(Kind.BLOCK, array.dtype, array.shape[1:], len(array), lambda: [array])


def _page_table(pages: Mapping[str, np.ndarray], name: str, rows: int) -> Table:
    return Table(Kind.PAGE, np.dtype(_PAGE_TABLES[name]), (), rows, lambda: [pages[name]])


def _write_pages(stream: IO[bytes], offsets: list[int], pages: Iterator[bytes]) -> np.ndarray:
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

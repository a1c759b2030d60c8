"""An asset that is larger than memory, written table by table and page by page."""

from __future__ import annotations

import zlib
from collections.abc import Callable, Iterator, Mapping
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
    """A section that is made when it is written."""

    kind: Kind
    dtype: np.dtype
    shape: tuple[int, ...]
    rows: int
    make: Callable[[], np.ndarray]

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
    page_ends : int64 [P], clusters; pages : makes their bytes.
    page_offsets : int64 [N + 1], where each cluster would begin if pages were not aligned.
    vertices, triangles : of all clusters.
    """

    tables: Mapping[str, Table]
    blocks: Mapping[str, np.ndarray]
    streams: Mapping[str, tuple[np.dtype, tuple[int, ...]]]
    page_ends: np.ndarray
    pages: Callable[[np.ndarray], Iterator[bytes]]
    page_offsets: np.ndarray
    vertices: int
    triangles: int


def write_streamed(stream: IO[bytes], body: StreamedBody) -> None:
    """Write the bytes that `asset_bytes` makes of the same mesh, holding one table or page at a time."""
    ends = body.page_ends
    sizes = np.diff(body.page_offsets[ends], prepend=0)
    pages: dict[str, np.ndarray] = {"page_end": ends, "page_bytes": sizes}
    tables = {"bounds": _block(body.blocks["bounds"]), **body.tables}
    tables |= {name: _page_table(pages, name, len(ends)) for name in _PAGE_TABLES}
    last = {name: _block(array) for name, array in body.blocks.items() if name != "bounds"}
    count = len(tables) + len(last) + len(body.streams)
    table_at, end = places(HEADER_BYTES + ENTRY_BYTES * count, [t.nbytes for t in tables.values()], SECTION_ALIGNMENT)
    page_at, end = places(end, sizes.tolist(), PAGE_ALIGNMENT)
    block_at, end = places(end, [t.nbytes for t in last.values()], SECTION_ALIGNMENT)
    pages["page_offset"] = np.array(page_at, "<u8")
    pages["page_crc"] = _write_pages(stream, page_at, body.pages(ends))
    entries = [
        _write(stream, name, table, offset)
        for (name, table), offset in zip({**tables, **last}.items(), [*table_at, *block_at], strict=True)
    ]
    entries += [Entry(name, *form, Kind.VERTEX, 0, body.vertices, 0) for name, form in body.streams.items()]
    directory = b"".join(entry.pack() for entry in entries)
    counts = body.vertices, body.triangles, len(body.page_offsets) - 1, len(ends), count
    stream.seek(0)
    stream.write(AssetHeader(end, *counts, zlib.crc32(directory)).pack() + directory)


def _block(array: np.ndarray) -> Table:
    return Table(Kind.BLOCK, array.dtype, array.shape[1:], len(array), lambda: array)


def _page_table(pages: Mapping[str, np.ndarray], name: str, rows: int) -> Table:
    return Table(Kind.PAGE, np.dtype(_PAGE_TABLES[name]), (), rows, lambda: pages[name])


def _write_pages(stream: IO[bytes], offsets: list[int], pages: Iterator[bytes]) -> np.ndarray:
    sums = []
    for offset, page in zip(offsets, pages, strict=True):
        stream.seek(offset)
        stream.write(page)
        sums.append(zlib.crc32(page))
    return np.array(sums, "<u4")


def _write(stream: IO[bytes], name: str, table: Table, offset: int) -> Entry:
    data = np.ascontiguousarray(table.make(), table.dtype).view(np.uint8).reshape(-1).data
    stream.seek(offset)
    stream.write(data)
    return Entry(name, table.dtype, table.shape, table.kind, offset, table.rows, zlib.crc32(data))

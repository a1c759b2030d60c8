"""The fixed parts of a mesh asset, a header and a directory of sections; docs/mesh-format.md describes every byte."""

from __future__ import annotations

import struct
import zlib
from dataclasses import dataclass
from enum import IntEnum

import numpy as np

from hra.errors import ArrayError, FileError

SUFFIXES = (".hra",)
PLAIN, COMPRESSED = 1, 2
VERSIONS = (PLAIN, COMPRESSED)
# A byte above 127, both line ends and end-of-file: what transfers as text damage first (the signature of PNG).
MAGIC = b"\x89HRA\r\n\x1a\n"
# Pages are at most this long, and begin at multiples of the unit in which systems map and read files.
PAGE_BYTES = 2**17
# Compressed pages are smaller, so that what is held follows the view more closely; see docs/residency.md.
SLOT_BYTES = 2**15
PAGE_ALIGNMENT = 4096
SECTION_ALIGNMENT = 64
# Corners name the vertices of their cluster by one byte.
MAX_CLUSTER_VERTICES = 256
MAX_SECTIONS = 64
REBUILD = "build it again: hra mesh build SOURCE -o MESH.hra"

_BYTE_ORDER = 0x01020304
_HEADER = struct.Struct("<8sIIQQQIIIIII")
_ENTRY = struct.Struct("<16s4sHHQQII")
HEADER_BYTES, ENTRY_BYTES = _HEADER.size, _ENTRY.size
_TYPES = ("<f4", "<f8", "<i4", "<i8", "<u2", "<u4", "<u8", "|u1")


class Kind(IntEnum):
    """What the rows of a section are."""

    BLOCK = 0
    CLUSTER = 1
    PAGE = 2
    VERTEX = 3


@dataclass(frozen=True)
class AssetHeader:
    """The first 64 bytes, less what only serves to check them.

    Attributes
    ----------
    file_bytes : length of the file.
    vertices, triangles : of all levels together.
    clusters, pages, sections : how many there are.
    directory_crc : CRC-32 of the directory, which follows the header.
    version : 1 for plain pages, 2 for compressed ones.
    """

    file_bytes: int
    vertices: int
    triangles: int
    clusters: int
    pages: int
    sections: int
    directory_crc: int
    version: int = PLAIN

    def pack(self) -> bytes:
        """The bytes of the header."""
        counts = (self.file_bytes, self.vertices, self.triangles, self.clusters, self.pages, self.sections)
        body = _HEADER.pack(MAGIC, _BYTE_ORDER, self.version, *counts, self.directory_crc, 0, 0)[:-4]
        return body + struct.pack("<I", zlib.crc32(body))

    @classmethod
    def parse(cls, data: memoryview, where: str) -> AssetHeader:
        """The header of a whole file.

        Raises
        ------
        FileError : too short, another format, byte order, version or length, or a wrong checksum.
        """
        if bytes(data[:8]) != MAGIC:
            raise FileError("this is not a mesh asset: it begins with other bytes", where=where, fix=REBUILD)
        if len(data) < HEADER_BYTES:
            raise FileError("the mesh asset ends within its header", where=where, fix=REBUILD)
        _, order, version, *counts, reserved, crc = _HEADER.unpack_from(data)
        if order != _BYTE_ORDER:
            raise FileError("the mesh asset is not little-endian", where=where, fix=REBUILD)
        if version not in VERSIONS:
            fix = "update hra" if version > max(VERSIONS) else REBUILD
            raise FileError(f"version {version} of the mesh asset is not read, only 1 and 2", where=where, fix=fix)
        if crc != zlib.crc32(data[: HEADER_BYTES - 4]) or reserved:
            raise FileError("the header of the mesh asset is damaged", where=where, fix=REBUILD)
        header = cls(*counts, version=version)
        if header.file_bytes != len(data):
            claim = f"the mesh asset has {len(data)} bytes, its header says {header.file_bytes}"
            raise FileError(claim, where=where, fix="copy it again")
        return header


@dataclass(frozen=True)
class Entry:
    """A section: an array in the file or, for vertices, an array in every page.

    Attributes
    ----------
    name : ASCII, at most 16 characters.
    dtype : of its numbers.
    shape : of one row, at most two numbers.
    kind : what the rows are.
    offset, rows : where it begins and how many rows it has; for vertices 0 and the vertices of the whole mesh.
    crc : CRC-32 of its bytes, 0 for vertices, because every page has one of its own.
    """

    name: str
    dtype: np.dtype
    shape: tuple[int, ...]
    kind: Kind
    offset: int
    rows: int
    crc: int

    @property
    def row_bytes(self) -> int:
        """Bytes of one row."""
        return self.dtype.itemsize * int(np.prod(self.shape, dtype=np.int64))

    def pack(self) -> bytes:
        """The bytes of the entry."""
        columns, layers = (*self.shape, 0, 0)[:2]
        name, dtype = self.name.encode("ascii"), self.dtype.str.encode("ascii")
        return _ENTRY.pack(name, dtype, columns, layers, self.offset, self.rows, self.crc, self.kind)


def parse_directory(data: memoryview, header: AssetHeader, where: str) -> dict[str, Entry]:
    """The sections by name.

    Raises
    ------
    FileError : more sections than the file holds, a wrong checksum, or an entry that is none.
    """
    end = HEADER_BYTES + ENTRY_BYTES * header.sections
    directory = data[HEADER_BYTES:end]
    if header.sections > MAX_SECTIONS or end > len(data) or zlib.crc32(directory) != header.directory_crc:
        raise FileError("the directory of the mesh asset is damaged", where=where, fix=REBUILD)
    entries = [_parse_entry(values, where) for values in _ENTRY.iter_unpack(directory)]
    names = {entry.name: entry for entry in entries}
    if len(names) != len(entries):
        raise FileError("the mesh asset names a section twice", where=where, fix=REBUILD)
    return names


def _parse_entry(values: tuple, where: str) -> Entry:
    name, dtype, columns, layers, offset, rows, crc, kind = values
    text, code = (field.rstrip(b"\0").decode("latin-1") for field in (name, dtype))
    if (
        code not in _TYPES
        or kind not in set(Kind)
        or (layers and not columns)
        or not (text.isascii() and text.isidentifier())
    ):
        raise FileError(f"the section {text!r} of the mesh asset is of an unknown kind", where=where, fix=REBUILD)
    shape = tuple(size for size in (columns, layers) if size)
    return Entry(text, np.dtype(code), shape, Kind(kind), offset, rows, crc)


def align(offset: int, unit: int) -> int:
    """The least multiple of ``unit`` that is not below ``offset``."""
    return -(-offset // unit) * unit


def portable(array: np.ndarray) -> np.ndarray:
    """``array`` in a type that sections can have, little-endian.

    Raises
    ------
    ArrayError : of another type, or of more than three dimensions.
    """
    little = array.astype(array.dtype.newbyteorder("<"), copy=False)
    if little.dtype.str not in _TYPES or little.ndim not in (1, 2, 3):
        raise ArrayError(f"an array of {array.dtype} {array.shape} cannot be stored", fix=f"use one of {_TYPES}")
    return little

"""The fixed parts of a mesh asset, a header and a directory of sections, and the file that they lead through.

docs/mesh-format.md describes every byte. The file is mapped into memory; each section is checked when it is read.
"""

from __future__ import annotations

import mmap
import struct
import zlib
from dataclasses import dataclass
from enum import IntEnum
from pathlib import Path

import numpy as np

from hra.domains.meshes.files.read import checked_suffix
from hra.errors import ArrayError, FileError
from hra.files.local_files import open_regular

SUFFIXES = (".hra",)
# The stream that every mesh has.
POSITION = "position"
PLAIN, COMPRESSED = 1, 2
# Versions 3 and 4 are 1 and 2 of a mesh whose positions count from an origin, which earlier readers would lose.
WITH_ORIGIN = 2
VERSIONS = (1, 2, 3, 4)
# The block of it.
ORIGIN = "origin"
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
    version : 1 or 3 for plain pages, 2 or 4 for compressed ones; 3 and 4 with an origin.
    """

    file_bytes: int
    vertices: int
    triangles: int
    clusters: int
    pages: int
    sections: int
    directory_crc: int
    version: int = PLAIN

    @property
    def compressed(self) -> bool:
        """Whether pages are."""
        return self.version in (COMPRESSED, COMPRESSED + WITH_ORIGIN)

    @property
    def has_origin(self) -> bool:
        """Whether positions count from an origin."""
        return self.version > WITH_ORIGIN

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
            raise FileError(f"version {version} of the mesh asset is not read, only 1 to 4", where=where, fix=fix)
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


@dataclass(frozen=True, eq=False)
class MappedFile:
    """The bytes of a file with a sound header and directory.

    The file may be replaced by `os.replace` while it is mapped, which `save` does; it must not be written in place.

    Attributes
    ----------
    data : the whole file; header, entries : what it says about itself; where : its path, for messages.
    path : the same, absolute, so that it leads to the file from other working folders.
    """

    data: memoryview
    header: AssetHeader
    entries: dict[str, Entry]
    where: str
    path: Path

    def error(self, what: str) -> FileError:
        """An error about this file."""
        return FileError(what, where=self.where, fix=REBUILD)

    def names(self, kind: Kind) -> list[str]:
        """The sections of one kind, as the directory has them."""
        return [name for name, entry in self.entries.items() if entry.kind == kind]

    def section(self, name: str, kind: Kind, dtype: str | None = None, shape: tuple[int, ...] = ()) -> np.ndarray:
        """One section [rows, *shape], read-only and not copied.

        Parameters
        ----------
        dtype, shape : of what is expected; None for any.

        Raises
        ------
        FileError : it is missing, of another kind, type or shape, reaches out of the file, or its checksum is wrong.
        """
        entry = self.entries.get(name)
        if entry is None or entry.kind != kind:
            raise self.error(f"the mesh asset lacks the section {name!r}")
        if dtype is not None and (entry.dtype.str, entry.shape) != (dtype, shape):
            raise self.error(f"the section {name!r} holds {entry.dtype} {entry.shape}, not {dtype} {shape}")
        if entry.offset % SECTION_ALIGNMENT:
            raise self.error(f"the section {name!r} of the mesh asset begins at an odd place")
        data = self.span(entry.offset, entry.rows * entry.row_bytes, f"the section {name!r}")
        if zlib.crc32(data) != entry.crc:
            raise self.error(f"the section {name!r} of the mesh asset is damaged")
        return np.frombuffer(data, entry.dtype).reshape(entry.rows, *entry.shape)

    def span(self, offset: int, size: int, what: str) -> memoryview:
        """Some bytes of the file.

        Raises
        ------
        FileError : they reach out of the file.
        """
        if offset + size > len(self.data):
            raise self.error(f"{what} of the mesh asset reaches beyond the end of the file")
        return self.data[offset : offset + size]


def map_file(path: str | Path) -> MappedFile:
    """Map a mesh asset into memory and check its header and directory.

    Raises
    ------
    FileError : missing, unreadable, another suffix or format, truncated, too long, of another version, or damaged.
    """
    where = str(path)
    try:
        with open_regular(checked_suffix(path, SUFFIXES)) as stream:
            data = memoryview(mmap.mmap(stream.fileno(), 0, access=mmap.ACCESS_READ))
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or error
        raise FileError(f"the mesh asset cannot be read: {reason}", where=where, fix=REBUILD) from error
    header = AssetHeader.parse(data, where)
    absolute = Path(path).absolute()
    return MappedFile(data, header, parse_directory(data, header, where), where, absolute)

"""An asset file in memory-mapped form: sections and pages by name and number, each checked when it is read."""

from __future__ import annotations

import mmap
import zlib
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from hra.domains.meshes.asset.layout import (
    REBUILD,
    SECTION_ALIGNMENT,
    SUFFIXES,
    AssetHeader,
    Entry,
    Kind,
    parse_directory,
)
from hra.domains.meshes.files.read import checked_suffix
from hra.errors import FileError
from hra.files.local_files import open_regular


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

"""Archives of arrays that hold no pickles: NumPy writes them, and a reader without a parser of Python reads them.

A ``.npy`` entry is a magic string, the length of its header and the header, a line of text with three keys, then the
numbers (NumPy enhancement proposal 1). NumPy reads that line as a Python literal, which fails in undocumented ways and
takes as much memory as the line asks for. Here one pattern reads it, and what it says must fit the entry's size before
memory is taken.
"""

from __future__ import annotations

import os
import re
import zipfile
import zlib
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from math import prod
from struct import error as StructError
from typing import IO

import numpy as np

from hra.errors import ArrayError, FileError

_MAGIC = b"\x93NUMPY\x01\x00"
# Headers of four dimensions are shorter; those of NumPy are padded to 128 bytes or less with the magic string.
_LONGEST_HEADER = 256
_TYPES = rb"\|b1|\|[iu]1|<[iu][248]|<f(?:2|4|8|16)|<U[1-9]\d{0,2}"
_SIZE = rb"(?:0|[1-9]\d{0,11})"
_SHAPE = _SIZE + rb",|" + _SIZE + rb"(?:, " + _SIZE + rb"){1,3}|"
_HEADER = re.compile(
    rb"\{'descr': '(" + _TYPES + rb")', 'fortran_order': (False|True), 'shape': \((" + _SHAPE + rb")\), \} *\n"
)
_PART = 2**22  # bytes that are read at a time
_DAMAGE = (
    ValueError, ArithmeticError, IndexError, EOFError, OSError, NotImplementedError, StructError, zlib.error,
    zipfile.BadZipFile, zipfile.LargeZipFile,
    RuntimeError,  # an entry that says that it is encrypted
)  # fmt: skip


def save_plain(stream: IO[bytes], arrays: Mapping[str, np.ndarray], *, compressed: bool = False) -> None:
    """Write arrays of numbers and texts as ``.npz``.

    ``numpy.savez`` has an argument for that from NumPy 2.2 on, and before it writes the argument as an array.

    Raises
    ------
    ArrayError : an array of objects, which NumPy would pickle.
    """
    for name, array in arrays.items():
        if array.dtype.hasobject:
            raise ArrayError("an array of objects cannot be saved", where=name, fix="pass numbers or texts")
    (np.savez_compressed if compressed else np.savez)(stream, **arrays)  # pyright: ignore[reportArgumentType]


class PlainArchive:
    """The entries of a ``.npz`` that is open, each read when it is asked for.

    Attributes
    ----------
    names : of the arrays, in the order of the file; unpacked : bytes that all entries state to unpack to.
    """

    def __init__(self, archive: zipfile.ZipFile) -> None:
        self._archive = archive
        self._entries = {entry.filename: entry for entry in archive.infolist()}
        if len(self._entries) < len(archive.infolist()):
            raise FileError("the archive has two entries of one name", fix="save it again")
        self.names = [name[:-4] for name in self._entries if name.endswith(".npy")]
        self.others = [name for name in self._entries if not name.endswith(".npy")]
        self.unpacked = sum(entry.file_size for entry in self._entries.values())

    def size(self, entry: str) -> int:
        """Bytes that an entry states to unpack to.

        Raises
        ------
        FileError : it is missing, or packed by a method that takes memory of its own accord.
        """
        found = self._entries.get(entry)
        if found is None:
            raise FileError(f"the archive lacks {entry.removesuffix('.npy')}", fix="save it again")
        if found.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
            raise FileError("an entry is packed by a method that is not read", where=entry[:60], fix="save it again")
        return found.file_size

    def content(self, entry: str) -> bytes:
        """The bytes of an entry.

        Raises
        ------
        FileError : see `size`; or it is damaged.
        """
        self.size(entry)
        with _as_file_error(entry):
            return self._archive.read(entry)

    def array(self, name: str) -> np.ndarray:
        """The array ``name``, which is entry ``name.npy``.

        Raises
        ------
        FileError : see `content`; or it is not a plain array, or one of another size than the entry's.
        """
        size = self.size(f"{name}.npy")
        with _as_file_error(name), self._archive.open(f"{name}.npy") as stream:
            return _read_array(stream, size, name)


@contextmanager
def plain_archive(file: IO[bytes] | str | os.PathLike[str]) -> Iterator[PlainArchive]:
    """The ``.npz`` that ``file`` holds.

    Raises
    ------
    FileError : it is not an archive, or has two entries of one name.
    """
    with _as_file_error("archive"):
        archive = zipfile.ZipFile(file)
    with archive:
        yield PlainArchive(archive)


def _read_array(stream: IO[bytes], size: int, name: str) -> np.ndarray:
    """The array in a stream of ``size`` bytes."""
    prefix = stream.read(len(_MAGIC) + 2)
    length = int.from_bytes(prefix[len(_MAGIC) :], "little")
    if prefix[: len(_MAGIC)] != _MAGIC or length > _LONGEST_HEADER:
        raise FileError("an entry does not begin as an array does", where=name, fix="save it again")
    found = _HEADER.fullmatch(stream.read(length))
    if found is None:
        raise FileError("the header of an array is not one of numbers or texts", where=name, fix="save it again")
    kind, shape = np.dtype(found[1].decode()), tuple(map(int, found[3].replace(b",", b" ").split()))
    count = prod(shape)
    if len(prefix) + length + count * kind.itemsize != size:
        what = f"{size:,} bytes do not hold an array of shape {shape}"
        raise FileError(what, where=name, fix="save it again")
    array = np.empty(count, kind)
    _fill(array.view(np.uint8), stream, name)
    if kind.kind == "b" and (array.view(np.uint8) > 1).any():
        raise FileError("an array of truth values holds numbers other than 0 and 1", where=name, fix="save it again")
    return array.reshape(shape[::-1]).T if found[2] == b"True" else array.reshape(shape)


def _fill(whole: np.ndarray, stream: IO[bytes], name: str) -> None:
    at = 0
    while at < whole.size:
        part = stream.read(min(_PART, whole.size - at))
        if not part:
            raise FileError("an array ends early", where=name, fix="save it again")
        whole[at : at + len(part)] = np.frombuffer(part, np.uint8)
        at += len(part)
    stream.read(1)  # at its end an entry's checksum is compared


@contextmanager
def _as_file_error(name: str) -> Iterator[None]:
    try:
        yield
    except _DAMAGE as error:
        raise FileError(f"the archive is damaged: {error}", where=name[:60], fix="save it again") from error

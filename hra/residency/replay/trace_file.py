"""Trace files: a ``.npz`` archive with a JSON header; docs/trace-format.md describes every array."""

from __future__ import annotations

import io
import json
import os
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager

import numpy as np

from hra.errors import ArrayError, FileError, check_kind
from hra.files.atomic_write import write_atomically
from hra.files.json_text import parse_object
from hra.files.limits import DEFAULT, Limits, enough_memory
from hra.files.local_files import open_regular
from hra.files.plain_arrays import PlainArchive, plain_archive
from hra.residency.replay.trace import Trace

FORMAT = "hra-trace"
VERSION = 1
# What stands before the numbers of a .npy file of one dimension is 128 bytes; larger headers are not written.
_NPY_HEADER = 128
_TYPES = {"frames": "<i8", "demands": "<i4", "cost": "<i8", "weights": "<f8", "parents": "<i4"}
_NEEDED = ("frames", "demands", "cost")


def save_trace(path: str | os.PathLike[str], trace: Trace) -> None:
    """Write ``trace`` in one step.

    Raises
    ------
    FileError : the file cannot be written.
    HraError : something else in the place of the trace.
    """
    check_kind("trace", trace, Trace, "call save_trace(path, trace)")
    arrays = {name: getattr(trace, name) for name in _TYPES if getattr(trace, name) is not None}
    lengths = {name: int(array.size) for name, array in arrays.items()}
    header = {"format": FORMAT, "version": VERSION, "arrays": lengths}
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", zipfile.ZIP_STORED) as archive:
        # A fixed date: the same trace gives the same bytes.
        archive.writestr(zipfile.ZipInfo("header.json"), json.dumps(header))
        for name, array in arrays.items():
            member = io.BytesIO()
            np.lib.format.write_array(member, array.astype(_TYPES[name]), version=(1, 0), allow_pickle=False)
            archive.writestr(zipfile.ZipInfo(f"{name}.npy"), member.getvalue())
    write_atomically(path, stream.getvalue())


def load_trace(path: str | os.PathLike[str], *, limits: Limits = DEFAULT) -> Trace:
    """Read and check a trace.

    Raises
    ------
    FileError : the file is missing, truncated, of another format or version, its header does not match its arrays, or
        the arrays are not a valid trace. No more memory is taken than four times the file's size.
    LimitExceeded : larger than ``limits`` (`hra.files.limits.Limits`) allow.
    """
    where = str(path)
    with open_regular(path) as stream, enough_memory("the trace", where), _as_file_error(where):
        limits.check("file_bytes", os.fstat(stream.fileno()).st_size, where)
        with plain_archive(stream) as archive:
            lengths = _lengths(archive, where, limits)
            _refuse_bombs(archive, os.fstat(stream.fileno()).st_size, where)
            arrays = {name: _array(archive, name, length, where) for name, length in lengths.items()}
        return Trace(**arrays)


@contextmanager
def _as_file_error(where: str) -> Iterator[None]:
    fix = "record it again"
    try:
        yield
    except ArrayError as error:
        raise FileError(error.what, where=f"{where}, {error.where}", fix=error.fix or fix) from error
    except FileError as error:
        if where in error.where:
            raise
        raise type(error)(error.what, where=f"{where}, {error.where}".rstrip(", "), fix=fix) from error


def _lengths(archive: PlainArchive, where: str, limits: Limits) -> dict[str, int]:
    """Names and lengths of the arrays, as the header has them."""
    limits.check("header_bytes", archive.size("header.json"), where)
    header = parse_object(archive.content("header.json"), "header of the trace", where, limits)
    if header.get("format") != FORMAT:
        raise FileError("the file is not a trace: its header is another format's", where=where)
    if header.get("version") != VERSION:
        raise FileError(f"version {header.get('version')!r} of the format is unknown", where=where, fix="update hra")
    lengths = header.get("arrays")
    if not isinstance(lengths, dict) or not set(_NEEDED) <= set(lengths) <= set(_TYPES):
        raise FileError("the header does not list the arrays of a trace", where=where)
    if not all(type(length) is int and length >= 0 for length in lengths.values()):
        raise FileError("the header lists an invalid length", where=where)
    return lengths


def _refuse_bombs(archive: PlainArchive, size: int, where: str) -> None:
    if archive.unpacked > 4 * size:
        raise FileError(f"{size:,} bytes claim to hold {archive.unpacked:,}", where=where, fix="record it again")


def _array(archive: PlainArchive, name: str, length: int, where: str) -> np.ndarray:
    """One array, whose length, type and size in bytes must be those that the header says."""
    dtype = np.dtype(_TYPES[name])
    if archive.size(f"{name}.npy") != _NPY_HEADER + length * dtype.itemsize:
        raise FileError("the header does not match the array's size", where=f"{where}, {name}")
    array = archive.array(name)
    if array.shape != (length,) or array.dtype != dtype:
        raise FileError(f"expected {length} x {dtype}, got {array.dtype} {array.shape}", where=f"{where}, {name}")
    return array

"""Files of this machine opened for reading: regular ones, by a path, nothing that could block or never end."""

from __future__ import annotations

import errno
import os
import re
import stat
from collections.abc import Collection
from pathlib import Path
from typing import IO, Any

from hra.errors import FileError, HraWarning, warn
from hra.files.limits import DEFAULT, PATH_BYTES, Limits, enough_memory

# What `pathlib` makes of addresses: it takes the second slash away.
_ADDRESSES = ("http:/", "https:/", "ftp:/", "file:/", "s3:/", "gs:/")


def local_path(path: Any) -> Path:
    """``path`` as a path of this machine.

    Raises
    ------
    FileError : not a path but a stream or other object, a network address, a zero byte, or too long.
    """
    try:
        text = os.fsdecode(path)
    except TypeError as error:
        what = f"{type(path).__name__} is not a file path"
        raise FileError(what, where="path", fix="write the bytes to a file and pass its path") from error
    if "\0" in text:
        raise FileError("the path has a zero byte", where=repr(text[:80]), fix="pass a path without it")
    if "://" in text or text.startswith(_ADDRESSES):
        raise FileError("addresses are not read, only local files", where=text[:200], fix="download the file first")
    if len(os.fsencode(text)) >= PATH_BYTES:
        raise FileError(
            f"the path has more than {PATH_BYTES - 1} bytes", where=f"{text[:80]}...", fix="use a shorter one"
        )
    return Path(text)


def open_regular(path: Any) -> IO[bytes]:
    """A regular file opened for reading.

    Raises
    ------
    FileError : see `local_path`; or it is missing, not readable, a folder, a pipe or a device.
    """
    file = local_path(path)
    try:
        if file.is_dir():
            raise FileError("this is a folder, not a file", where=_quote(file), fix="pass the path of a file")
        # Without waiting: a named pipe has no end until somebody writes to it.
        stream = os.fdopen(os.open(file, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC), "rb")
    except OSError as error:
        raise FileError(_reason(error), where=_quote(file), fix="check the path") from error
    mode = os.fstat(stream.fileno()).st_mode
    if stat.S_ISREG(mode):
        return stream
    stream.close()
    raise FileError("this is a pipe or device, not a regular file", where=_quote(file), fix="pass the path of a file")


def read_regular(path: Any, limits: Limits = DEFAULT) -> bytes:
    """The content of a regular file.

    Raises
    ------
    FileError : see `open_regular`; LimitExceeded : longer than ``limits.file_bytes``.
    OutOfMemory : it does not fit into memory.
    """
    where = str(path)
    with open_regular(path) as stream:
        size = os.fstat(stream.fileno()).st_size
        limits.check("file_bytes", size, where)
        try:
            with enough_memory("the file", where, size):
                # A file that somebody appends to may have become longer than what was checked.
                return stream.read(size)
        except OSError as error:
            raise FileError(_reason(error), where=where, fix="check the disk and its permissions") from error


def make_folder(folder: str | os.PathLike[str]) -> Path:
    """Create ``folder`` with all above it, or keep it if it is there.

    Raises
    ------
    FileError : it cannot be created.
    """
    root = local_path(folder)
    try:
        root.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        what = f"cannot create the folder: {error.strerror}"
        raise FileError(what, where=str(root)[:500], fix="choose a folder that you may write to") from error
    return root


def warn_of_older(folder: Path, stem: str, suffix: str, written: Collection[str]) -> None:
    """Warn of files in ``folder`` that are named as a stem, a number and a suffix, and that were not ``written`` now.

    Programs that read a numbered series to its end would mix them with the new ones.
    """
    pattern = rf"{re.escape(stem)}\d+{re.escape(suffix)}"
    others = (path.name for path in folder.iterdir() if path.name not in written)
    older = sorted(name for name in others if re.fullmatch(pattern, name))
    if older:
        shown = ", ".join(older if len(older) <= 4 else [*older[:3], f"and {len(older) - 3} more"])
        message = f"{_quote(folder)} still holds files of an earlier run: {shown}; remove what is not wanted"
        warn(message, HraWarning)


def _reason(error: OSError) -> str:
    if error.errno == errno.ENOENT:
        return "the file does not exist"
    return f"the file cannot be read: {error.strerror or error}"


def _quote(path: Path) -> str:
    text = str(path)
    return text if len(text) < 500 else f"{text[:500]}..."

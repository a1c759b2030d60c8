"""Files that are either whole or not there."""

from __future__ import annotations

import contextlib
import errno
import fcntl
import hashlib
import json
import os
import stat
import uuid
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import IO

from hra.errors import FileError
from hra.files.local_files import local_path

MANIFEST = "manifest.json"
_FIX = "choose a writable folder with free space"
_PREFIX, _SUFFIX = ".hra-", ".tmp"


def write_atomically(path: str | os.PathLike[str], content: bytes | bytearray | Callable[[IO[bytes]], None]) -> None:
    """Write ``content`` to a temporary file in the same folder, flush it to disk, and rename it to ``path``.

    A killed process leaves at most a file ``.hra-*.tmp``, never half of ``path``; the next write of the same target
    takes it away. An existing file keeps its permissions, a link its place: what it leads to is replaced. Content that
    does not fit into memory is a function that writes to the open file.

    Raises
    ------
    FileError : a path that is none, a folder, a pipe or a device; the folder is missing or not writable, or the disk is
        full. An existing file is left as it was.
    """
    with _as_file_error(path), _stage(_target(path), content) as (temporary, target):
        os.replace(temporary, target)


def write_folder(folder: str | os.PathLike[str], files: Mapping[str, bytes]) -> None:
    """Write several files and then ``manifest.json``, which lists their lengths and SHA-256 sums.

    The manifest is there only while all files are of one run: it is taken away before the first one is replaced, which
    is after all have been written under other names. Other files in the folder are left alone. Others
    who write the same folder at the same time wait.

    Raises
    ------
    FileError : see `write_atomically`; unless renaming fails, all files are left as they were.
    """
    sums = {name: {"bytes": len(data), "sha256": hashlib.sha256(data).hexdigest()} for name, data in files.items()}
    manifest = json.dumps({"files": sums}, indent=2).encode() + b"\n"
    with _as_file_error(folder), contextlib.ExitStack() as stack:
        root = local_path(folder)
        stack.enter_context(_alone_in(root))
        staged = [stack.enter_context(_stage(_target(root / name), data)) for name, data in files.items()]
        last = stack.enter_context(_stage(_target(root / MANIFEST), manifest))
        last[1].unlink(missing_ok=True)
        for temporary, target in [*staged, last]:
            os.replace(temporary, target)


def is_temporary(name: str) -> bool:
    """Whether a file of this name is one that is being written, or whose writer was killed."""
    return name.startswith(_PREFIX) and name.endswith(_SUFFIX)


@contextlib.contextmanager
def _alone_in(folder: Path) -> Iterator[None]:
    """Two writers at once would leave the manifest of one and files of the other."""
    handle = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        with contextlib.suppress(OSError):  # file systems without locks
            fcntl.flock(handle, fcntl.LOCK_EX)
        yield
    finally:
        os.close(handle)


def _target(path: str | os.PathLike[str]) -> Path:
    """The file that ``path`` leads to, which is there already or can be made."""
    target = Path(os.path.realpath(local_path(path)))
    try:
        mode = target.stat().st_mode
    except FileNotFoundError:
        return target
    if not stat.S_ISREG(mode):
        what = "a folder" if stat.S_ISDIR(mode) else "a pipe or device"
        raise FileError(
            f"the file cannot be written: there is {what}", where=str(path) or "path", fix="name a file in a folder"
        )
    return target


@contextlib.contextmanager
def _stage(target: Path, content: bytes | bytearray | Callable[[IO[bytes]], None]) -> Iterator[tuple[Path, Path]]:
    """``content`` in a temporary file beside ``target``, which is taken away unless it has been renamed."""
    # Of the same length for every target: its name may be as long as the file system allows.
    prefix = f"{_PREFIX}{hashlib.sha256(os.fsencode(target.name)).hexdigest()[:12]}-"
    _sweep(target.parent, prefix)
    temporary, stream = _claim(target.parent, prefix)
    try:
        with stream:
            if callable(content):
                content(stream)
            else:
                stream.write(content)
            stream.flush()
            if target.exists():
                os.fchmod(stream.fileno(), stat.S_IMODE(target.stat().st_mode))
            os.fsync(stream.fileno())
            yield temporary, target
    finally:
        # A disk that cannot be written to must not hide the error that said so.
        with contextlib.suppress(OSError):
            temporary.unlink(missing_ok=True)


def _claim(folder: Path, prefix: str) -> tuple[Path, IO[bytes]]:
    """A new temporary file that is locked for as long as it is open, so that nobody sweeps it away."""
    while True:
        temporary = folder / f"{prefix}{uuid.uuid4().hex[:12]}{_SUFFIX}"
        stream = temporary.open("xb")
        with contextlib.suppress(OSError):  # file systems without locks
            fcntl.flock(stream, fcntl.LOCK_EX)
        if os.fstat(stream.fileno()).st_nlink:
            return temporary, stream
        stream.close()  # swept between the two calls


def _sweep(folder: Path, prefix: str) -> None:
    """Take away what processes left behind that were killed while they wrote the same target."""
    with contextlib.suppress(OSError):
        for orphan in folder.glob(f"{prefix}*{_SUFFIX}"):
            with contextlib.suppress(OSError), orphan.open("rb") as stream:
                fcntl.flock(stream, fcntl.LOCK_EX | fcntl.LOCK_NB)
                orphan.unlink(missing_ok=True)


@contextlib.contextmanager
def _as_file_error(path: str | os.PathLike[str]) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        reason = "its name is too long" if error.errno == errno.ENAMETOOLONG else error.strerror or str(error)
        raise FileError(f"the file cannot be written: {reason}", where=str(path)[:500], fix=_FIX) from error

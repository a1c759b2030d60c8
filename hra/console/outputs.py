"""Where a command writes to, checked while its options are read: nobody waits for what cannot be written."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

from hra.errors import FileError
from hra.files.local_files import local_path


def written_as(*suffixes: str) -> Callable[[Path | None], Path | None]:
    """A callback of an option that names a file to write, of one of the ``suffixes``; of any without some.

    The callback raises FileError for another suffix, a folder, pipe or device in its place, and a folder that is
    missing or not writable.
    """

    def check(path: Path | None) -> Path | None:
        if path is not None:
            _check_suffix(path, suffixes)
            _check_place(path)
        return path

    return check


def folder_or(*suffixes: str) -> Callable[[Path | None], Path | None]:
    """A callback as that of `written_as`, for folders that are there or not, and files of the ``suffixes`` if any."""
    file = written_as(*suffixes)

    def check(path: Path | None) -> Path | None:
        if path is None or (suffixes and path.suffix and not os.path.isdir(path)):
            return file(path)
        _check_folder(path)
        return path

    return check


def _check_suffix(path: Path, suffixes: tuple[str, ...]) -> None:
    if suffixes and path.suffix.lower() not in suffixes and not os.path.isdir(path):
        what = f"the format {path.suffix[:20]!r} is not written here" if path.suffix else "the name says no format"
        raise FileError(what, where=str(path)[:500] or "path", fix=f"use {', '.join(suffixes)}")


def _check_place(path: Path) -> None:
    try:
        file = local_path(path)
        if file.exists() and not file.is_file():
            what = f"the file cannot be written: there is {'a folder' if file.is_dir() else 'a pipe or device'}"
            raise FileError(what, where=str(path)[:500], fix="name a file in a folder")
        folder = Path(os.path.realpath(file)).parent
        if not folder.is_dir():
            _refuse("the folder does not exist", path, f"mkdir -p {str(folder)[:200]}")
        if not os.access(folder, os.W_OK):
            _refuse("the folder is not writable", path, "choose a writable folder")
    except OSError as error:
        _refuse(error.strerror or str(error), path, "choose a shorter name in a writable folder")


def _check_folder(path: Path) -> None:
    """A folder that is there or can be made: the first one above it that is there is writable."""
    try:
        there = next(folder for folder in (path, *path.absolute().parents) if folder.exists())
    except OSError as error:
        return _refuse(error.strerror or str(error), path, "choose a shorter name in a writable folder")
    if not there.is_dir():
        _refuse(f"{there.name[:100]!r} is a file", path, "name a folder")
    if not os.access(there, os.W_OK):
        _refuse("it is not writable", path, "choose a writable folder")
    return None


def _refuse(reason: str, path: Path, fix: str) -> None:
    raise FileError(f"the file cannot be written: {reason}", where=str(path)[:500], fix=fix)

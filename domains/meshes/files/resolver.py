"""Which further files a mesh file may name."""

from __future__ import annotations

from pathlib import Path
from urllib.parse import unquote

from hra.errors import FileError
from hra.files.limits import DEFAULT, Limits
from hra.files.local_files import read_regular

_SHOWN = 200


class MissingFile(FileError):
    """A mesh file names a file that is not there: bad for a buffer, a warning for a texture."""


class SiblingFiles:
    """The files of one folder and its subfolders: no absolute path, no address, nothing and no link that leads outside.

    Each is read once, however often it is named.

    Parameters
    ----------
    folder : of the mesh file; size : of the mesh file in bytes.
    """

    def __init__(self, folder: Path, limits: Limits = DEFAULT, size: int = 0) -> None:
        self._folder = folder.resolve()
        self._known: dict[Path, bytes] = {}
        self.limits = limits
        self.size = size

    def get(self, name: str) -> bytes:
        """The content of the file ``name``.

        Raises
        ------
        FileError : the name leads out of the folder, or to something that is not a regular file.
        LimitExceeded : a file that is too long.
        MissingFile : the file does not exist.
        """
        plain, where = unquote(name).replace("\\", "/"), name[:_SHOWN]
        if ":" in plain or "\0" in plain or plain.startswith("/"):
            raise _outside(where)
        try:
            file = (self._folder / plain).resolve()
            there = file.exists()
        except (OSError, RuntimeError):  # too long for the file system, or a link to itself
            file, there = self._folder, False
        if not file.is_relative_to(self._folder):
            raise _outside(where)
        if not there or file.is_dir():
            fix = "put it beside the mesh file, or embed it"
            raise MissingFile("the mesh file names a missing file", where=f"{self._folder}/{where}", fix=fix)
        if file not in self._known:
            self._known[file] = read_regular(file, self.limits)
            self.size += len(self._known[file])
        return self._known[file]


def _outside(where: str) -> FileError:
    return FileError("the mesh file names a file outside of its folder", where=where, fix="embed it, or use a GLB")

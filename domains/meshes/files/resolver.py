"""Which further files a mesh file may name."""

from __future__ import annotations

from pathlib import Path
from typing import Any
from urllib.parse import unquote

from hra.errors import FileError


class MissingFile(FileError):
    """A mesh file names a file that is not there: bad for a buffer, a warning for a texture."""


class SiblingFiles:
    """The files of one folder and its subfolders: no absolute path, no address, nothing and no link that leads outside.

    Parameters
    ----------
    folder : of the mesh file.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder.resolve()

    def get(self, name: str) -> bytes:
        """The content of the file ``name``.

        Raises
        ------
        FileError : the name leads out of the folder.
        MissingFile : there is no such file.
        """
        plain = unquote(name).replace("\\", "/").replace("\0", ":")
        file = (self._folder / plain).resolve()
        if ":" in plain or plain.startswith("/") or not file.is_relative_to(self._folder):
            raise FileError(
                "the mesh file names a file outside of its folder", where=name, fix="embed it, or use a GLB"
            )
        if not file.is_file():
            raise MissingFile("the mesh file names a file that is missing", where=str(file))
        return file.read_bytes()

    __getitem__ = get

    def namespaced(self, namespace: str) -> Any:
        """Refused: trimesh asks for it for archives only."""
        raise FileError("archives are not read", where=namespace)

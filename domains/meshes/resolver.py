"""Which further files a mesh file may name."""

from __future__ import annotations

from pathlib import Path
from typing import Any
from urllib.parse import unquote

from hra.errors import FileError


class SiblingFiles:
    """The files of one folder by plain name, as trimesh's resolver: no path, no address, no link that leads outside.

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
        FileError : the name leads out of the folder, or there is no such file.
        """
        plain = unquote(name)
        file = (self._folder / plain).resolve()
        if "/" in plain or "\\" in plain or ":" in plain or file.parent != self._folder:
            raise FileError(
                "the mesh file names a file outside of its folder", where=name, fix="embed it, or use a GLB"
            )
        if not file.is_file():
            raise FileError("the mesh file names a file that is missing", where=str(file))
        return file.read_bytes()

    __getitem__ = get

    def namespaced(self, namespace: str) -> Any:
        """Refused: trimesh asks for it for archives only."""
        raise FileError("archives are not read", where=namespace)

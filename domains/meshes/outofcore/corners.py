"""Mesh files as blocks of triangle corners: binary PLY, binary STL and OBJ, or a folder of them."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from hra.domains.meshes.outofcore.read_obj import obj_blocks
from hra.domains.meshes.outofcore.read_ply import ply_blocks
from hra.domains.meshes.outofcore.read_stl import stl_blocks
from hra.errors import FileError, MeshError
from hra.files.file_list import FileList
from hra.files.local_files import local_path

_READERS = {".obj": obj_blocks, ".ply": ply_blocks, ".stl": stl_blocks}
SUFFIXES = frozenset(_READERS)


def source_files(source: str | os.PathLike[str]) -> list[Path]:
    """The file ``source``, or the parts of a mesh in the folder ``source``, by name.

    Raises
    ------
    FileError : not there, of a format that is not read in blocks, or a folder without such files.
    """
    path = local_path(source)
    if path.is_dir():
        found = FileList.of(path, SUFFIXES)
        return [found.root / name for name in found.names]
    if path.suffix.lower() not in SUFFIXES:
        what = f"the format {path.suffix[:20]!r} is not read in blocks"
        raise FileError(what, where=str(path)[:500], fix="use binary PLY, binary STL or OBJ, or build it in memory")
    if not path.is_file():
        raise FileError("the file does not exist", where=str(path)[:500], fix="check the path")
    return [path]


def corner_blocks(files: list[Path], scratch: Path) -> Iterator[np.ndarray]:
    """The triangles of all ``files`` as positions of their corners, float32 [n, 9], block by block.

    Parameters
    ----------
    scratch : file that may be written, for vertices of texts.

    Raises
    ------
    FileError : see the readers; MeshError : a coordinate is not finite.
    """
    for file in files:
        for block in _READERS[file.suffix.lower()](file, scratch):
            if not np.isfinite(block).all():
                raise MeshError("a coordinate is not finite", where=str(file), fix="repair the file")
            # -0.0 becomes 0.0: equal positions have equal bits.
            yield block.reshape(-1, 9) + np.float32(0.0)

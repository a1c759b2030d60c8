"""OBJ files, block by block: vertices go to a file of their own first; only positions are read."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path

import numpy as np

from hra.domains.meshes.outofcore.indexed import Rows
from hra.errors import FileError, RepairWarning

_BLOCK_BYTES = 2**22
_POSITION = np.dtype([(axis, "<f4") for axis in "xyz"])
_CARRIED = (b"vt ", b"vn ", b"usemtl")


def obj_blocks(file: Path, scratch: Path) -> Iterator[np.ndarray]:
    """Corners float32 [n, 9]; polygons become fans.

    Raises
    ------
    FileError : a vertex or a face that is none.

    Warns
    -----
    RepairWarning : texture coordinates, normals and materials are left out.
    """
    carried, count = False, 0
    with scratch.open("wb") as out:
        for lines in _line_blocks(file):
            positions = _positions(lines, file)
            positions.tofile(out)
            count += len(positions)
            carried = carried or any(line.startswith(_CARRIED) for line in lines)
    if carried:
        what = f"{file}: texture coordinates, normals and materials were left out"
        warnings.warn(what, RepairWarning, stacklevel=2)
    with scratch.open("rb") as stream:
        rows, before = Rows(stream, _POSITION, 0, count, file), 0
        for lines in _line_blocks(file):
            corners, before = _faces(lines, before, file)
            if len(corners):
                yield rows.positions(corners).reshape(-1, 9)


def _line_blocks(file: Path) -> Iterator[list[bytes]]:
    with file.open("rb") as stream:
        while lines := stream.readlines(_BLOCK_BYTES):
            yield [line.replace(b"\t", b" ").lstrip() for line in lines]


def _positions(lines: list[bytes], file: Path) -> np.ndarray:
    rows = [line.split()[1:4] for line in lines if line.startswith(b"v ")]
    try:
        with np.errstate(over="ignore"):
            return np.array(rows, np.float64).reshape(len(rows), 3).astype(np.float32)
    except ValueError as error:
        raise FileError("a vertex of the OBJ file has no three coordinates", where=str(file)) from error


def _faces(lines: list[bytes], before: int, file: Path) -> tuple[np.ndarray, int]:
    """Corners int64 [n, 3] from 0, and how many vertices there are by the end of the block."""
    found: list[tuple[int, int, int]] = []
    try:
        for line in lines:
            if line.startswith(b"v "):
                before += 1
            elif line.startswith(b"f "):
                words = [int(word.partition(b"/")[0]) for word in line.partition(b"#")[0].split()[1:]]
                corners = [number - 1 if number > 0 else before + number for number in words]
                if len(corners) < 3 or 0 in words:
                    raise ValueError
                found += [(corners[0], b, c) for b, c in pairwise(corners[1:])]
        return np.array(found, np.int64).reshape(-1, 3), before
    except (ValueError, OverflowError) as error:
        raise FileError("a face of the OBJ file is malformed", where=str(file)) from error

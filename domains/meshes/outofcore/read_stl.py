"""Binary STL files, block by block."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np

from hra.errors import FileError

_HEADER, _BLOCK = 84, 2**16
_TRIANGLE = np.dtype([("normal", "<f4", 3), ("corners", "<f4", 9), ("attribute", "<u2")])


def stl_blocks(file: Path, scratch: Path) -> Iterator[np.ndarray]:
    """Corners float32 [n, 9].

    Raises
    ------
    FileError : a text, or the number of triangles does not match the file's size.
    """
    with file.open("rb") as stream:
        head = stream.read(_HEADER)
        count = int.from_bytes(head[80:84], "little")
        if len(head) < _HEADER or file.stat().st_size != _HEADER + count * _TRIANGLE.itemsize:
            what = "this is not a binary STL file, or the number of triangles in its header does not match its size"
            raise FileError(what, where=str(file), fix="export it as binary STL or binary PLY")
        for begin in range(0, count, _BLOCK):
            yield np.fromfile(stream, _TRIANGLE, min(_BLOCK, count - begin))["corners"].astype(np.float32)

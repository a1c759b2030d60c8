"""LAS and LAZ files as records on disk, block by block."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from hra.domains.points.files.las import checked_reader
from hra.domains.points.files.las_header import check_header
from hra.domains.points.files.las_library import las_errors, las_library, las_shades, shown_colors
from hra.errors import ArrayError, FileError
from hra.files.local_files import open_regular
from hra.kernels.chunking import Records

# Position and colour.
WIDTH = 6
_BLOCK = 2**17


def las_records(source: Path, path: Path) -> tuple[Records, np.ndarray]:
    """Write positions and colours of all points as float32 rows [P, 6] to ``path``, as `read_las` would give them.

    The file is read twice: where coordinates begin and what colours are full is known after the last point.

    Returns
    -------
    The rows, and the least and largest corner [2, 3] of the positions.

    Raises
    ------
    FileError : not LAS or LAZ, damaged, or without points. LimitExceeded : it would unpack to more than an archive may.
    ArrayError : a coordinate that is not finite. MissingExtra : laspy is not installed.
    """
    if source.suffix.lower() not in (".las", ".laz"):
        fix = "convert it to LAS, or build it without --memory"
        raise FileError("only LAS and LAZ files are read in blocks", where=str(source)[:500], fix=fix)
    low, full = np.full(3, np.inf), 0
    for places, shades in _blocks(source):
        low, full = np.minimum(low, places.min(axis=0)), max(full, int(shades.max()))
    if not np.isfinite(low).all():
        raise FileError("the file holds no points", where=str(source)[:500])
    count, high = 0, np.zeros(3)  # coordinates count from the least corner
    with path.open("wb") as out:
        for places, shades in _blocks(source):
            rows = np.column_stack([places - low, shown_colors(shades, full)]).astype(np.float32)
            if not np.isfinite(rows).all():
                raise ArrayError("a coordinate is not finite", where=str(source)[:500], fix="repair the file")
            rows.tofile(out)
            count += len(rows)
            high = np.maximum(high, rows[:, :3].max(axis=0))
    return Records(path, WIDTH, 0, count), np.stack([np.zeros(3), high])


def _blocks(source: Path) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """Positions float64 [n, 3], and colours [n, 3] or intensities [n, 1] as they are stored."""
    where = str(source)
    las_library()  # what is missing is said first
    with open_regular(source) as stream:
        size = os.fstat(stream.fileno()).st_size
        claims = check_header(stream, size, where)
        with las_errors(where):
            reader = checked_reader(stream, size, claims, where)
        for _ in range(0, claims.points, _BLOCK):
            with las_errors(where):
                found = reader.read_points(_BLOCK)
                block = np.column_stack([found.x, found.y, found.z]), las_shades(found)
            yield block

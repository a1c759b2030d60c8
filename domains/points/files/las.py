"""LAS, LAZ and COPC in, by laspy."""

from __future__ import annotations

import os
from typing import IO, Any

import numpy as np

from hra.domains.points.cloud.clouds import PointCloud
from hra.domains.points.files.copc import is_copc, read_copc
from hra.domains.points.files.las_header import Claims, check_chunks, check_header, las_colors, las_errors, las_library
from hra.errors import HraError
from hra.files.limits import DEFAULT
from hra.files.local_files import open_regular


def read_las(path: str | os.PathLike[str], level: int | None = None) -> PointCloud:
    """Points with colours, or with their intensity as grey; coordinates count from the least corner.

    Parameters
    ----------
    level : see `read_copc`; None for other files.

    Raises
    ------
    FileError, LimitExceeded : laspy cannot read it, it holds no points, or see `check_header` and `read_copc`.
    HraError : no level, or one of a file that has none. MissingExtra : laspy is not installed.
    """
    where = str(path)
    las_library()  # what is missing is said first
    if level is not None and (type(level) is not int or level < 0):
        raise HraError(f"there is no level {level!r}", where="level", fix="use 0 for the root, or more")
    with open_regular(path) as stream:
        size = os.fstat(stream.fileno()).st_size
        claims = check_header(stream, size, where)
        if is_copc(stream, size, claims):
            return read_copc(stream, size, claims, level, where)
        if level is not None:
            raise HraError("only COPC files have levels", where=where, fix="leave the level out")
        DEFAULT.check("file_bytes", size, where)
        with las_errors(where):
            found = checked_reader(stream, size, claims, where).read_points(claims.points)
            places = np.column_stack([found.x, found.y, found.z])
            # Coordinates of maps are too large for float32: they count from the file's corner.
            positions = places - places.min(axis=0)
    return PointCloud(positions, las_colors(found))


def checked_reader(stream: IO[bytes], size: int, claims: Claims, where: str) -> Any:
    """The reader by laspy of a file of ``size`` bytes whose claims were looked at, before it takes memory for them.

    Raises
    ------
    LimitExceeded : it would unpack to too much. FileError : see `check_chunks`. What laspy raises.
    """
    laspy, _ = las_library()
    DEFAULT.check_archive(claims.memory(claims.points), size, where)
    if claims.packed:
        check_chunks(stream, claims.points, where)
    stream.seek(0)
    # The parallel decoder trusts the size of chunks that the file states, and ends the process where it lies. Extended
    # records may claim any length; none is needed.
    return laspy.open(stream, laz_backend=laspy.LazBackend.Lazrs, read_evlrs=False)

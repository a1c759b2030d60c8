"""LAS and LAZ in, by laspy."""

from __future__ import annotations

import io

import numpy as np

from hra.domains.points.files.las_header import check_header
from hra.domains.points.point_cloud import PointCloud
from hra.errors import FileError, MissingExtra


def read_las(data: bytes, where: str) -> PointCloud:
    """Points with colours, or with their intensity as grey; coordinates count from the least corner.

    Raises
    ------
    FileError, LimitExceeded : laspy cannot read it, it holds no points, or see `check_header`.
    MissingExtra : laspy is not installed.
    """
    try:
        import laspy
    except ImportError as error:
        raise MissingExtra.of("laspy", "points") from error
    check_header(data, where)
    try:
        # The parallel decoder trusts the size of chunks that the file states, and ends the process where it lies.
        found = laspy.read(io.BytesIO(data), laz_backend=laspy.LazBackend.Lazrs)
        # Coordinates of maps are too large for float32: they count from the file's corner.
        positions = found.xyz - found.xyz.min(axis=0)
    except BaseException as error:  # laspy's decoders raise whatever they come across, a panic of Rust is no Exception
        if isinstance(error, (KeyboardInterrupt, SystemExit, MemoryError)):
            raise
        raise FileError(f"the LAS file cannot be read: {error}", where=where, fix="copy or export it again") from error
    return PointCloud(positions, _colors(found))


def _colors(found: object) -> np.ndarray | None:
    names = set(found.point_format.dimension_names)  # pyright: ignore[reportAttributeAccessIssue]
    if {"red", "green", "blue"} <= names:
        colors = np.column_stack([found.red, found.green, found.blue])  # pyright: ignore[reportAttributeAccessIssue]
        # 16 bits by the format, but many writers fill only eight.
        return colors / (255 if colors.max(initial=0) <= 255 else 65535)
    grey = np.asarray(found.intensity, float)  # pyright: ignore[reportAttributeAccessIssue]
    return np.repeat(grey[:, None] / grey.max(), 3, axis=1) if grey.any() else None

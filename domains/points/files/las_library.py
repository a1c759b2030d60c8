"""laspy and its decoder, which raise whatever they come across."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

from hra.domains.points.files.las_header import refusal
from hra.errors import HraError, MissingExtra


def las_library() -> tuple[Any, Any]:
    """The modules laspy and lazrs.

    Raises
    ------
    MissingExtra : they are not installed.
    """
    try:
        import laspy
        import lazrs
    except ImportError as error:
        raise MissingExtra.of("laspy", "points") from error
    return laspy, lazrs


@contextmanager
def las_errors(where: str) -> Iterator[None]:
    """Turn what laspy and lazrs raise into FileError."""
    try:
        yield
    except BaseException as error:  # a panic of Rust is no Exception
        if isinstance(error, (KeyboardInterrupt, SystemExit, MemoryError, HraError)):
            raise
        raise refusal(str(error), where) from error


def las_colors(found: Any) -> np.ndarray | None:
    """Colours [P, 3] in 0 .. 1 of points that laspy read, or their intensity as grey; None without either."""
    names = set(found.point_format.dimension_names)
    if {"red", "green", "blue"} <= names:
        colors = np.column_stack([found.red, found.green, found.blue])
        # 16 bits by the format, but many writers fill only eight.
        return colors / (255 if colors.max(initial=0) <= 255 else 65535)
    grey = np.asarray(found.intensity, float)
    return np.repeat(grey[:, None] / grey.max(), 3, axis=1) if grey.any() else None

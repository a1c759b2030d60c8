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
    except BaseException as error:  # a panic of Rust is not an Exception
        if isinstance(error, (KeyboardInterrupt, SystemExit, MemoryError, HraError)):
            raise
        raise refusal(str(error), where) from error


def las_shades(found: Any) -> np.ndarray:
    """Colours [P, 3] of points that laspy read, or their intensities [P, 1], as they are stored."""
    names, colors = set(found.point_format.dimension_names), ("red", "green", "blue")
    return np.column_stack([found[name] for name in (colors if {*colors} <= names else ["intensity"])])


def shown_colors(shades: np.ndarray, full: int) -> np.ndarray:
    """Colours [P, 3] in 0 .. 1, from what is stored and the largest number that is stored anywhere."""
    if shades.shape[1] == 3:
        # 16 bits by the format, but many writers fill only eight.
        return shades / (255 if full <= 255 else 65535)
    return np.repeat(shades / full, 3, axis=1) if full else np.full((len(shades), 3), 0.5)


def las_colors(found: Any) -> np.ndarray:
    """Colours [P, 3] in 0 .. 1 of points that laspy read, or their intensity as grey."""
    shades = las_shades(found)
    return shown_colors(shades, int(shades.max(initial=0)))

"""Colours of vertices, faces and points, in the types and ranges that writers give them."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from hra.errors import warn

COLORS = ("red", "green", "blue")
COLOR_NAMES = (COLORS, ("diffuse_red", "diffuse_green", "diffuse_blue"), ("r", "g", "b"))
# Fractions that differ by so much from 0 .. 1 were rounded.
_ROUNDED = 1e-3


def ply_colors(columns: Mapping[str, np.ndarray], where: str) -> tuple[np.ndarray | None, tuple[str, ...]]:
    """Colours [P, 3] of an element and the names of their properties; None and no names where there are none.

    Without red, green and blue others are the colours, if they can be. What cannot be colours is passed on, to be
    refused, under "red", "green" and "blue" alone.

    Warns
    -----
    RepairWarning : see `color_shares`.
    """
    for names in COLOR_NAMES:
        if all(name in columns for name in names):
            shares = color_shares(np.column_stack([columns[name] for name in names]), where)
            if names == COLORS or ((shares >= 0) & (shares <= 1)).all():
                return shares, names
    return None, ()


def color_shares(found: np.ndarray, where: str) -> np.ndarray:
    """Colours [P, k] in 0 .. 1.

    Whole numbers are of 8 or 16 bits as those of LAS, whatever type they have; larger ones are shares of the largest
    of their type. Fractions are those of 0 .. 1; up to 255 they are read as of 8 bits. What cannot be colours stays.

    Warns
    -----
    RepairWarning : fractions were read as of 8 bits.
    """
    least, most = (found.min(), found.max()) if found.size else (0, 0)
    if found.dtype.kind != "f":
        largest = np.iinfo(found.dtype).max
        # Types of more than 16 bits often hold fewer; where a type has fewer, its largest number is white.
        return found / largest if most > 65535 or (most > 255 and largest < 65535) else shown_colors(found, int(most))
    if least >= -_ROUNDED and most <= 1 + _ROUNDED:
        return found.clip(0, 1)
    if least < 0 or not most <= 255:
        return found
    what = f"{where}: colours go up to {most:g}, and were read as numbers from 0 to 255"
    warn(what[:500])
    return found / 255


def shown_colors(colors: np.ndarray, full: int) -> np.ndarray:
    """Colours in 0 .. 1, from what is stored and the largest number that is stored anywhere."""
    # 16 bits by the format, but many writers fill only eight.
    return colors / (255 if full <= 255 else 65535)

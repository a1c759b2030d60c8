"""How world space becomes pixels and depth: the matrix of a depth buffer, and how exactly a renderer follows it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from hra.caching import cached_property
from hra.errors import ArrayError

# What a renderer in float32 may be off by, relative to the sum of the magnitudes that a clip coordinate is made of.
# With u = 2**-24: u for the matrix's entries and 4 u for a product of four terms (Higham 2002, section 3.1), on both
# sides of the division; u each for the division, the viewport and the storage. 8 u covers them.
ROUNDING = 2.0**-21
# A depth buffer of 24 bits holds multiples of 2**-24, as float32 does in [0.5, 1): half of that is lost when a value is
# stored, as much when it is interpolated, and the renderer may truncate instead of rounding.
QUANTUM = 2.0**-23


@dataclass(frozen=True, eq=False)
class DepthView:
    """A depth buffer's view of the world.

    Parameters
    ----------
    matrix : float64 [4, 4] for column vectors, world to clip space: x and y in [-w, w], y upwards and row 0 of the
        buffer on top; z in [0, w], so that the buffer holds z / w.
    height, width : of the buffer, in pixels.
    reversed_depth : whether z / w is 1 at the near plane instead of 0.
    slack : depth that two surfaces may differ by without hiding each other, besides the rounding of float32.
    """

    matrix: np.ndarray
    height: int
    width: int
    reversed_depth: bool
    slack: float

    @classmethod
    def of(cls, view_projection: Any, size: tuple[int, int], reversed_depth: bool, slack: float = QUANTUM) -> DepthView:
        """The view with checked parameters; raises :class:`ArrayError` unless the matrix is finite numbers [4, 4]."""
        if not 0 <= slack < np.inf:
            raise ArrayError(f"slack is {slack}", where="argument slack", fix="use a finite depth >= 0")
        return cls(_matrix(view_projection), *size, bool(reversed_depth), float(slack))

    @property
    def sign(self) -> float:
        """1, or -1 for reversed depth: what makes depth grow with the distance."""
        return -1.0 if self.reversed_depth else 1.0

    @cached_property
    def oriented(self) -> np.ndarray:
        """The matrix [4, 4] with z of that sign, so that the nearest point has the smallest z / w."""
        return self.matrix * np.array([1.0, 1.0, self.sign, 1.0])[:, None]

    @cached_property
    def planes(self) -> np.ndarray:
        """The frustum's planes [6, 4], positive inside, the near plane first (Gribb and Hartmann 2001)."""
        x, y, z, w = self.matrix
        near, far = (w - z, z) if self.reversed_depth else (z, w - z)
        return np.stack([near, far, w + x, w - x, w + y, w - y])


# A backend's projection: rectangles [K, 4] and depths [K] of bounds.
Project = Callable[[Any, DepthView], tuple[Any, Any]]


def _matrix(values: Any) -> np.ndarray:
    try:
        matrix = np.asarray(values, np.float64)
    except (TypeError, ValueError) as error:
        raise ArrayError(f"the matrix cannot be read: {error}", where="argument view_projection") from error
    if matrix.shape != (4, 4) or not np.isfinite(matrix).all():
        fix = "pass finite numbers [4, 4]"
        raise ArrayError(f"the matrix of shape {matrix.shape} is not a view", where="argument view_projection", fix=fix)
    return matrix

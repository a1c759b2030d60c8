"""A grid of points that float32 holds exactly: copies of a vertex stay one point on it, so that no cut cracks."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from hra.errors import MeshError
from hra.model.arrays import whole_in

GRID_BITS = 16
"""The finest grid: positions are stored as numbers of 16 bits."""

# The smallest float32, and how many bits its mantissa has.
_LEAST, _MANTISSA = 2.0**-149, 24


@dataclass(frozen=True)
class PointGrid:
    """Points origin + step * (i, j, k), i, j, k in 0 .. 65535, all of which are exact in float32.

    Attributes
    ----------
    origin : object units, whole multiples of the step; step : object units, a power of two.
    """

    origin: tuple[float, float, float]
    step: float

    @classmethod
    def around(cls, positions: np.ndarray, bits: int) -> PointGrid:
        """The finest grid of at most 2**bits points along an axis around ``positions`` [V, 3].

        Raises
        ------
        MeshError : bits that are not 8 to 16.
        """
        bits = whole_in("grid_bits", bits, range(8, GRID_BITS + 1), MeshError)
        low, high = positions.min(axis=0).astype(np.float64), positions.max(axis=0).astype(np.float64)
        reach, largest = float((high - low).max()), float(np.abs([low, high]).max())
        # Rounding the origin down takes a step, and rounding the farthest point up another half.
        step = max(power_above(reach / (2**bits - 2)), power_above(largest) * 2.0**-_MANTISSA, _LEAST)
        return cls(tuple((np.floor(low / step) * step).tolist()), step)

    def snap(self, positions: np.ndarray) -> np.ndarray:
        """The nearest points of the grid, uint16 [V, 3].

        Raises
        ------
        MeshError : positions farther than half a step outside of the grid.
        """
        places = np.rint((positions.astype(np.float64) - self.origin) / self.step)
        if not ((places >= 0) & (places < 2**GRID_BITS)).all():
            fix = "use the grid of a mesh that holds these, or none"
            raise MeshError("positions lie outside of the grid", where="grid", fix=fix)
        return places.astype(np.uint16)

    def positions(self, places: np.ndarray) -> np.ndarray:
        """The points, float32 [V, 3]."""
        return (places * np.float64(self.step) + self.origin).astype(np.float32)


def power_above(value: float) -> float:
    """The least power of two that is not below ``value``; 0 for 0."""
    return math.ldexp(1.0, math.ceil(math.log2(value))) if value > 0 else 0.0

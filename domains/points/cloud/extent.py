"""The extent of a cloud without its strays.

One point far from all others, such as a return of (0, 0, 0) in map coordinates, would decide how finely float32 and the
octree tell the others apart.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

_SAMPLE = 2**16
# Strays are in the hundredth at either end of an axis, and lie farther off than so many times what is between.
_STRAYS, _FAR = 0.01, 32
# The octree has 2**21 cells along an axis, enough for what lies so many times as far: only farther points lose levels.
_GRID = 256


class Extent(NamedTuple):
    """Between which corners points lie.

    Attributes
    ----------
    low, high : [3], of all points; near : float64 [2, 3], between which 98 % of 100 or more lie along each axis.
    """

    low: np.ndarray
    high: np.ndarray
    near: np.ndarray

    @classmethod
    def of(cls, points: np.ndarray) -> Extent:
        """That of points [P, 3], P >= 1."""
        growing = GrowingExtent(len(points))
        growing.add(points)
        return growing.extent()

    def without_strays(self, far: float = _FAR) -> np.ndarray:
        """Corners float64 [2, 3] of the box of all but strays: these are ``far`` times the extent of most away."""
        with np.errstate(invalid="ignore", over="ignore"):  # the extent of numbers that are refused elsewhere
            reach = far * float((self.near[1] - self.near[0]).max())
        if not np.isfinite(reach) or reach == 0:
            return np.array([self.low, self.high], np.float64)
        corners = np.maximum(self.low, self.near[0] - reach), np.minimum(self.high, self.near[1] + reach)
        return np.stack(corners).astype(np.float64)

    def map_corners(self) -> np.ndarray:
        """The corners that tell what coordinates of a map count from [2, 3]: of most points if there are strays.

        Float32 rounds what is far from the origin: one near the others costs the strays alone, one near a stray all
        others.
        """
        ends = np.array([self.low, self.high], np.float64)
        return ends if np.array_equal(self.without_strays(), ends) else self.near

    def octree_box(self) -> np.ndarray:
        """Corners [2, 3] of the octree over the points; what is farther counts as on its border."""
        return self.without_strays(_GRID)


class GrowingExtent:
    """The extent of points that come block by block; it is the same whatever the blocks.

    Parameters
    ----------
    count : of all points. Of 131,072 or more, so many that 65,536 to 131,072 are left tell where most lie.
    """

    def __init__(self, count: int) -> None:
        self._step, self._seen = max(count // _SAMPLE, 1), 0
        self._low, self._high = np.full(3, np.inf), np.full(3, -np.inf)
        self._sample = [np.zeros((0, 3))]

    def add(self, points: np.ndarray) -> None:
        """Take a block [n, 3] more."""
        self._low, self._high = np.minimum(self._low, points.min(axis=0)), np.maximum(self._high, points.max(axis=0))
        # Copied: a view would keep all of the block.
        self._sample.append(np.array(points[-self._seen % self._step :: self._step], np.float64))
        self._seen += len(points)

    def extent(self) -> Extent:
        """That of all blocks, of which there is one at least."""
        sample = np.concatenate(self._sample)
        last, first = len(sample) - 1, int(len(sample) * _STRAYS)
        return Extent(self._low, self._high, np.partition(sample, [first, last - first], axis=0)[[first, last - first]])

"""The extent of a cloud without its strays.

One point far from all others, such as a return of (0, 0, 0) in map coordinates, would decide how finely float32 and the
octree tell the others apart.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

_SAMPLE = 2**16
# Strays are in the hundredth at either end of an axis, and lie farther off than this many times what is between.
_STRAYS, _FAR = 0.01, 32
# The octree has 2**21 cells along an axis, enough for what lies so many times as far: only farther points lose levels.
_GRID = 256
# More than a hundredth are strays, too, behind a gap of this many times the side where most lie; so is one of ten.
_GAP, FEWEST = 64, 10


class Extent(NamedTuple):
    """Between which corners points lie.

    Attributes
    ----------
    low, high : [3], of all points; near : float64 [2, 3], between which 98 % of 100 or more lie along each axis; of
        the points this side of a wide gap that half of them or more belong to, if there is one.
    """

    low: np.ndarray
    high: np.ndarray
    near: np.ndarray

    @classmethod
    def of(cls, points: np.ndarray) -> Extent:
        """The extent of points [P, 3], P >= 1."""
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
        low, high = corners(points)
        self._low, self._high = np.minimum(self._low, low), np.maximum(self._high, high)
        # Copied: a view would keep all of the block.
        self._sample.append(np.array(points[-self._seen % self._step :: self._step], np.float64))
        self._seen += len(points)

    def extent(self) -> Extent:
        """The extent of all blocks; at least one must have been added."""
        sample = np.concatenate(self._sample)
        near = _near(sample)
        if len(sample) >= FEWEST:
            most = _most(sample)
            # Fewer strays than are left out anyway change nothing.
            if (near[0] < most[0]).any() or (near[1] > most[1]).any():
                near = _near(sample[((sample >= most[0]) & (sample <= most[1])).all(axis=1)])
        return Extent(self._low, self._high, near)


def corners(points: np.ndarray) -> np.ndarray:
    """Least and largest corner [2, 3] of points [P, 3], P >= 1: axis by axis, which takes a seventh of the time."""
    return np.array([[along.min(), along.max()] for along in points.T]).T


def _near(sample: np.ndarray) -> np.ndarray:
    last, first = len(sample) - 1, int(len(sample) * _STRAYS)
    return np.partition(sample, [first, last - first], axis=0)[[first, last - first]]


def _most(sample: np.ndarray) -> np.ndarray:
    """Corners [2, 3] around the half of the points [S, 3] that lies closest together along each axis, up to wide gaps.

    Source: the half is the shorth of D. F. Andrews and others, Robust Estimates of Location (1972).
    """
    ordered, half = np.sort(sample, axis=0), len(sample) // 2
    with np.errstate(invalid="ignore", over="ignore"):  # numbers that are refused elsewhere
        spans = ordered[half:] - ordered[: len(ordered) - half]
        begins, least = spans.argmin(axis=0), spans.min(axis=0).max()
        if not 0 < least < np.inf:  # all at one place
            return ordered[[0, -1]]
        low = [
            -_before_gap(-along[begin + half :: -1], half, least)
            for begin, along in zip(begins, ordered.T, strict=True)
        ]
        high = [_before_gap(along[begin:], half, least) for begin, along in zip(begins, ordered.T, strict=True)]
    return np.array([low, high])


def _before_gap(along: np.ndarray, half: int, least: float) -> float:
    """The last of rising numbers before the first wide gap behind those up to ``half``."""
    tail = along[half:]
    wide = np.flatnonzero(np.diff(tail) > _GAP * np.maximum(tail[:-1] - along[0], least))
    return float(tail[wide[0]] if len(wide) else tail[-1])

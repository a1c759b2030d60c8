"""The extent of a cloud without its strays.

One point far from all others, such as a return of (0, 0, 0) in map coordinates, would decide how finely float32 and the
octree tell the others apart.
"""

from __future__ import annotations

import numpy as np

_SAMPLE = 2**16
# Strays are in the hundredth at either end of an axis, and lie farther off than so many times what is between.
_STRAYS, _FAR = 0.01, 32
# The octree has 2**21 cells along an axis, enough for what lies so many times as far: only farther points lose levels.
_GRID = 256


def sampled(count: int) -> int:
    """Every how many-th of ``count`` points is looked at: below 65,536 all, of more as many to twice as many."""
    return max(count // _SAMPLE, 1)


def most_lie_between(points: np.ndarray) -> np.ndarray:
    """Corners float64 [2, 3] between which 98 % of 100 points or more lie along each axis; [P, 3], P >= 1."""
    return between_most(points[:: sampled(len(points))])


def between_most(sample: np.ndarray) -> np.ndarray:
    """`most_lie_between` of those points [n, 3] that are looked at."""
    last = len(sample) - 1
    first = int(len(sample) * _STRAYS)
    ends = np.partition(np.asarray(sample, np.float64), [first, last - first], axis=0)
    return ends[[first, last - first]]


def without_strays(low: np.ndarray, high: np.ndarray, near: np.ndarray, far: float = _FAR) -> np.ndarray:
    """Corners float64 [2, 3] of the box of all points, from ``low`` to ``high`` [3], but for strays.

    Strays are farther from what most lie between (``near`` [2, 3], see `most_lie_between`) than ``far`` times its
    longest side.
    """
    with np.errstate(invalid="ignore", over="ignore"):  # the extent of numbers that are refused elsewhere
        reach = far * float((near[1] - near[0]).max())
    if not np.isfinite(reach) or reach == 0:
        return np.array([low, high], np.float64)
    return np.stack([np.maximum(low, near[0] - reach), np.minimum(high, near[1] + reach)]).astype(np.float64)


def map_corners(low: np.ndarray, high: np.ndarray, near: np.ndarray) -> np.ndarray:
    """The corners that tell what coordinates of a map count from [2, 3]: of all points, or of most if there are strays.

    Float32 rounds what is far from the origin: one near the others costs the strays alone, one near a stray all others.
    """
    ends = np.array([low, high], np.float64)
    return ends if np.array_equal(without_strays(low, high, near), ends) else near


def octree_box(low: np.ndarray, high: np.ndarray, near: np.ndarray) -> np.ndarray:
    """Corners [2, 3] of the octree over points, as of `without_strays`; what is farther counts as on its border."""
    return without_strays(low, high, near, _GRID)


def octree_bounds(positions: np.ndarray) -> np.ndarray:
    """`octree_box` of positions [P, 3], P >= 1."""
    return octree_box(positions.min(axis=0), positions.max(axis=0), most_lie_between(positions))

"""Which triangle each of many pieces of a surface is nearest to, for several pieces at once.

Pieces that follow each other are neighbours. A few triangles are nearest to any of them: those that are not farther
from the middle of all than the nearest one, except for twice what the pieces reach around it. Distances to these are
computed without branches, so that the compiler does it for several pieces at once.
"""

from __future__ import annotations

import numpy as np

from hra.compiling import njit, njit_uncounted
from hra.domains.meshes.distances.triangle_distance import (
    RUN,
    square_distance,
    square_from_side,
    square_length,
)

# Pieces that are looked at together: few enough to be near each other, many enough to fill vectors of any processor.
_TOGETHER = 16
# To choose among so few triangles takes longer than to look at all.
_FEW = 24


def settling_memory(count: int) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Memory for candidates among ``count`` triangles and how far they are; and for pieces looked at together.

    Of these: middles and corners by coordinate, squares of distances of middles and of corners, and labels.
    """
    pieces = np.empty((12, _TOGETHER)), np.empty((2, _TOGETHER)), np.empty(_TOGETHER, np.int64)
    return np.empty(count, np.int64), np.empty(count), *pieces


@njit(inline="always")
def _square(x, y, z, triangle):
    """`square_distance` without branches, from a point relative to the first corner."""
    sx, sy, sz, tx, ty, tz, ux, uy, uz, vx, vy, vz, one, two, three = triangle
    s, t = x * ux + y * uy + z * uz, x * vx + y * vy + z * vz
    above = square_length(x - s * sx - t * tx, y - s * sy - t * ty, z - s * sz - t * tz)
    best = above if (s >= 0.0) & (t >= 0.0) & (s + t <= 1.0) else np.inf
    best = min(best, square_from_side(x, y, z, sx, sy, sz, one))
    best = min(best, square_from_side(x, y, z, tx, ty, tz, two))
    return min(best, square_from_side(x - sx, y - sy, z - sz, tx - sx, ty - sy, tz - sz, three))


@njit(inline="always")
def _loaded(triangles, k):
    return (
        *(triangles[k, 3], triangles[k, 4], triangles[k, 5], triangles[k, 6], triangles[k, 7], triangles[k, 8]),
        *(triangles[k, 10], triangles[k, 11], triangles[k, 12], triangles[k, 13], triangles[k, 14], triangles[k, 15]),
        *(triangles[k, 16], triangles[k, 17], triangles[k, 18]),
    )


@njit_uncounted(cache=True, nogil=True)
def _nearer(points, n, triangles, k, squares, labels):
    """Label the middles for which triangle ``k`` is the nearest so far."""
    x, y, z, triangle = triangles[k, 0], triangles[k, 1], triangles[k, 2], _loaded(triangles, k)
    for i in range(n):
        square = _square(points[0, i] - x, points[1, i] - y, points[2, i] - z, triangle)
        labels[i] = k if square < squares[0, i] else labels[i]
        squares[0, i] = min(square, squares[0, i])


@njit_uncounted(cache=True, nogil=True)
def _farther(points, row, n, triangles, k, squares, labels):
    """Keep the largest distance from triangle ``k`` of the corners of what has this label."""
    x, y, z, triangle = triangles[k, 0], triangles[k, 1], triangles[k, 2], _loaded(triangles, k)
    for i in range(n):
        square = _square(points[row, i] - x, points[row + 1, i] - y, points[row + 2, i] - z, triangle)
        squares[1, i] = max(squares[1, i], square if labels[i] == k else 0.0)


@njit_uncounted(cache=True, nogil=True)
def _gather(waiting, first, n, corners, origin, points):
    """Write corners and middles of this many pieces from ``first`` on."""
    for axis in range(3):
        start = origin[axis]
        for i in range(n):
            piece = waiting[first + i]
            a, b, c = corners[piece, 0, axis] - start, corners[piece, 1, axis] - start, corners[piece, 2, axis] - start
            points[axis, i], points[3 + axis, i] = (a + b + c) / 3, a
            points[6 + axis, i], points[9 + axis, i] = b, c


@njit_uncounted(cache=True, nogil=True)
def _candidates(points, n, triangles, balls, runs, gaps, count, guess, candidates, apart):
    """Write the triangles that may be nearest to one of this many middles, in order; how many these are."""
    if count <= _FEW:
        for k in range(count):
            candidates[k] = k
        return count
    x, y, z, square = 0.0, 0.0, 0.0, 0.0
    for i in range(n):
        x, y, z = x + points[0, i], y + points[1, i], z + points[2, i]
    x, y, z = x / n, y / n, z / n
    for i in range(n):
        dx, dy, dz = points[0, i] - x, points[1, i] - y, points[2, i] - z
        square = max(square, dx * dx + dy * dy + dz * dz)
    # A middle in the ball around all is nearer to what is nearest to the ball's centre than to all beyond this.
    width = 2 * np.sqrt(square)
    reach, found = np.sqrt(square_distance(x, y, z, triangles, guess)) + width, 0
    for r in range((count + RUN - 1) // RUN):
        dx, dy, dz, limit = x - runs[0, r], y - runs[1, r], z - runs[2, r], reach + runs[3, r]
        gaps[r] = dx * dx + dy * dy + dz * dz - limit * limit
    for r in range((count + RUN - 1) // RUN):
        if gaps[r] > 0:
            continue
        for k in range(RUN * r, min(RUN * (r + 1), count)):
            dx, dy, dz, limit = x - balls[0, k], y - balls[1, k], z - balls[2, k], reach + balls[3, k]
            if dx * dx + dy * dy + dz * dz <= limit * limit:
                distance = np.sqrt(square_distance(x, y, z, triangles, k))
                if distance <= reach:
                    candidates[found], apart[found] = k, distance
                    found, reach = found + 1, min(reach, distance + width)
    kept = 0
    for j in range(found):
        if apart[j] <= reach:
            candidates[kept] = candidates[j]
            kept += 1
    if kept == 0:  # by rounding
        candidates[0], kept = guess, 1
    return kept


@njit_uncounted(cache=True, nogil=True)
def settle_near(waiting, size, corners, origin, surface, count, memory, label, reached):
    """Write the triangle nearest to the middle of each piece, and how far its farthest corner is from that.

    Returns the largest distance of middles, each with what is ``reached`` before.

    Parameters
    ----------
    waiting : [size], which of the pieces ``corners`` [n, 3, 3] these are.
    surface : see `nearest_triangle`, relative to ``origin``; the first ``count`` triangles; and memory for it.
    label : [size]; reached : [size], distances to be added.
    """
    triangles, balls, runs, gaps = surface
    candidates, apart, points, squares, labels = memory
    last, shown = np.int64(0), 0.0
    for first in range(0, size, _TOGETHER):
        n = min(_TOGETHER, size - first)
        _gather(waiting, first, n, corners, origin, points)
        found = _candidates(points, n, triangles, balls, runs, gaps, count, last, candidates, apart)
        for i in range(n):
            squares[0, i], squares[1, i], labels[i] = np.inf, 0.0, candidates[0]
        for j in range(found):
            _nearer(points, n, triangles, candidates[j], squares, labels)
        for j in range(found):
            k, wanted = candidates[j], False
            for i in range(n):
                wanted |= labels[i] == k
            if wanted:
                for corner in range(1, 4):
                    _farther(points, 3 * corner, n, triangles, k, squares, labels)
        for i in range(n):
            own = reached[first + i]
            shown = max(shown, np.sqrt(squares[0, i]) + own)
            label[first + i], reached[first + i] = labels[i], np.sqrt(squares[1, i]) + own
        last = labels[n - 1]
    return shown

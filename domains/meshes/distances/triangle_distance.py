"""Distances from points to triangles, compiled."""

from __future__ import annotations

import numpy as np

from hra.compiling import njit, njit_uncounted

# Column of triangles for what is added to distances from them.
OFF = 9
# Columns in all.
COLUMNS = 19
# Triangles that are passed over at once where they are too far away.
RUN = 8


# Squares of sides below this are none: what is divided by them is finite.
_LEAST = 2.0**-960
# The square of an area below this part of those of its sides is none: what is above is known too badly.
_FLAT = 2.0**-52


@njit_uncounted(cache=True, nogil=True)
def square_distance(x, y, z, triangles, k):
    """Square of the distance from a point to triangle ``k`` of `surface_memory`.

    The result always belongs to a point of the triangle, also where the triangle is degenerate: it may then be too
    large, but is never too small.
    """
    return square_of(x, y, z, triangles, k)


@njit(inline="always")
def square_of(x, y, z, triangles, k):
    """`square_distance`, compiled in place, for loops that do little else."""
    sx, sy, sz = triangles[k, 3], triangles[k, 4], triangles[k, 5]
    tx, ty, tz = triangles[k, 6], triangles[k, 7], triangles[k, 8]
    x, y, z = x - triangles[k, 0], y - triangles[k, 1], z - triangles[k, 2]
    # Of most points the foot is inside.
    s = x * triangles[k, 10] + y * triangles[k, 11] + z * triangles[k, 12]
    t = x * triangles[k, 13] + y * triangles[k, 14] + z * triangles[k, 15]
    if s >= 0 and t >= 0 and s + t <= 1:
        return square_length(x - s * sx - t * tx, y - s * sy - t * ty, z - s * sz - t * tz)
    # Else it is on one of the sides.
    one = square_from_side(x, y, z, sx, sy, sz, triangles[k, 16])
    two = square_from_side(x, y, z, tx, ty, tz, triangles[k, 17])
    return min(one, two, square_from_side(x - sx, y - sy, z - sz, tx - sx, ty - sy, tz - sz, triangles[k, 18]))


@njit(inline="always")
def square_from_side(x, y, z, dx, dy, dz, slope):
    """Square of the distance from a point to the side from 0 to ``dx, dy, dz``."""
    share = (x * dx + y * dy + z * dz) * slope
    # Comparisons in this order leave a share in 0 .. 1 whatever it is.
    share = share if share > 0.0 else 0.0
    share = share if share < 1.0 else 1.0
    return square_length(x - share * dx, y - share * dy, z - share * dz)


@njit(inline="always")
def square_length(x, y, z):
    """The squared length of a vector."""
    return x * x + y * y + z * z


@njit_uncounted(cache=True, nogil=True)
def nearest_triangle(x, y, z, triangles, balls, runs, count, guess, gaps):
    """The nearest of the first ``count`` triangles, see `surface_memory`, and the square of its distance.

    Parameters
    ----------
    balls : [4, n], centres and radii around the triangles; runs : [4, m], the same around eight consecutive ones, which
        are neighbours in clusters.
    guess : a near triangle saves time; gaps : [m], memory to work in.
    """
    # What the guess already reaches makes the balls of most others too far away to look at.
    best, which = square_distance(x, y, z, triangles, guess), guess
    reach = np.sqrt(best)
    # Without branches the compiler tests several balls at once.
    for r in range((count + RUN - 1) // RUN):
        dx, dy, dz, limit = x - runs[0, r], y - runs[1, r], z - runs[2, r], reach + runs[3, r]
        gaps[r] = dx * dx + dy * dy + dz * dz - limit * limit
    for r in range((count + RUN - 1) // RUN):
        # Nothing in a ball is nearer than its near side.
        if gaps[r] >= 0:
            continue
        for k in range(RUN * r, min(RUN * (r + 1), count)):
            dx, dy, dz, limit = x - balls[0, k], y - balls[1, k], z - balls[2, k], reach + balls[3, k]
            if dx * dx + dy * dy + dz * dz < limit * limit:
                square = square_of(x, y, z, triangles, k)
                if square < best:
                    best, which = square, k
                    reach = np.sqrt(best)
    return which, best


@njit_uncounted(cache=True, nogil=True)
def walk(x, y, z, triangles, walls, behind, start):
    """A triangle near a point, and the square of its distance: from ``start`` over sides that the point is beyond."""
    best, here, nearer = square_distance(x, y, z, triangles, start), start, True
    # Ends: every step is nearer.
    while nearer:
        nearer, k = False, here
        for side in range(3):
            height = x * walls[k, side, 0] + y * walls[k, side, 1] + z * walls[k, side, 2] - walls[k, side, 3]
            if height <= 0 or behind[k, side] < 0:
                continue
            other = behind[k, side] // 3
            square = square_distance(x, y, z, triangles, other)
            if square < best:
                best, here, nearer = square, other, True
    return here, best


def surface_memory(count: int) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Memory for ``count`` triangles: they, the balls around them and around runs of them, and the gaps of a search.

    Of each triangle: a corner, the two sides that leave it, what is added to distances, and slopes: by which the place
    of a foot grows along both sides, NaN where the triangle has no area; and one over the squares of all three sides.
    """
    runs = -(-count // RUN)
    return np.zeros((count, COLUMNS)), np.empty((4, count)), np.empty((4, runs)), np.empty(runs)


@njit_uncounted(cache=True, nogil=True)
def fill_triangles(positions, indices, begin, end, origin, triangles, balls, runs):
    """Write the triangles ``indices[begin:end]`` relative to ``origin`` [3], and balls around them; see above."""
    count = (end - begin) // 3
    for k in range(count):
        i = begin + 3 * k
        a, b, c = indices[i], indices[i + 1], indices[i + 2]
        for axis in range(3):
            # Differences of float32 in float64: exact, apart from coordinates of very different size.
            first = np.float64(positions[a, axis])
            triangles[k, axis] = first - origin[axis]
            triangles[k, 3 + axis] = np.float64(positions[b, axis]) - first
            triangles[k, 6 + axis] = np.float64(positions[c, axis]) - first
            balls[axis, k] = triangles[k, axis] + (triangles[k, 3 + axis] + triangles[k, 6 + axis]) / 3
        _fill_slopes(triangles, k)
        # The ball is around the centroid; the farthest corner decides, since balls are convex.
        square = 0.0
        for corner in range(3):
            reach = 0.0
            for axis in range(3):
                side = triangles[k, 3 * corner + axis] if corner else 0.0
                reach += (triangles[k, axis] + side - balls[axis, k]) ** 2
            square = max(square, reach)
        balls[3, k] = np.sqrt(square)
    fill_runs(balls, count, runs)


@njit_uncounted(cache=True, nogil=True)
def _fill_slopes(triangles, k):
    sx, sy, sz = triangles[k, 3], triangles[k, 4], triangles[k, 5]
    tx, ty, tz = triangles[k, 6], triangles[k, 7], triangles[k, 8]
    ss, st, tt = sx * sx + sy * sy + sz * sz, sx * tx + sy * ty + sz * tz, tx * tx + ty * ty + tz * tz
    area, third = ss * tt - st * st, square_length(tx - sx, ty - sy, tz - sz)
    if area > _FLAT * ss * tt and area > _LEAST:
        one, two, both = tt / area, ss / area, st / area
    else:
        one = two = both = np.nan
    triangles[k, 10], triangles[k, 13] = one * sx - both * tx, two * tx - both * sx
    triangles[k, 11], triangles[k, 14] = one * sy - both * ty, two * ty - both * sy
    triangles[k, 12], triangles[k, 15] = one * sz - both * tz, two * tz - both * sz
    triangles[k, 16], triangles[k, 17] = 1 / ss if ss > _LEAST else 0.0, 1 / tt if tt > _LEAST else 0.0
    triangles[k, 18] = 1 / third if third > _LEAST else 0.0


@njit_uncounted(cache=True, nogil=True)
def fill_runs(balls, count, runs):
    """Write the balls around each eight consecutive ones of the first ``count``."""
    for r in range((count + RUN - 1) // RUN):
        _fill_run(balls, RUN * r, min(RUN * (r + 1), count), runs, r)


@njit_uncounted(cache=True, nogil=True)
def _fill_run(balls, begin, end, runs, r):
    """Write the ball ``r`` around the balls ``begin`` .. ``end``."""
    for axis in range(3):
        total = 0.0
        for k in range(begin, end):
            total += balls[axis, k]
        runs[axis, r] = total / (end - begin)
    radius = 0.0
    for k in range(begin, end):
        dx, dy, dz = balls[0, k] - runs[0, r], balls[1, k] - runs[1, r], balls[2, k] - runs[2, r]
        radius = max(radius, np.sqrt(dx * dx + dy * dy + dz * dz) + balls[3, k])
    runs[3, r] = radius

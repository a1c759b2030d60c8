"""Distances from points to triangles, compiled."""

from __future__ import annotations

import numpy as np

from hra.compiling import njit_uncounted
from hra.domains.meshes.mesh.triangle_mesh import check_positions, check_triangles

# Column of triangles for what is added to distances from them.
OFF = 9
# Triangles that are passed over at once where they are too far away.
RUN = 8


@njit_uncounted(cache=True, nogil=True)
def square_distance(x, y, z, triangles, k):
    """Square of the distance from a point to triangle ``k`` of [n, 10], each a corner and the two sides that leave it.

    The result always belongs to a point of the triangle, also where the triangle is degenerate: it may then be too
    large, but is never too small.

    References
    ----------
    Ericson, Real-Time Collision Detection, 2005, section 5.1.5.
    """
    sx, sy, sz = triangles[k, 3], triangles[k, 4], triangles[k, 5]
    tx, ty, tz = triangles[k, 6], triangles[k, 7], triangles[k, 8]
    ax, ay, az = x - triangles[k, 0], y - triangles[k, 1], z - triangles[k, 2]
    bx, by, bz = ax - sx, ay - sy, az - sz
    cx, cy, cz = ax - tx, ay - ty, az - tz
    # Products of both sides with the way from each corner to the point: their signs tell the region that it is above.
    at_a, at_a2 = sx * ax + sy * ay + sz * az, tx * ax + ty * ay + tz * az
    # The regions of the plane that are nearest to a corner come first, then those of sides, then the inside.
    if at_a <= 0 and at_a2 <= 0:
        return ax * ax + ay * ay + az * az
    at_b, at_b2 = sx * bx + sy * by + sz * bz, tx * bx + ty * by + tz * bz
    if at_b >= 0 and at_b2 <= at_b:
        return bx * bx + by * by + bz * bz
    at_c, at_c2 = sx * cx + sy * cy + sz * cz, tx * cx + ty * cy + tz * cz
    if at_c2 >= 0 and at_c <= at_c2:
        return cx * cx + cy * cy + cz * cz
    # Barycentric coordinates of the foot, but for a factor.
    first, second, third = at_b * at_c2 - at_c * at_b2, at_c * at_a2 - at_a * at_c2, at_a * at_b2 - at_b * at_a2
    if third <= 0 and at_a >= 0 and at_a > at_b and at_b <= 0:
        return _square_length(ax, ay, az, sx, sy, sz, at_a / (at_a - at_b))
    if second <= 0 and at_a2 >= 0 and at_a2 > at_c2 and at_c2 <= 0:
        return _square_length(ax, ay, az, tx, ty, tz, at_a2 / (at_a2 - at_c2))
    along, back = at_b2 - at_b, at_c - at_c2
    if first <= 0 and along >= 0 and back >= 0 and along + back > 0:
        return _square_length(bx, by, bz, tx - sx, ty - sy, tz - sz, along / (along + back))
    total = first + second + third
    if not (first >= 0 and second >= 0 and third >= 0 and total > 0):
        # By rounding no region may claim the point. The corners belong to the triangle in any case.
        return min(ax * ax + ay * ay + az * az, bx * bx + by * by + bz * bz, cx * cx + cy * cy + cz * cz)
    # Within 0 .. 1 and together at most 1, but for rounding: a point of the triangle.
    s, t = second / total, third / total
    return _square_length(ax - s * sx, ay - s * sy, az - s * sz, tx, ty, tz, t)


@njit_uncounted(cache=True, nogil=True)
def _square_length(x, y, z, dx, dy, dz, share):
    x, y, z = x - share * dx, y - share * dy, z - share * dz
    return x * x + y * y + z * z


@njit_uncounted(cache=True, nogil=True)
def nearest_triangle(x, y, z, triangles, balls, runs, count, guess, gaps):
    """The nearest of the first ``count`` triangles of [n, 10], and the square of its distance.

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
                square = square_distance(x, y, z, triangles, k)
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
    """Memory for ``count`` triangles: they, the balls around them and around runs of them, and the gaps of a search."""
    runs = -(-count // RUN)
    return np.zeros((count, OFF + 1)), np.empty((4, count)), np.empty((4, runs)), np.empty(runs)


@njit_uncounted(cache=True, nogil=True)
def fill_triangles(positions, indices, begin, end, origin, triangles, balls, runs):
    """Write the triangles ``indices[begin:end]`` relative to ``origin`` [3], and balls around them; see above."""
    count = (end - begin) // 3
    for k in range(count):
        i = begin + 3 * k
        a, b, c = indices[i], indices[i + 1], indices[i + 2]
        for axis in range(3):
            # Differences of float32 in float64: exact, but for coordinates of very different size.
            first = np.float64(positions[a, axis])
            triangles[k, axis] = first - origin[axis]
            triangles[k, 3 + axis] = np.float64(positions[b, axis]) - first
            triangles[k, 6 + axis] = np.float64(positions[c, axis]) - first
            balls[axis, k] = triangles[k, axis] + (triangles[k, 3 + axis] + triangles[k, 6 + axis]) / 3
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


def nearest_distances(points: np.ndarray, positions: np.ndarray, triangles: np.ndarray) -> np.ndarray:
    """Distance from each point float64 [S, 3] to the nearest of ``triangles`` uint32 [F, 3]; float64 [S].

    Every run of triangles is looked at, in about a nanosecond each.

    Raises
    ------
    MeshError : points or positions that are not finite numbers [n, 3], no triangles, or a vertex that is not there.

    Examples
    --------
    >>> import numpy as np
    >>> from hra.domains import meshes
    >>> corners = np.array([[0, 0, 0], [1, 0, 0], [0, 1, 0]], np.float32)
    >>> points = np.array([[0.2, 0.2, 0.5], [2.0, 0.0, 0.0]])
    >>> meshes.nearest_distances(points, corners, np.array([[0, 1, 2]], np.uint32))
    array([0.5, 1. ])
    """
    # Compiled loops index without checks: what is out of range would be read from somewhere.
    check_positions(points, "points")
    check_positions(positions, "positions")
    check_triangles(triangles, len(positions), "triangles")
    origin = positions[0].astype(np.float64)
    corners, balls, runs, gaps = surface_memory(len(triangles))
    indices = np.ascontiguousarray(triangles).reshape(-1)
    fill_triangles(positions, indices, 0, indices.size, origin, corners, balls, runs)
    squares = np.empty(len(points))
    _measure(points - origin, corners, balls, runs, gaps, squares)
    return np.sqrt(squares)


@njit_uncounted(cache=True, nogil=True)
def _measure(points, triangles, balls, runs, gaps, squares):
    guess = 0
    for i in range(len(points)):
        x, y, z = points[i, 0], points[i, 1], points[i, 2]
        guess, squares[i] = nearest_triangle(x, y, z, triangles, balls, runs, len(triangles), guess, gaps)

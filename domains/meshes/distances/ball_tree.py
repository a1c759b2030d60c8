"""A tree of balls, eight in each, over triangles along a space-filling curve, in which near ones are found."""

from __future__ import annotations

import numpy as np

from hra.compiling import njit, njit_uncounted
from hra.domains.meshes.distances.triangle_distance import fill_triangles, square_distance, surface_memory

# What rounding may add to radii.
_ROUNDING = 2.0**-40
_FAN = 8
# Of so few triangles of a kind all are looked at: the tree has those of other kinds in between.
_FEW = 48


def ball_tree(
    positions: np.ndarray, indices: np.ndarray, origin: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Triangles [F, 10], balls around each and around eight of the level below [4, B], and where levels begin."""
    count = indices.size // 3
    triangles, balls, runs, _ = surface_memory(count)
    fill_triangles(positions, indices, 0, indices.size, origin, triangles, balls, runs)
    levels = [balls]
    while levels[-1].shape[1] > 1:
        below = levels[-1]
        begins = np.arange(0, below.shape[1], _FAN)
        middle = np.add.reduceat(below[:3], begins, axis=1) / np.diff(np.append(begins, below.shape[1]))
        number = np.arange(below.shape[1]) // _FAN
        reach = np.linalg.norm(below[:3] - middle[:, number], axis=0) + below[3]
        levels.append(np.concatenate([middle, np.maximum.reduceat(reach, begins)[None] * (1 + _ROUNDING)]))
    ends = np.cumsum([0, *(level.shape[1] for level in levels)])
    return triangles, np.ascontiguousarray(np.concatenate(levels, axis=1).T), ends


@njit_uncounted(cache=True, nogil=True)
def _begin(ends, waiting):
    """A search waits for the ball around all, so for one."""
    waiting[0, 0], waiting[0, 1] = ends.size - 2, 0
    return np.int64(1)


@njit_uncounted(cache=True, nogil=True)
def _next_triangle(x, y, z, reach, balls, ends, waiting, size):
    """The next triangle whose ball is within ``reach`` of a point, -1 for none, and how many balls wait then."""
    while size:
        size -= 1
        level, k = waiting[size, 0], waiting[size, 1]
        ball = ends[level] + k
        dx, dy, dz, limit = x - balls[ball, 0], y - balls[ball, 1], z - balls[ball, 2], reach + balls[ball, 3]
        if dx * dx + dy * dy + dz * dz >= limit * limit:
            continue
        if level == 0:
            return k, size
        # The nearest child comes first: what it holds makes the others too far away.
        begin, nearest = size, np.inf
        for child in range(_FAN * k, min(_FAN * (k + 1), ends[level] - ends[level - 1])):
            ball = ends[level - 1] + child
            dx, dy, dz, limit = x - balls[ball, 0], y - balls[ball, 1], z - balls[ball, 2], reach + balls[ball, 3]
            square = dx * dx + dy * dy + dz * dz
            if square >= limit * limit:
                continue
            waiting[size, 0], waiting[size, 1] = level - 1, child
            if square < nearest:
                nearest, begin = square, size
            size += 1
        if size > begin:
            last = waiting[size - 1, 1]
            waiting[size - 1, 1], waiting[begin, 1] = waiting[begin, 1], last
    return np.int64(-1), size


@njit(cache=True, nogil=True)
def nearest_in_tree(x, y, z, triangles, balls, ends, guess, waiting, enough):
    """The triangle nearest to a point, and the square of its distance; a near ``guess`` saves time.

    The first whose square is at most ``enough`` ends the search.
    """
    if guess >= len(triangles):
        guess = 0
    best, which = square_distance(x, y, z, triangles, guess), guess
    if best <= enough:
        return which, best
    reach = np.sqrt(best)
    k, size = _next_triangle(x, y, z, reach, balls, ends, waiting, _begin(ends, waiting))
    while k >= 0:
        square = square_distance(x, y, z, triangles, k)
        if square < best:
            best, which = square, k
            if best <= enough:
                break
            reach = np.sqrt(best)
        k, size = _next_triangle(x, y, z, reach, balls, ends, waiting, size)
    return which, best


def nearest_of_tree(
    points: np.ndarray, triangles: np.ndarray, balls: np.ndarray, ends: np.ndarray, enough: float = -1.0
) -> tuple[np.ndarray, np.ndarray]:
    """The triangle of a `ball_tree` nearest to each of ``points`` float64 [n, 3], int64 [n], and how far it is.

    The origin of the tree is that of the points. Of what is within ``enough``, any triangle so near will do.
    """
    near, squares = np.empty(len(points), np.int64), np.empty(len(points))
    _measure(np.ascontiguousarray(points), triangles, balls, ends, enough, False, near, squares)
    return near, np.sqrt(squares)


def farthest_of_tree(
    points: np.ndarray, triangles: np.ndarray, balls: np.ndarray, ends: np.ndarray, least: float
) -> float:
    """How far the farthest of ``points`` float64 [n, 3] is from triangles of a `ball_tree`, ``least`` if none is."""
    near, squares = np.empty(len(points), np.int64), np.empty(len(points))
    _measure(np.ascontiguousarray(points), triangles, balls, ends, least, True, near, squares)
    return max(least, float(np.sqrt(squares.max(initial=0.0))))


@njit(cache=True, nogil=True)
def _measure(points, triangles, balls, ends, enough, rising, near, squares):
    """``rising``: the farthest so far is enough for those that follow."""
    waiting, guess = np.empty((8 * ends.size + 8, 2), np.int64), np.int64(0)
    enough = enough * abs(enough)
    for i in range(len(points)):
        x, y, z = points[i, 0], points[i, 1], points[i, 2]
        guess, squares[i] = nearest_in_tree(x, y, z, triangles, balls, ends, guess, waiting, enough)
        near[i] = guess
        if rising:
            enough = max(enough, squares[i])


@njit(cache=True, nogil=True)
def find_feet(points, normals, kinds, tree, of_triangle, facing, face, shares):
    """Put each point on the nearest triangle of its kind.

    Parameters
    ----------
    points, normals : float64 [n, 3]; kinds : int64 [n].
    tree : `ball_tree`; of_triangle : normals float64 [F, 3] and kinds int64 [F] of its triangles.
    facing : the least cosine of both normals; where no triangle has it, any will do.
    face : int64 [n], guesses, -1 for none; the triangles are written to it, -1 where none is of the kind.
    shares : float64 [n, 3], what the corners of the triangle have of the nearest point is written to it.
    """
    (triangles, _, ends), kind = tree, of_triangle[1]
    waiting = np.empty((8 * ends.size + 8, 2), np.int64)
    # The triangles of each kind, side by side, and of each the one that was found last: a guess of the right kind.
    most = np.int64(0)
    for k in range(kind.size):
        most = max(most, kind[k] + 1)
    begin, order, last = np.zeros(most + 2, np.int64), np.empty(kind.size, np.int64), np.empty(most, np.int64)
    for k in range(kind.size):
        begin[kind[k] + 2] += 1
    for k in range(most):
        begin[k + 2] += begin[k + 1]
    for k in range(kind.size):
        order[begin[kind[k] + 1]] = last[kind[k]] = k
        begin[kind[k] + 1] += 1
    for i in range(len(points)):
        own = kinds[i]
        if own >= most or begin[own] == begin[own + 1]:
            face[i] = -1
            continue
        x, y, z = points[i, 0], points[i, 1], points[i, 2]
        guess, alike = face[i] if face[i] >= 0 else last[own], order[begin[own] : begin[own + 1]]
        found = _alike(x, y, z, normals, kinds, i, tree, of_triangle, facing, guess, waiting, alike)
        if found < 0:
            found = _alike(x, y, z, normals, kinds, i, tree, of_triangle, -2.0, guess, waiting, alike)
        face[i] = found
        if found >= 0:
            last[own] = found
            s, t = _foot(x, y, z, triangles, found)
            shares[i, 0], shares[i, 1], shares[i, 2] = 1 - s - t, s, t


@njit_uncounted(cache=True, nogil=True)
def _alike(x, y, z, normals, kinds, i, tree, of_triangle, facing, guess, waiting, alike):
    """The nearest triangle of the kind of point ``i``, one of those in ``alike``, -1 where none faces it."""
    (triangles, balls, ends), (others, kind) = tree, of_triangle
    best, which = np.inf, np.int64(-1)
    if kind[guess] == kinds[i] and _cosine(normals, i, others, guess) >= facing:
        best, which = square_distance(x, y, z, triangles, guess), guess
    reach = np.sqrt(best)
    if alike.size <= _FEW:
        for k in alike:
            dx, dy, dz, limit = x - balls[k, 0], y - balls[k, 1], z - balls[k, 2], reach + balls[k, 3]
            if dx * dx + dy * dy + dz * dz < limit * limit and _cosine(normals, i, others, k) >= facing:
                square = square_distance(x, y, z, triangles, k)
                if square < best:
                    best, which = square, k
                    reach = np.sqrt(best)
        return which
    k, size = _next_triangle(x, y, z, reach, balls, ends, waiting, _begin(ends, waiting))
    while k >= 0:
        if kind[k] == kinds[i] and _cosine(normals, i, others, k) >= facing:
            square = square_distance(x, y, z, triangles, k)
            if square < best:
                best, which = square, k
                reach = np.sqrt(best)
        k, size = _next_triangle(x, y, z, reach, balls, ends, waiting, size)
    return which


@njit_uncounted(cache=True, nogil=True)
def _cosine(a, i, b, k):
    return a[i, 0] * b[k, 0] + a[i, 1] * b[k, 1] + a[i, 2] * b[k, 2]


@njit_uncounted(cache=True, nogil=True)
def _foot(x, y, z, triangles, k):
    """The shares of the second and the third corner in the point of triangle ``k`` that is nearest to a point."""
    sx, sy, sz = triangles[k, 3], triangles[k, 4], triangles[k, 5]
    tx, ty, tz = triangles[k, 6], triangles[k, 7], triangles[k, 8]
    ax, ay, az = x - triangles[k, 0], y - triangles[k, 1], z - triangles[k, 2]
    by_s, by_t = sx * ax + sy * ay + sz * az, tx * ax + ty * ay + tz * az
    ss, st, tt = sx * sx + sy * sy + sz * sz, sx * tx + sy * ty + sz * tz, tx * tx + ty * ty + tz * tz
    size = ss * tt - st * st
    if size > 0:
        s, t = (tt * by_s - st * by_t) / size, (ss * by_t - st * by_s) / size
        if s >= 0 and t >= 0 and s + t <= 1:
            return s, t
    # On one of the sides, the nearest of three points: squares of distances but for what they have in common.
    s = min(max(by_s / ss, 0.0), 1.0) if ss > 0 else 0.0
    least, first, second = s * s * ss - 2 * s * by_s, s, 0.0
    t = min(max(by_t / tt, 0.0), 1.0) if tt > 0 else 0.0
    square = t * t * tt - 2 * t * by_t
    if square < least:
        least, first, second = square, 0.0, t
    length = ss - 2 * st + tt
    t = min(max((by_t - by_s - st + ss) / length, 0.0), 1.0) if length > 0 else 0.0
    s = 1 - t
    square = s * s * ss + 2 * s * t * st + t * t * tt - 2 * s * by_s - 2 * t * by_t
    if square < least:
        first, second = s, t
    return first, second

"""Where on the coarse surface the vertices lie that it does not have: inside a triangle, on a side or at a vertex."""

from __future__ import annotations

import numpy as np

from hra.compiling import njit_uncounted
from hra.domains.meshes.measures.mapping.surfaces import before

# Columns of homes: the coarse triangle that a vertex is near to, the side or the vertex that its place is on, or -1;
# for a coarse vertex, a side that begins there, see `link_sides`.
TRIANGLE, SIDE, VERTEX, FAN = 0, 1, 2, 3
# Triangles that a wider search looks at, from the last one on that was nearer.
_WIDE = 64


@njit_uncounted(cache=True, nogil=True)
def nearest_place(x, y, z, triangles, k):
    """The point of triangle ``k`` of [n, 9] that is nearest: square of the distance, the point, and on what it lies.

    0: inside; 1, 2, 3: on a side; 4, 5, 6: at a corner.

    References
    ----------
    Ericson, Real-Time Collision Detection, 2005, section 5.1.5.
    """
    sx, sy, sz = triangles[k, 3], triangles[k, 4], triangles[k, 5]
    tx, ty, tz = triangles[k, 6], triangles[k, 7], triangles[k, 8]
    ax, ay, az = x - triangles[k, 0], y - triangles[k, 1], z - triangles[k, 2]
    bx, by, bz = ax - sx, ay - sy, az - sz
    cx, cy, cz = ax - tx, ay - ty, az - tz
    at_a, at_a2 = sx * ax + sy * ay + sz * az, tx * ax + ty * ay + tz * az
    at_b, at_b2 = sx * bx + sy * by + sz * bz, tx * bx + ty * by + tz * bz
    at_c, at_c2 = sx * cx + sy * cy + sz * cz, tx * cx + ty * cy + tz * cz
    first, second, third = at_b * at_c2 - at_c * at_b2, at_c * at_a2 - at_a * at_c2, at_a * at_b2 - at_b * at_a2
    along, back = at_b2 - at_b, at_c - at_c2
    # Shares of both sides that leave the first corner.
    s, t, on = 0.0, 0.0, 4
    if at_a <= 0 and at_a2 <= 0:
        pass
    elif at_b >= 0 and at_b2 <= at_b:
        s, on = 1.0, 5
    elif at_c2 >= 0 and at_c <= at_c2:
        t, on = 1.0, 6
    elif third <= 0 and at_a >= 0 and at_a > at_b and at_b <= 0:
        s, on = at_a / (at_a - at_b), 1
    elif second <= 0 and at_a2 >= 0 and at_a2 > at_c2 and at_c2 <= 0:
        t, on = at_a2 / (at_a2 - at_c2), 3
    elif first <= 0 and along >= 0 and back >= 0 and along + back > 0:
        t, on = along / (along + back), 2
        s = 1 - t
    elif first >= 0 and second >= 0 and third >= 0 and first + second + third > 0:
        s, t, on = second / (first + second + third), third / (first + second + third), 0
    # Else, by rounding, no region claims the point: the first corner belongs to the triangle in any case.
    ax, ay, az = ax - s * sx - t * tx, ay - s * sy - t * ty, az - s * sz - t * tz
    return ax * ax + ay * ay + az * az, x - ax, y - ay, z - az, on


@njit_uncounted(cache=True, nogil=True)
def write_triangle(a, b, c, places, triangles, k):
    """Write the triangle of three vertices as the one with number ``k``: a corner, and the two sides that leave it."""
    for axis in range(3):
        triangles[k, axis] = places[a, axis]
        triangles[k, 3 + axis] = places[b, axis] - places[a, axis]
        triangles[k, 6 + axis] = places[c, axis] - places[a, axis]


@njit_uncounted(cache=True, nogil=True)
def square_from_fine(x, y, z, side, fine, places, triangles):
    """Square of how far a point is from the fine triangle that ``side`` belongs to."""
    first, spare = side - side % 3, len(triangles) - 1
    write_triangle(fine[first], fine[first + 1], fine[first + 2], places, triangles, spare)
    return nearest_place(x, y, z, triangles, spare)[0]


@njit_uncounted(cache=True, nogil=True)
def place_near(x, y, z, start, triangles, coarse, behind, homes):
    """A near place, from triangle ``start`` on over sides and corners that are nearer.

    As `nearest_place`, and the triangle last.
    """
    found = _nearer(x, y, z, triangles, start, (np.inf, x, y, z, 0, start))
    nearest = np.inf
    # Ends: every turn is nearer. Inside of a triangle, nothing beside it is.
    while found[0] < nearest and found[4] > 0:
        nearest, on, k = found[0], found[4], found[5]
        if on < 4:
            side = behind[3 * k + on - 1]
            if side >= 0:
                found = _nearer(x, y, z, triangles, side // 3, found)
        else:
            side = first = homes[coarse[3 * k + on - 4], FAN]
            while side >= 0:
                found = _nearer(x, y, z, triangles, side // 3, found)
                side = behind[before(side)]
                if side == first:
                    break
    return found


@njit_uncounted(cache=True, nogil=True)
def place_wide(x, y, z, found, triangles, behind, queue, seen, stamp):
    """The nearest place of the triangles around the one that was ``found``.

    Not of all of them: the nearest one may be on the other side of a fold, from which no short path leads back.
    """
    queue[0], seen[found[5]], waiting, at, limit = found[5], stamp, 1, 0, _WIDE
    while at < waiting and at < limit:
        k, square = queue[at], found[0]
        found = _nearer(x, y, z, triangles, k, found)
        if found[0] < square:
            limit = at + _WIDE
        for side in range(3 * k, 3 * k + 3):
            other = behind[side] // 3
            if behind[side] >= 0 and seen[other] != stamp:
                seen[other], queue[waiting] = stamp, other
                waiting += 1
        at += 1
    return found


@njit_uncounted(cache=True, nogil=True)
def _nearer(x, y, z, triangles, k, found):
    square, px, py, pz, on = nearest_place(x, y, z, triangles, k)
    if square < found[0]:
        return square, px, py, pz, on, k
    return found


@njit_uncounted(cache=True, nogil=True)
def is_home(v, k, homes, coarse, behind):
    """Whether the place of vertex ``v`` belongs to triangle ``k``."""
    if homes[v, VERTEX] >= 0:
        w = homes[v, VERTEX]
        return coarse[3 * k] == w or coarse[3 * k + 1] == w or coarse[3 * k + 2] == w
    if k == homes[v, TRIANGLE]:
        return True
    side = homes[v, SIDE]
    return side >= 0 and behind[side] >= 0 and behind[side] // 3 == k

"""The vertices of a group: the coarse ones stay where they are, the others get places on the coarse surface.

A place is inside a triangle, on a side or at a vertex.
"""

from __future__ import annotations

import numpy as np

from hra.compiling import njit, njit_uncounted
from hra.domains.meshes.distances.mapping.memory import raise_bounds
from hra.domains.meshes.distances.mapping.surfaces import after, before

# A place is much nearer if the distance is this many times as large.
_MUCH = 1.2
# Columns of homes: the coarse triangle that a vertex is near to, the side or the vertex that its place is on, or -1;
# for a coarse vertex, a side that begins there, see `link_sides`.
TRIANGLE, SIDE, VERTEX, FAN = 0, 1, 2, 3
# Triangles that a wider search looks at, from the last one on that was nearer.
_WIDE = 64


@njit_uncounted(cache=True, nogil=True)
def fill_coarse(kept, sides, memory):
    """Write coarse triangles, what is upright on them at their vertices, and where those are at home."""
    places, triangles, normals, coarse = memory.places, memory.triangles, memory.normals, memory.coarse
    for v in range(kept):
        memory.homes[v, VERTEX] = v
        for axis in range(3):
            memory.feet[v, axis], normals[v, axis] = places[v, axis], 0.0
    for k in range(sides // 3):
        a, b, c = coarse[3 * k], coarse[3 * k + 1], coarse[3 * k + 2]
        write_triangle(a, b, c, places, triangles, k)
        for v in (a, b, c):
            add_normal(v, triangles, k, normals)


@njit_uncounted(cache=True, nogil=True)
def place_vertices(sides, kept, count, memory, stamp):
    """Give each vertex that is not kept a place; the last stamp used."""
    fine, homes, left = memory.fine, memory.homes, count - kept
    # Most have a neighbour with a place at once: its place is where theirs is looked for. Others wait for one.
    before = left + 1
    while 0 < left < before:
        before = left
        for side in range(sides):
            v = fine[side]
            if homes[v, TRIANGLE] >= 0 or v < kept:
                continue
            start = np.int64(-1)
            for other in (fine[after(side)], fine[after(after(side))]):
                if other < kept and homes[other, FAN] >= 0:
                    start = homes[other, FAN] // 3
                elif homes[other, TRIANGLE] >= 0:
                    start = homes[other, TRIANGLE]
            if start >= 0:
                stamp, left = _place(v, start, memory, stamp), left - 1
    return stamp if left == 0 else -stamp


@njit_uncounted(cache=True, nogil=True)
def is_misplaced(sides, kept, count, memory):
    """Whether the vertex that raises a bound most has a much nearer place: then paths around it lead astray."""
    places, feet, off = memory.places, memory.feet, memory.off
    for which in range(2):
        most, farthest, least = -1.0, np.int64(-1), np.inf
        for v in range(kept, count):
            x, y, z = places[v, 0] - feet[v, 0], places[v, 1] - feet[v, 1], places[v, 2] - feet[v, 2]
            apart = np.sqrt(x * x + y * y + z * z)
            if off[v, which] + apart > most:
                most, farthest = off[v, which] + apart, v
        if farthest < 0:
            return False
        for k in range(sides // 3):
            x, y, z = places[farthest, 0], places[farthest, 1], places[farthest, 2]
            least = min(least, nearest_place(x, y, z, memory.triangles, k)[0])
        if _MUCH * np.sqrt(least) < most - off[farthest, which]:
            return True
    return False


@njit(inline="always")
def _place(v, start, memory, stamp):
    """Give vertex ``v`` a place, from coarse triangle ``start`` on; the last stamp used."""
    coarse, behind, homes, triangles = memory.coarse, memory.behind, memory.homes, memory.triangles
    x, y, z = memory.places[v, 0], memory.places[v, 1], memory.places[v, 2]
    found = place_near(x, y, z, start, triangles, coarse, behind, homes)
    apart, lost, added = np.sqrt(found[0]), memory.off[v, 0], memory.off[v, 1]
    # A wider search only where a bound would rise.
    if lost + apart > memory.bounds[0] or added + apart > memory.bounds[1]:
        stamp += 1
        found = place_wide(x, y, z, found, triangles, behind, memory.queue, memory.seen, stamp)
        raise_bounds(found[0], lost, added, memory.bounds)
    _, memory.feet[v, 0], memory.feet[v, 1], memory.feet[v, 2], on, k = found
    _settle(v, on, k, memory.normals, triangles, coarse, behind, homes)
    return stamp


@njit_uncounted(cache=True, nogil=True)
def _settle(v, on, k, normals, triangles, coarse, behind, homes):
    """Write where vertex ``v`` is at home, whose place lies ``on`` triangle ``k`` as `nearest_place` says."""
    homes[v, TRIANGLE] = k
    if on > 3:
        w = coarse[3 * k + on - 4]
        homes[v, VERTEX] = w
        for axis in range(3):
            normals[v, axis] = normals[w, axis]
        return
    for axis in range(3):
        normals[v, axis] = 0.0
    add_normal(v, triangles, k, normals)
    if on > 0:
        homes[v, SIDE] = 3 * k + on - 1
        if behind[3 * k + on - 1] >= 0:
            add_normal(v, triangles, behind[3 * k + on - 1] // 3, normals)


@njit_uncounted(cache=True, nogil=True)
def add_normal(v, triangles, k, normals):
    """Add what is upright on triangle ``k``, as long as twice its area, to the normal of vertex ``v``."""
    sx, sy, sz = triangles[k, 3], triangles[k, 4], triangles[k, 5]
    tx, ty, tz = triangles[k, 6], triangles[k, 7], triangles[k, 8]
    normals[v, 0] += sy * tz - sz * ty
    normals[v, 1] += sz * tx - sx * tz
    normals[v, 2] += sx * ty - sy * tx


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

"""Paths over the coarse surface, between the places of two vertices, and the loops that they make.

A path is the sides that it crosses. Any path is valid. Which one is taken decides how tight the bound is: one that
stays near to the straight side.

The paths of a fine triangle's three sides make a loop, written as the sides that it crosses. Where it crosses one and
comes straight back, nothing lies between: both are left out. If nothing is left, the loop encloses no coarse vertex,
and the triangle maps into what its sides pass.
"""

from __future__ import annotations

import numpy as np

from hra.compiling import njit_uncounted
from hra.domains.meshes.distances.mapping.memory import LONGEST
from hra.domains.meshes.distances.mapping.surfaces import after, before
from hra.domains.meshes.distances.mapping.vertices import FAN, SIDE, TRIANGLE, VERTEX, is_home, square_from_fine

# Vertices over which a loop is pushed before it counts as one without an end.
_MOST_ENCLOSED = 8
# Steps around a vertex that are taken without a look at the other way.
_FEW = 3


@njit_uncounted(cache=True, nogil=True)
def straight_path(u, w, feet, normals, homes, coarse, behind, path, begin):
    """Write the sides that are crossed on the straight way from vertex ``u`` to ``w``, seen along their normals.

    Returns the first triangle, the last one and the end of what was written; -1 where the way leaves the surface or
    misses.

    Parameters
    ----------
    feet, normals : [n, 3], the places of vertices, and what is upright there.
    path : sides are written from ``begin`` on, each as seen from the triangle that is left.
    """
    nowhere = np.int64(-1), np.int64(-1), begin
    if homes[u, VERTEX] >= 0:
        # The triangle at the vertex through which the way leads; or one where both are at home.
        out, side = np.int64(-1), homes[homes[u, VERTEX], FAN]
        first = side
        while side >= 0:
            if is_home(w, side // 3, homes, coarse, behind):
                return side // 3, side // 3, begin
            side = behind[before(side)]
            if side == first:
                break
        line, side = _line(u, w, feet, normals), first
        while side >= 0:
            if _crosses(line, feet, coarse, after(side)):
                out = after(side)
                break
            side = behind[before(side)]
            if side == first:
                break
    else:
        k = homes[u, TRIANGLE]
        if is_home(w, k, homes, coarse, behind):
            return k, k, begin
        line = _line(u, w, feet, normals)
        out, side = np.int64(-1), homes[u, SIDE]
        if side >= 0:
            # Away over the side on which the place is, or into the triangle: as if it had been entered here.
            if _crosses(line, feet, coarse, side):
                side = behind[side]
                if side < 0:
                    return nowhere
                if is_home(w, side // 3, homes, coarse, behind):
                    return side // 3, side // 3, begin
            elif behind[side] >= 0 and is_home(w, behind[side] // 3, homes, coarse, behind):
                return behind[side] // 3, behind[side] // 3, begin
            out = _ahead(line, feet, coarse, side)
        else:
            for side in range(3 * k, 3 * k + 3):
                if _crosses(line, feet, coarse, side):
                    out = side
                    break
    if out < 0:
        return nowhere
    first, end = out // 3, begin
    while end - begin < LONGEST:
        path[end] = out
        end += 1
        side = behind[out]
        if side < 0:
            return nowhere
        if is_home(w, side // 3, homes, coarse, behind):
            return first, side // 3, end
        out = _ahead(line, feet, coarse, side)
    return nowhere


@njit_uncounted(cache=True, nogil=True)
def _line(u, w, feet, normals):
    """A point of the way, and the direction to its left."""
    ex, ey, ez = feet[w, 0] - feet[u, 0], feet[w, 1] - feet[u, 1], feet[w, 2] - feet[u, 2]
    nx, ny, nz = normals[u, 0] + normals[w, 0], normals[u, 1] + normals[w, 1], normals[u, 2] + normals[w, 2]
    x, y, z = ny * ez - nz * ey, nz * ex - nx * ez, nx * ey - ny * ex
    return x, y, z, x * feet[u, 0] + y * feet[u, 1] + z * feet[u, 2]


@njit_uncounted(cache=True, nogil=True)
def _is_left(line, feet, v):
    return line[0] * feet[v, 0] + line[1] * feet[v, 1] + line[2] * feet[v, 2] > line[3]


@njit_uncounted(cache=True, nogil=True)
def _crosses(line, feet, coarse, side):
    """Whether the way goes out over a side: from its right end to its left one."""
    return not _is_left(line, feet, coarse[side]) and _is_left(line, feet, coarse[after(side)])


@njit_uncounted(cache=True, nogil=True)
def _ahead(line, feet, coarse, side):
    """The side over which the way goes on that came in over ``side``."""
    return after(side) if _is_left(line, feet, coarse[before(side)]) else before(side)


@njit_uncounted(cache=True, nogil=True)
def shortest_path(u, w, sides, homes, coarse, behind, path, begin, queue, came, seen, stamp):
    """The same by the fewest sides (breadth first); -1 where none leads there."""
    waiting = at = 0
    for k in range(sides // 3):
        # Where borders touch in a vertex, not all of its triangles are around one side.
        if is_home(u, k, homes, coarse, behind):
            queue[waiting], seen[k], came[k] = k, stamp, -1
            waiting += 1
    while at < waiting:
        k = queue[at]
        if is_home(w, k, homes, coarse, behind):
            return _way_back(k, path, begin, came)
        for side in range(3 * k, 3 * k + 3):
            other = behind[side] // 3
            # The first way to a triangle is one of the fewest sides.
            if behind[side] >= 0 and seen[other] != stamp:
                queue[waiting], seen[other], came[other] = other, stamp, side
                waiting += 1
        at += 1
    return np.int64(-1), np.int64(-1), begin


@njit_uncounted(cache=True, nogil=True)
def _way_back(last, path, begin, came):
    steps, k = 0, last
    while came[k] >= 0:
        steps, k = steps + 1, came[k] // 3
    first, k = k, last
    for i in range(begin + steps - 1, begin - 1, -1):
        path[i] = came[k]
        k = came[k] // 3
    return first, last, begin + steps


@njit_uncounted(cache=True, nogil=True)
def cross(loop, count, side, behind):
    """Go on over ``side``; the new length."""
    if count and loop[count - 1] == behind[side]:
        return count - 1
    loop[count] = side
    return count + 1


@njit_uncounted(cache=True, nogil=True)
def turn(v, here, there, homes, coarse, behind, loop, count):
    """Go on from triangle ``here`` to ``there``, both homes of vertex ``v``; the new length, -1 where it is not so.

    The place belongs to all that is crossed, so that this costs nothing.
    """
    side = homes[v, SIDE]
    if homes[v, VERTEX] < 0:
        if side >= 0 and side // 3 != here:
            side = behind[side]
        if side < 0 or side // 3 != here or behind[side] < 0 or behind[side] // 3 != there:
            return -1
        return cross(loop, count, side, behind)
    side = _side_at(here, homes[v, VERTEX], coarse)
    # Corners are met counter-clockwise; within the fine triangle, one turns clockwise from one side to the next.
    right = _steps(side, there, False, behind)
    if not 0 < right <= _FEW:
        left = _steps(side, there, True, behind)
        if left > 0 and (right < 0 or left < right):
            return _go_around(side, there, True, behind, loop, count)
    return -1 if right < 0 else _go_around(side, there, False, behind, loop, count)


@njit_uncounted(cache=True, nogil=True)
def _side_at(k, v, coarse):
    """The side of triangle ``k`` that begins at vertex ``v``."""
    return 3 * k if coarse[3 * k] == v else (3 * k + 1 if coarse[3 * k + 1] == v else 3 * k + 2)


@njit_uncounted(cache=True, nogil=True)
def _steps(side, there, left, behind):
    """How many sides lie between two triangles around the vertex where ``side`` begins; -1 beyond a border."""
    steps, start = 0, side
    while side // 3 != there:
        side = behind[before(side)] if left else behind[side]
        if side < 0:
            return -1
        side = side if left else after(side)
        steps += 1
        if side == start:
            return -1
    return steps


@njit_uncounted(cache=True, nogil=True)
def _go_around(side, there, left, behind, loop, count):
    """Cross the sides between two triangles around the vertex where ``side`` begins; the new length."""
    while side // 3 != there:
        out = before(side) if left else side
        count = cross(loop, count, out, behind)
        side = behind[out] if left else after(behind[out])
    return count


@njit_uncounted(cache=True, nogil=True)
def enclosed(count, side, memory):
    """Square of how far the farthest coarse vertex that a loop encloses is from the fine triangle of a ``side``.

    0 where it encloses none, -1 where it cannot be drawn together. The loop is pushed over one vertex after the other,
    each of which becomes the partner of the nearest point of the triangle.

    Parameters
    ----------
    count : sides that the loop crosses.
    """
    loop, other, coarse, behind = memory.loop, memory.other, memory.coarse, memory.behind
    square, begin = 0.0, 0
    for _ in range(_MOST_ENCLOSED):
        while count - begin >= 2 and loop[begin] == behind[loop[count - 1]]:
            begin, count = begin + 1, count - 1
        if begin == count:
            return square
        start, length, vertex = _longest_turn(loop, begin, count, coarse)
        count = _push_over(loop, begin, count, start, length, vertex, coarse, behind, other)
        if count < 0:
            return -1.0
        x, y, z = memory.places[vertex, 0], memory.places[vertex, 1], memory.places[vertex, 2]
        square = max(square, square_from_fine(x, y, z, side, memory.fine, memory.places, memory.triangles))
        begin = 0
        for i in range(count):
            loop[i] = other[i]
    return -1.0


@njit_uncounted(cache=True, nogil=True)
def _longest_turn(loop, begin, count, coarse):
    """Where the longest run of sides begins that all meet in one vertex, how long it is, and the vertex."""
    total = count - begin
    start, most, vertex = begin, 0, -1
    for i in range(total):
        side = loop[begin + i]
        for v in (coarse[side], coarse[after(side)]):
            length = 1
            while length < total:
                side = loop[begin + (i + length) % total]
                if coarse[side] != v and coarse[after(side)] != v:
                    break
                length += 1
            if length > most:
                start, most, vertex = begin + i, length, v
    return start, most, vertex


@njit_uncounted(cache=True, nogil=True)
def _push_over(loop, begin, count, start, length, vertex, coarse, behind, to):
    """Write the loop that passes ``vertex`` on its other side; its length, -1 where a border is in the way."""
    total = count - begin
    first, last = loop[start], loop[begin + (start - begin + length - 1) % total]
    here, there = first // 3, behind[last] // 3
    # Sides that begin at the vertex are crossed to the right of it, so the other way leads to the left.
    left, at = coarse[first] == vertex, _side_at(here, vertex, coarse)
    if _steps(at, there, left, behind) < 0:
        return -1
    new = _go_around(at, there, left, behind, to, 0)
    for i in range(length, total):
        new = cross(to, new, loop[begin + (start - begin + i) % total], behind)
    return new

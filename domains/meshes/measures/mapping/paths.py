"""Paths over the coarse surface, between the places of two vertices: which sides are crossed.

Any path is valid. Which one is taken decides how tight the bound is: one that stays near to the straight side.
"""

from __future__ import annotations

import numpy as np

from hra.compiling import njit_uncounted
from hra.domains.meshes.measures.mapping.places import FAN, SIDE, TRIANGLE, VERTEX, is_home
from hra.domains.meshes.measures.mapping.surfaces import after, before

# Sides that a straight path crosses at most.
LONGEST = 16


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

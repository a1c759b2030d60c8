"""A bound for a triangle that lies over several coarse triangles of one patch.

The triangle is cut by the walls of the coarse triangle below it: the planes through its sides, upright on it. What is
outside of a wall goes on to the coarse triangle behind that side. Every part is the convex hull of its corners, so that
their largest distance from the part's coarse triangle bounds all of it. Any cut is valid. With these, a point of a cut
that is above the coarse triangle is nearest to a point of the shared side: the triangle behind it is no farther away.
"""

from __future__ import annotations

import numpy as np

from hra.compiling import njit
from hra.domains.meshes.measures.triangle_distance import OFF, square_distance

# Coarse triangles that are visited for one triangle at most, and parts that wait: two more for each, and the first.
_MOST_VISITS = 24
_MOST_PARTS = 2 * _MOST_VISITS + 1
# Room for the corners of a part; a cut adds one, and by rounding no more than there are.
_MOST_CORNERS = 24
# A corner may stick out of a wall by this part of the bound that is good enough, rather than be cut off.
_SLACK = 0.1


def parts_memory() -> tuple[np.ndarray, np.ndarray]:
    """Memory for the parts that wait (the last two are in work) and for how many corners, where and from where."""
    return np.empty((_MOST_PARTS + 2, _MOST_CORNERS, 3)), np.empty((_MOST_PARTS, 3), np.int64)


@njit(cache=True, nogil=True)
def bound_by_walls(corners, start, triangles, walls, behind, room, points, parts):
    """How far the triangle ``corners`` [3, 3] is at most from the patch, if that is within ``room``; else inf.

    -1 if it lies over more coarse triangles than one call follows.

    Parameters
    ----------
    start : a coarse triangle that is near to it.
    walls, behind : see `fill_patch`.
    points, parts : `parts_memory`.
    """
    most, waiting, visits = 0.0, 1, 0
    for i in range(3):
        for axis in range(3):
            points[0, i, axis] = corners[i, axis]
    parts[0, 0], parts[0, 1], parts[0, 2] = 3, start, -1
    rest = len(points) - 1
    # Ends: a turn takes a part off the stack for good, or it is one of the visits, which are counted.
    while waiting:
        waiting -= 1
        count, k, entry = parts[waiting, 0], parts[waiting, 1], parts[waiting, 2]
        # The distance from a triangle is convex: over a part it is largest at a corner.
        reach = _reach(points, waiting, count, triangles, k, room)
        if reach <= room:
            most = max(most, reach)
            continue
        visits += 1
        if visits > _MOST_VISITS:
            return -1.0
        # A cut reads one of the two parts in work and writes to the other.
        for i in range(count):
            _copy(points, waiting, i, rest, i)
        for side in range(3):
            # Beyond the side that a part came through is where it came from: it would go back and forth. Where nothing
            # is behind a side, what sticks out stays and is measured from this triangle.
            if side == entry or behind[k, side] < 0:
                continue
            if 2 * count > _MOST_CORNERS:
                return -1.0
            # Places from the top of the stack on are free, that of the part in work among them: what is cut off waits
            # there.
            outside, inside = _cut(points, rest, count, walls, k, side, room * _SLACK, waiting)
            if outside:
                parts[waiting, 0], parts[waiting, 1], parts[waiting, 2] = (
                    outside,
                    behind[k, side] // 3,
                    behind[k, side] % 3,
                )
                waiting, count, rest = waiting + 1, inside, 2 * len(points) - 3 - rest
        reach = _reach(points, rest, count, triangles, k, room)
        if reach > room:
            return np.inf
        most = max(most, reach)
    return most


@njit(cache=True, nogil=True)
def _reach(points, part, count, triangles, k, room):
    """The largest distance of a part's corners from triangle ``k``, and how far that is off; inf beyond ``room``."""
    left, most = room - triangles[k, OFF], 0.0
    if left < 0.0:
        return np.inf
    for i in range(count):
        most = max(most, square_distance(points[part, i, 0], points[part, i, 1], points[part, i, 2], triangles, k))
        if most > left * left:
            return np.inf
    return np.sqrt(most) + triangles[k, OFF]


@njit(cache=True, nogil=True)
def _cut(points, part, count, walls, k, side, slack, to):
    """Write what of ``points[part]`` is outside of a wall to ``points[to]``, the rest to the other part in work.

    Returns how many corners both have; nothing is written where none is outside.
    """
    other, outside, inside, beyond = 2 * len(points) - 3 - part, 0, 0, False
    for i in range(count):
        beyond |= _height(points, part, i, walls, k, side, slack) > 0
    if not beyond:
        return 0, count
    # Clipping as by Sutherland and Hodgman (1974), but both sides are kept: of a convex part both are convex.
    last = count - 1
    before = _height(points, part, last, walls, k, side, slack)
    for i in range(count):
        here = _height(points, part, i, walls, k, side, slack)
        if (before < 0 and here > 0) or (before > 0 and here < 0):
            # Heights change linearly along the side, and signs differ: the share is within 0 .. 1.
            share = before / (before - here)
            for axis in range(3):
                value = points[part, last, axis] + share * (points[part, i, axis] - points[part, last, axis])
                points[to, outside, axis] = points[other, inside, axis] = value
            outside, inside = outside + 1, inside + 1
        if here >= 0:
            _copy(points, part, i, to, outside)
            outside += 1
        if here <= 0:
            _copy(points, part, i, other, inside)
            inside += 1
        last, before = i, here
    return outside, inside


@njit(cache=True, nogil=True)
def _copy(points, part, corner, to, place):
    for axis in range(3):
        points[to, place, axis] = points[part, corner, axis]


@njit(cache=True, nogil=True)
def _height(points, part, i, walls, k, side, slack):
    """How far a corner is outside of a wall, 0 within the slack."""
    x, y, z = points[part, i, 0], points[part, i, 1], points[part, i, 2]
    height = x * walls[k, side, 0] + y * walls[k, side, 1] + z * walls[k, side, 2] - walls[k, side, 3]
    return 0.0 if 0.0 < height <= slack else height

"""A bound for a triangle that lies over several coarse triangles of one patch.

The triangle is cut by the walls of the coarse triangle below it: the planes through its sides, upright on it. What is
outside of a wall goes on to the coarse triangle behind that side. Every part is the convex hull of its corners, so that
their largest distance from the part's coarse triangle bounds all of it. Any cut is valid. With these, a point of a cut
that is above the coarse triangle is nearest to a point of the shared side: the triangle behind it is no farther away.
"""

from __future__ import annotations

import numpy as np

from hra.compiling import njit, njit_uncounted
from hra.domains.meshes.distances.pieces import TOLERANCE
from hra.domains.meshes.distances.triangle_distance import OFF, nearest_triangle, square_of

# Coarse triangles that are visited for one triangle at most, and parts that wait: two more for each, and the first.
_MOST_VISITS = 64
_MOST_PARTS = 2 * _MOST_VISITS + 1
# How often a part goes on elsewhere at most, where no wall leads on.
_MOST_JUMPS = 1
# Room for the corners of a part; a cut adds one, and by rounding no more than there are.
_MOST_CORNERS = 24
# A corner may stick out of a wall by this part of the bound that is good enough, rather than be cut off.
_SLACK = 0.1


def parts_memory() -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Memory for the corners of parts that wait (the last two are in work), where and from where, and for heights."""
    points = np.empty((_MOST_PARTS + 2, _MOST_CORNERS, 3))
    return points, np.empty((_MOST_PARTS, 4), np.int64), np.empty((3, _MOST_CORNERS))


@njit_uncounted(cache=True, nogil=True)
def bound_by_walls(corners, start, surface, room, points, parts, heights):
    """How far the triangle ``corners[0]`` is at most from the patch, if that is within ``room``; else inf.

    -1 if it lies over more coarse triangles than one call follows. Also the room, which grows where a corner of a part
    shows that no bound can be within it.

    Parameters
    ----------
    start : a coarse triangle that is near to it.
    surface : see `hra.domains.meshes.distances.deviation.Surface`.
    points, parts, heights : `parts_memory`.
    """
    triangles, balls, runs, total, gaps, walls, behind = surface
    most, waiting, visits = 0.0, 1, 0
    for i in range(3):
        for axis in range(3):
            points[0, i, axis] = corners[0, i, axis]
    parts[0, 0], parts[0, 1], parts[0, 2], parts[0, 3] = 3, start, -1, 0
    rest, slack = len(points) - 1, room * _SLACK
    # Ends: a turn takes a part off the stack for good, or it is one of the visits, which are counted.
    while waiting:
        waiting -= 1
        count, k, entry, jumps = parts[waiting, 0], parts[waiting, 1], parts[waiting, 2], parts[waiting, 3]
        farthest, part, far = 0.0, waiting, -1
        for side in range(3):
            most_outside = _fill_heights(points, part, count, walls, k, side, slack, heights)
            farthest = max(farthest, most_outside)
            # Beyond the side that a part came through is where it came from: it would go back and forth. Where nothing
            # is behind a side, what sticks out stays and is measured from this triangle.
            if most_outside > 0 and side != entry and behind[k, side] >= 0:
                far = side
        # No point is nearer to the triangle than it is to its walls.
        if farthest <= room:
            # The distance from a triangle is convex: over a part it is largest at a corner.
            reach = _reach(points, part, count, triangles, k)
            if reach <= room:
                most = max(most, reach)
                continue
        visits += 1
        if visits > _MOST_VISITS:
            return -1.0, room
        if far >= 0:
            # A cut reads one of the two parts in work and writes to the other.
            part = rest
            for i in range(count):
                _copy(points, waiting, i, rest, i)
            for side in range(far + 1):
                if side == entry or behind[k, side] < 0:
                    continue
                if 2 * count > _MOST_CORNERS:
                    return -1.0, room
                if _fill_heights(points, part, count, walls, k, side, slack, heights) <= 0:
                    continue
                # Places from the top of the stack on are free, that of the part in work among them: what is cut off
                # waits there.
                outside, count = _cut(points, part, count, heights, side, waiting)
                parts[waiting, 0], parts[waiting, 3] = outside, jumps
                parts[waiting, 1], parts[waiting, 2] = behind[k, side] // 3, behind[k, side] % 3
                waiting, part = waiting + 1, 2 * len(points) - 3 - part
        reach = _reach(points, part, count, triangles, k)
        if reach > room:
            x, y, z = _farthest(points, part, count, triangles, k)
            which, square = nearest_triangle(x, y, z, triangles, balls, runs, total, np.int64(k), gaps)
            room = max(room, TOLERANCE * (np.sqrt(square) + triangles[which, OFF]))
            if reach > room:
                # No wall leads there: what is nearest to the corner may be near enough to all of the part, or lead on.
                reach = _reach(points, part, count, triangles, which)
                if reach > room:
                    if jumps == _MOST_JUMPS:
                        return np.inf, room
                    if part != waiting:
                        for i in range(count):
                            _copy(points, part, i, waiting, i)
                    parts[waiting, 0], parts[waiting, 1], parts[waiting, 2], parts[waiting, 3] = (
                        *(count, which, -1),
                        jumps + 1,
                    )
                    waiting += 1
                    continue
        most = max(most, reach)
    return most, room


@njit(inline="always")
def _fill_heights(points, part, count, walls, k, side, slack, heights):
    """Write how far each corner is outside of a wall, 0 within the slack; the largest, no less than 0."""
    most = 0.0
    x, y, z, start = walls[k, side, 0], walls[k, side, 1], walls[k, side, 2], walls[k, side, 3]
    for i in range(count):
        height = points[part, i, 0] * x + points[part, i, 1] * y + points[part, i, 2] * z - start
        heights[side, i] = 0.0 if 0.0 < height <= slack else height
        most = max(most, heights[side, i])
    return most


@njit(inline="always")
def _reach(points, part, count, triangles, k):
    """The largest distance of a part's corners from triangle ``k``, and how far that is off."""
    most = 0.0
    for i in range(count):
        most = max(most, square_of(points[part, i, 0], points[part, i, 1], points[part, i, 2], triangles, k))
    return np.sqrt(most) + triangles[k, OFF]


@njit(inline="always")
def _farthest(points, part, count, triangles, k):
    """The corner of a part that is farthest from triangle ``k``."""
    far, most = 0, -1.0
    for i in range(count):
        square = square_of(points[part, i, 0], points[part, i, 1], points[part, i, 2], triangles, k)
        if square > most:
            far, most = i, square
    return points[part, far, 0], points[part, far, 1], points[part, far, 2]


@njit(inline="always")
def _cut(points, part, count, heights, side, to):
    """Write what of ``points[part]`` is outside of a wall to ``points[to]``, the rest to the other part in work.

    Returns how many corners both have.
    """
    other, outside, inside, last = 2 * len(points) - 3 - part, 0, 0, count - 1
    # Clipping as by Sutherland and Hodgman (1974), but both sides are kept: of a convex part both are convex.
    for i in range(count):
        before, here = heights[side, last], heights[side, i]
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
        last = i
    return outside, inside


@njit(inline="always")
def _copy(points, part, corner, to, place):
    for axis in range(3):
        points[to, place, axis] = points[part, corner, axis]

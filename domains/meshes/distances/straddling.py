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
from hra.domains.meshes.distances.triangle_distance import OFF, nearest_triangle, square_distance, square_of

# Coarse triangles that are visited for one triangle at most, and parts that wait: two more for each, and the first.
_MOST_VISITS = 64
_MOST_PARTS = 2 * _MOST_VISITS + 1
# How often a part goes on elsewhere at most, where no wall leads on.
_MOST_JUMPS = 1
# Room for the corners of a part; a cut adds one, and by rounding no more than there are.
_MOST_CORNERS = 24
# Columns of corners: where they are, and from here on how far outside of each wall.
_HEIGHTS = 3
# A corner may stick out of a wall by this part of the bound that is good enough, rather than be cut off.
_SLACK = 0.1


def parts_memory() -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Memory for the corners of parts, each with how far it is outside of three walls; for parts; and for places.

    Of parts that wait: how many corners, the coarse triangle, the side that it came through, and jumps. Places of
    corners are used in the order of the last array: first those of parts that wait, then the one in work.
    """
    points = np.empty((_MOST_PARTS + 2, _MOST_CORNERS, _HEIGHTS + 3))
    return points, np.empty((_MOST_PARTS + 2, 4), np.int64), np.arange(_MOST_PARTS + 2)


@njit_uncounted(cache=True, nogil=True)
def bound_by_walls(corners, start, surface, room, points, parts, places):
    """How far the triangle ``corners[0]`` is at most from the patch, if that is within ``room``; else inf.

    -1 if it lies over more coarse triangles than one call follows. Also the room, which grows where a corner of a part
    shows that no bound can be within it.

    Parameters
    ----------
    start : a coarse triangle that is near to it.
    surface : see `hra.domains.meshes.distances.deviation.Surface`.
    points, parts, places : `parts_memory`.
    """
    triangles, balls, runs, total, gaps, walls, behind = surface
    most, waiting, visits, slack = 0.0, 1, 0, room * _SLACK
    for i in range(3):
        for axis in range(3):
            points[places[0], i, axis] = corners[0, i, axis]
    parts[0, 0], parts[0, 1], parts[0, 2], parts[0, 3] = 3, start, -1, 0
    # Ends: a turn takes a part off the stack for good, or it is one of the visits, which are counted.
    while waiting:
        waiting -= 1
        count, k, entry, jumps = parts[waiting, 0], parts[waiting, 1], parts[waiting, 2], parts[waiting, 3]
        one, two, three = _fill_heights(points, places[waiting], count, walls, k, slack)
        # No point is nearer to the triangle than it is to its walls.
        if max(one, two, three) <= room:
            # The distance from a triangle is convex: over a part it is largest at a corner.
            reach = _reach(points, places[waiting], count, triangles, k)
            if reach <= room:
                most = max(most, reach)
                continue
        visits += 1
        if visits > _MOST_VISITS:
            return -1.0, room
        for side in range(3):
            # Beyond the side that a part came through is where it came from: it would go back and forth. Where nothing
            # is behind a side, what sticks out stays and is measured from this triangle.
            outside = one if side == 0 else two if side == 1 else three
            if outside <= 0 or side == entry or behind[k, side] < 0:
                continue
            if 2 * count > _MOST_CORNERS:
                return -1.0, room
            # What is outside waits in the place after that of the part, what is inside is in work in the next one.
            part, beyond, within = places[waiting], places[waiting + 1], places[waiting + 2]
            places[waiting], places[waiting + 1], places[waiting + 2] = beyond, within, part
            parts[waiting, 0], count = _cut(points, part, count, _HEIGHTS + side, beyond, within)
            parts[waiting, 1], parts[waiting, 2] = behind[k, side] // 3, behind[k, side] % 3
            parts[waiting, 3] = jumps
            waiting += 1
        part = places[waiting]
        reach = _reach(points, part, count, triangles, k)
        if reach > room:
            x, y, z = _farthest(points, part, count, triangles, k)
            which, square = nearest_triangle(x, y, z, triangles, balls, runs, total, np.int64(k), gaps)
            room = max(room, TOLERANCE * (np.sqrt(square) + triangles[which, OFF]))
            if reach > room:
                # No wall leads there: what is nearest to the corner may be near enough to all of the part, or lead on.
                reach = _reach_anew(points, part, count, triangles, which)
                if reach > room:
                    if jumps == _MOST_JUMPS:
                        return np.inf, room
                    parts[waiting, 0], parts[waiting, 1] = count, which
                    parts[waiting, 2], parts[waiting, 3] = -1, jumps + 1
                    waiting += 1
                    continue
        most = max(most, reach)
    return most, room


@njit(inline="always")
def _fill_heights(points, part, count, walls, k, slack):
    """Write how far each corner is outside of the walls, 0 within the slack; the largest of each wall."""
    ax, ay, az, a = walls[k, 0, 0], walls[k, 0, 1], walls[k, 0, 2], walls[k, 0, 3]
    bx, by, bz, b = walls[k, 1, 0], walls[k, 1, 1], walls[k, 1, 2], walls[k, 1, 3]
    cx, cy, cz, c = walls[k, 2, 0], walls[k, 2, 1], walls[k, 2, 2], walls[k, 2, 3]
    one, two, three = -np.inf, -np.inf, -np.inf
    for i in range(count):
        x, y, z = points[part, i, 0], points[part, i, 1], points[part, i, 2]
        p, q, r = x * ax + y * ay + z * az - a, x * bx + y * by + z * bz - b, x * cx + y * cy + z * cz - c
        p, q, r = p if p > slack else min(p, 0.0), q if q > slack else min(q, 0.0), r if r > slack else min(r, 0.0)
        points[part, i, _HEIGHTS], points[part, i, _HEIGHTS + 1], points[part, i, _HEIGHTS + 2] = p, q, r
        one, two, three = max(one, p), max(two, q), max(three, r)
    return one, two, three


@njit(inline="always")
def _reach(points, part, count, triangles, k):
    """The largest distance of a part's corners from triangle ``k``, and how far that is off."""
    most = 0.0
    for i in range(count):
        most = max(most, square_of(points[part, i, 0], points[part, i, 1], points[part, i, 2], triangles, k))
    return np.sqrt(most) + triangles[k, OFF]


@njit_uncounted(cache=True, nogil=True)
def _reach_anew(points, part, count, triangles, k):
    """The same, not compiled in place, since it is rarely called."""
    return _reach(points, part, count, triangles, k)


@njit_uncounted(cache=True, nogil=True)
def _farthest(points, part, count, triangles, k):
    """The corner of a part that is farthest from triangle ``k``."""
    far, most = 0, -1.0
    for i in range(count):
        square = square_distance(points[part, i, 0], points[part, i, 1], points[part, i, 2], triangles, k)
        if square > most:
            far, most = i, square
    return points[part, far, 0], points[part, far, 1], points[part, far, 2]


@njit(inline="always")
def _cut(points, part, count, height, beyond, within):
    """Write what of ``points[part]`` is outside of a wall to ``points[beyond]``, the rest to ``points[within]``.

    Returns how many corners both have. Where the polygon crosses the wall is not to be foreseen: all is written, and
    written over where it does not count.
    """
    outside, inside, last = 0, 0, count - 1
    # Clipping as by Sutherland and Hodgman (1974), but both sides are kept: of a convex part both are convex.
    for i in range(count):
        before, here = points[part, last, height], points[part, i, height]
        crosses = ((before < 0) & (here > 0)) | ((before > 0) & (here < 0))
        # Heights change linearly along the side, and signs differ: the share is within 0 .. 1.
        share = before / (before - here) if crosses else 0.0
        for column in range(_HEIGHTS + 3):
            value = points[part, last, column] + share * (points[part, i, column] - points[part, last, column])
            points[beyond, outside, column] = points[within, inside, column] = value
        outside, inside = outside + crosses, inside + crosses
        for column in range(_HEIGHTS + 3):
            points[beyond, outside, column] = points[within, inside, column] = points[part, i, column]
        outside, inside = outside + (here >= 0), inside + (here <= 0)
        last = i
    return outside, inside

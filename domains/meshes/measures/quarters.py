"""A bound for a triangle that lies over many triangles of a surface: walls cut it, quarters that they cannot cut.

Large triangles lie over more of a fine surface than walls can follow in one go. A quarter lies over less of it, and
finds its own way: it starts at what is nearest to its middle.
"""

from __future__ import annotations

import numpy as np

from hra.compiling import njit
from hra.domains.meshes.measures.pieces import TOLERANCE, bound_by_pieces
from hra.domains.meshes.measures.straddling import bound_by_walls
from hra.domains.meshes.measures.triangle_distance import OFF, nearest_triangle

# How often a triangle is quartered: by what walls cannot follow, and by what is farther than it should be.
_LONG, _FAR = 6, 3


def quarters_memory() -> tuple[np.ndarray, np.ndarray]:
    """Memory for the triangles that wait: their corners, and how often each was quartered."""
    # Depth first, three quarters wait at each of `_LONG` depths beside the one in work, and one quartering writes four.
    return np.empty((3 * _LONG + 4, 3, 3)), np.empty(3 * _LONG + 4, np.int64)


# Compiled in place, and no tuples: to hand on so many arrays for each triangle would take half of all the time.
@njit(inline="always")
def bound_by_quarters(
    corners, labels, known, start, room, triangles, balls, runs, count, gaps, walls, behind, points, parts, heights,
    waiting, depth,
):  # fmt: skip
    """How far the triangle ``corners[0]`` is at most from the surface: within ``room`` if that is possible, or nearly.

    Parameters
    ----------
    corners, labels : `hra.domains.meshes.measures.pieces.pieces_memory`, the triangle in the first place.
    known : float64 [2, 3], for each corner a triangle of the surface and how far it is from that; it is written to.
    start : a triangle of the surface that is near to its middle.
    triangles, balls, runs, count, gaps : see `nearest_triangle`; walls, behind : see `fill_patch`.
    points, parts, heights : `parts_memory`; waiting, depth : `quarters_memory`.
    """
    most, left = 0.0, 1
    depth[0] = 0
    _copy(corners, 0, waiting, 0)
    while left:
        left -= 1
        deep = depth[left]
        _copy(waiting, left, corners, 0)
        if deep:
            # The middle is a point of the triangle: about as much as that is off, every bound has to be.
            x, y, z = centroid(corners)
            start, square = nearest_triangle(x, y, z, triangles, balls, runs, count, start, gaps)
            room = max(room, TOLERANCE * (np.sqrt(square) + triangles[start, OFF]))
        reach = bound_by_walls(corners[0], known, start, triangles, walls, behind, room, points, parts, heights)
        # -1: too many triangles below to follow; inf: the walls cut badly. A quarter may do better at either.
        if 0.0 <= reach <= room:
            most = max(most, reach)
        elif deep < (_LONG if reach < 0 else _FAR):
            known[0, 0] = known[0, 1] = known[0, 2] = -1.0
            _quarter(corners[0], waiting, left)
            for i in range(4):
                depth[left + i] = deep + 1
            left += 4
        else:
            for i in range(3):
                x, y, z = corners[0, i, 0], corners[0, i, 1], corners[0, i, 2]
                labels[0, i], _ = nearest_triangle(x, y, z, triangles, balls, runs, count, start, gaps)
            labels[0, 3] = start
            most = max(most, bound_by_pieces(corners, labels, (triangles, balls, runs, count), gaps, room))
        # The largest of all bounds counts, so that no other one has to be less than it.
        room = max(room, most)
    return most


@njit(inline="always")
def _copy(triangles, place, to, target):
    """Write one of ``triangles`` [n, 3, 3] to another place; to assign the row would compile an error message, too."""
    for i in range(3):
        for axis in range(3):
            to[target, i, axis] = triangles[place, i, axis]


@njit(cache=True, nogil=True)
def _quarter(triangle, waiting, at):
    """Write the four triangles between the corners of ``triangle`` [3, 3] and the middles of its sides."""
    for i in range(3):
        for axis in range(3):
            corner, after, before = triangle[i, axis], triangle[(i + 1) % 3, axis], triangle[(i + 2) % 3, axis]
            waiting[at + i, 0, axis] = corner
            waiting[at + i, 1, axis] = 0.5 * (corner + after)
            waiting[at + i, 2, axis] = 0.5 * (corner + before)
            waiting[at + 3, i, axis] = 0.5 * (after + before)


@njit(cache=True, nogil=True)
def centroid(corners):
    """Of the triangle ``corners[0]``."""
    x = (corners[0, 0, 0] + corners[0, 1, 0] + corners[0, 2, 0]) / 3
    y = (corners[0, 0, 1] + corners[0, 1, 1] + corners[0, 2, 1]) / 3
    z = (corners[0, 0, 2] + corners[0, 1, 2] + corners[0, 2, 2]) / 3
    return x, y, z

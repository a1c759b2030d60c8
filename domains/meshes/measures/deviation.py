"""A bound on how far the source lies from what it was simplified to.

The distance to one triangle is convex, so over a fine triangle it is largest at a corner: the largest of three
distances bounds how far the whole fine triangle is from the coarse one, and so from the coarse surface. Where a fine
triangle lies over several coarse ones it is split, and each piece gets its own coarse triangle. Which one is chosen
changes how tight the bound is, never whether it holds. Bounds of consecutive levels add up.

Guthe, Borodin and Klein, Fast and accurate Hausdorff distance calculation between meshes, 2005, bound pieces alike.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from hra.domains.meshes.measures.patch import fill_patch, patch_memory
from hra.domains.meshes.measures.pieces import TOLERANCE, bound_by_pieces, pieces_memory
from hra.domains.meshes.measures.straddling import bound_by_walls, parts_memory
from hra.domains.meshes.measures.triangle_distance import (
    fill_triangles,
    nearest_triangle,
    square_distance,
    surface_memory,
)

# Deviations below this part of a group's extent are as good as none: splitting for them would not end.
_NEGLIGIBLE = 2.0**-17
# Rounding of the points of pieces and of distances, in parts of the group's extent.
_ROUNDING = 2.0**-46


def group_deviations(
    positions: np.ndarray,
    fine: tuple[np.ndarray, np.ndarray, np.ndarray],
    members: np.ndarray,
    coarse: tuple[np.ndarray, np.ndarray],
) -> np.ndarray:
    """How far the source is at most from the coarse triangles of each group.

    Parameters
    ----------
    positions : float32 [V, 3].
    fine : indices uint32 [3 T], offsets int64 [N + 1] and deviations float32 [N] of the groups' members.
    members : int64 [G + 1], where the members of each group begin.
    coarse : indices uint32 [3 S], offsets int64 [G + 1], the triangles that each group was simplified to.

    Returns
    -------
    float32 [G], in the unit of ``positions``, rounded up; never below that of a member.
    """
    result = np.zeros(len(members) - 1)
    near, seen = np.empty(len(positions), np.int32), np.full(len(positions), -1, np.int32)
    for_each_vertex = (near, seen, np.empty(len(positions)))
    most = int(np.diff(coarse[1]).max(initial=0)) // 3
    memory = (surface_memory(most), patch_memory(most), parts_memory(), pieces_memory())
    _bound_groups(positions, *fine, members, *coarse, for_each_vertex, memory, result)
    return np.nextafter(result.astype(np.float32), np.float32(np.inf))


@njit(cache=True, nogil=True)
def _bound_groups(positions, indices, offsets, deviation, members, coarse, coarse_at, for_each_vertex, memory, result):
    (near, seen, square), (surface, patch, (points, parts), (corners, labels)) = for_each_vertex, memory
    (triangles, balls, runs, gaps), (walls, behind, keys, places) = surface, patch
    origin = np.empty(3)
    for g in range(result.size):
        begin, end = coarse_at[g], coarse_at[g + 1]
        for axis in range(3):
            origin[axis] = positions[coarse[begin], axis]
        fill_triangles(positions, coarse, begin, end, origin, triangles, balls, runs)
        fill_patch(coarse, begin, end, triangles, walls, behind, keys, places)
        for i in range(begin, end):
            near[coarse[i]], seen[coarse[i]], square[coarse[i]] = (i - begin) // 3, g, 0.0
        first, last = members[g], members[g + 1]
        count, guess, bound, extent = (end - begin) // 3, 0, 0.0, 0.0
        for c in range(first, last):
            for i in range(offsets[c], offsets[c + 1]):
                v = indices[i]
                x, y, z = positions[v, 0] - origin[0], positions[v, 1] - origin[1], positions[v, 2] - origin[2]
                if seen[v] != g:
                    guess, square[v] = nearest_triangle(x, y, z, triangles, balls, runs, count, guess, gaps)
                    near[v], seen[v] = guess, g
                bound = max(bound, deviation[c] + np.sqrt(square[v]))
                extent = max(extent, abs(x), abs(y), abs(z))
        accepted = max(bound * TOLERANCE, bound + extent * _NEGLIGIBLE)
        for c in range(first, last):
            for i in range(offsets[c], offsets[c + 1], 3):
                for corner in range(3):
                    v = indices[i + corner]
                    for axis in range(3):
                        corners[0, corner, axis] = positions[v, axis] - origin[axis]
                    labels[0, corner] = near[v]
                room = max(accepted, bound) - deviation[c]
                reach = _at_one_label(corners, labels, square, indices, i, triangles, room * room)
                if reach > room:
                    reach = _at_several_labels(
                        corners, labels, triangles, balls, runs, gaps, walls, behind, points, parts, count, room
                    )
                bound = max(bound, deviation[c] + reach)
        result[g] = bound + extent * _ROUNDING


@njit(cache=True, nogil=True)
def _at_one_label(corners, labels, square, indices, at, triangles, enough):
    """The largest distance of a corner from the first of the labels that is within ``enough``, a square; else inf."""
    for i in range(3):
        k = labels[0, i]
        if (i > 0 and k == labels[0, 0]) or (i == 2 and k == labels[0, 1]):
            continue
        most = square[indices[at + i]]
        for step in range(1, 3):
            j = (i + step) % 3
            if labels[0, j] == k:
                most = max(most, square[indices[at + j]])
            elif most <= enough:
                most = max(most, square_distance(corners[0, j, 0], corners[0, j, 1], corners[0, j, 2], triangles, k))
        if most <= enough:
            return np.sqrt(most)
    return np.inf


@njit(cache=True, nogil=True)
def _at_several_labels(corners, labels, triangles, balls, runs, gaps, walls, behind, points, parts, count, room):
    """A bound for the triangle ``corners[0]``, as good as ``room`` if possible, that lies over several coarse ones."""
    start = _nearest_label(corners, labels, triangles)
    reach = bound_by_walls(corners[0], start, triangles, walls, behind, room, points, parts)
    if reach <= room:
        return reach
    x, y, z = _centroid(corners)
    labels[0, 3], _ = nearest_triangle(x, y, z, triangles, balls, runs, count, start, gaps)
    return bound_by_pieces(corners, labels, triangles, balls, runs, count, gaps, room)


@njit(cache=True, nogil=True)
def _nearest_label(corners, labels, triangles):
    """Which of the labels of the corners is nearest to the centroid."""
    x, y, z = _centroid(corners)
    best, which = np.inf, labels[0, 0]
    for i in range(3):
        square = square_distance(x, y, z, triangles, labels[0, i])
        if square < best:
            best, which = square, labels[0, i]
    return which


@njit(cache=True, nogil=True)
def _centroid(corners):
    """Of the triangle ``corners[0]``."""
    x = (corners[0, 0, 0] + corners[0, 1, 0] + corners[0, 2, 0]) / 3
    y = (corners[0, 0, 1] + corners[0, 1, 1] + corners[0, 2, 1]) / 3
    z = (corners[0, 0, 2] + corners[0, 1, 2] + corners[0, 2, 2]) / 3
    return x, y, z

"""A bound on how far the source lies from what it was simplified to.

The distance to one triangle is convex, so over a fine triangle it is largest at a corner: the largest of three
distances bounds how far the whole fine triangle is from the coarse one, and so from the coarse surface. Where a fine
triangle lies across the border of two coarse ones it is split there, and each piece gets its own coarse triangle. Which
one is chosen changes how tight the bound is, never whether it holds. Bounds of consecutive levels add up.

Guthe, Borodin and Klein, Fast and accurate Hausdorff distance calculation between meshes, 2005, bound pieces alike.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from hra.domains.meshes.measures.patch import fill_patch, patch_memory
from hra.domains.meshes.measures.straddling import bound_by_walls, parts_memory
from hra.domains.meshes.measures.triangle_distance import (
    fill_triangles,
    nearest_triangle,
    square_distance,
    surface_memory,
)

# A group's bound may be this much looser than what its vertices alone show, before pieces are split further.
_TOLERANCE = 1.1
# Deviations below this part of a group's extent are as good as none: splitting for them would not end.
_NEGLIGIBLE = 2.0**-17
# Pieces of one fine triangle at most; the last ones count with the bound that they have.
_MAX_PIECES = 200
_BISECTIONS = 20
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
    memory = (surface_memory(most), patch_memory(most), parts_memory())
    _bound_groups(positions, *fine, members, *coarse, for_each_vertex, memory, result)
    return np.nextafter(result.astype(np.float32), np.float32(np.inf))


@njit(cache=True, nogil=True)
def _bound_groups(positions, indices, offsets, deviation, members, coarse, coarse_at, for_each_vertex, memory, result):
    (near, seen, square), (surface, patch, (points, parts)) = for_each_vertex, memory
    (triangles, balls, runs, gaps), (walls, behind, keys, places) = surface, patch
    corners, labels = np.empty((_MAX_PIECES + 2, 3, 3)), np.empty((_MAX_PIECES + 2, 4), np.int64)
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
        accepted = max(bound * _TOLERANCE, bound + extent * _NEGLIGIBLE)
        for c in range(first, last):
            for i in range(offsets[c], offsets[c + 1], 3):
                for corner in range(3):
                    v = indices[i + corner]
                    for axis in range(3):
                        corners[0, corner, axis] = positions[v, axis] - origin[axis]
                    labels[0, corner] = near[v]
                room = max(accepted, bound) - deviation[c]
                reach = _at_one_label(corners[0], labels[0], square, indices, i, triangles, room * room)
                if reach > room:
                    start = _nearest_label(corners, labels, triangles)
                    reach = bound_by_walls(corners[0], start, triangles, walls, behind, room, points, parts)
                if reach > room:
                    x, y, z = _centroid(corners, 0)
                    labels[0, 3], _ = nearest_triangle(x, y, z, triangles, balls, runs, count, start, gaps)
                    reach = _bound_triangle(corners, labels, triangles, balls, runs, count, gaps, room)
                bound = max(bound, deviation[c] + reach)
        result[g] = bound + extent * _ROUNDING


@njit(cache=True, nogil=True)
def _at_one_label(corners, labels, square, indices, at, triangles, enough):
    """The largest distance of a corner from the first of the labels that is within ``enough``, a square; else inf."""
    for i in range(3):
        k = labels[i]
        if (i > 0 and k == labels[0]) or (i == 2 and k == labels[1]):
            continue
        most = square[indices[at + i]]
        for step in range(1, 3):
            j = (i + step) % 3
            if labels[j] == k:
                most = max(most, square[indices[at + j]])
            elif most <= enough:
                most = max(most, square_distance(corners[j, 0], corners[j, 1], corners[j, 2], triangles, k))
        if most <= enough:
            return np.sqrt(most)
    return np.inf


@njit(cache=True, nogil=True)
def _nearest_label(corners, labels, triangles):
    """Which of the labels of the corners is nearest to the centroid."""
    x, y, z = _centroid(corners, 0)
    best, which = np.inf, labels[0, 0]
    for i in range(3):
        square = square_distance(x, y, z, triangles, labels[0, i])
        if square < best:
            best, which = square, labels[0, i]
    return which


@njit(cache=True, nogil=True)
def _bound_triangle(corners, labels, triangles, balls, runs, count, gaps, room):
    """A bound for the triangle ``corners[0]``; pieces within ``room`` are not split further."""
    bound, stacked, used = 0.0, 1, 1
    while stacked:
        stacked -= 1
        square, best, far = _best_label(corners, labels, stacked, triangles, room * room)
        if square <= room * room or used == _MAX_PIECES:
            bound = max(bound, np.sqrt(square))
            room = max(room, bound)
            continue
        used += 1
        stacked += 2
        least = _split(corners, labels, stacked - 2, best, far, triangles, balls, runs, count, gaps, room)
        room = max(room, _TOLERANCE * least)
    return bound


@njit(cache=True, nogil=True)
def _centroid(corners, at):
    x = (corners[at, 0, 0] + corners[at, 1, 0] + corners[at, 2, 0]) / 3
    y = (corners[at, 0, 1] + corners[at, 1, 1] + corners[at, 2, 1]) / 3
    z = (corners[at, 0, 2] + corners[at, 1, 2] + corners[at, 2, 2]) / 3
    return x, y, z


@njit(cache=True, nogil=True)
def _reach(corners, at, triangles, k, limit):
    """Square of the largest distance of a corner of the piece ``at`` from triangle ``k``, and which corner that is.

    It stops at the first corner that is not nearer than ``limit``, a square.
    """
    most, which = -1.0, 0
    for corner in range(3):
        square = square_distance(corners[at, corner, 0], corners[at, corner, 1], corners[at, corner, 2], triangles, k)
        if square > most:
            most, which = square, corner
            if most >= limit:
                break
    return most, which


@njit(cache=True, nogil=True)
def _best_label(corners, labels, at, triangles, enough):
    """The first of ``labels[at]`` within ``enough`` of the piece, else the best: square, label, farthest corner."""
    best, which, far = np.inf, labels[at, 0], 0
    for i in range(4):
        k = labels[at, i]
        if i and (k == which or k == labels[at, i - 1]):
            continue
        square, corner = _reach(corners, at, triangles, k, best)
        if square < best:
            best, which, far = square, k, corner
            if best <= enough:
                break
    return best, which, far


@njit(cache=True, nogil=True)
def _split(corners, labels, at, best, far, triangles, balls, runs, count, gaps, room):
    """Replace the piece ``at`` by two, cut where its farthest corner becomes nearer to another triangle.

    Returns a distance that no bound can go below.
    """
    other = labels[at, far]
    if other == best:
        other = labels[at, 3]
    _, near = _reach(corners, at, triangles, other, np.inf)
    if near == far:
        near = (far + 1) % 3
    x, y, z = _crossing(corners, at, near, far, triangles, best, other, room * room)
    label, square = best, 0.0
    if square_distance(x, y, z, triangles, best) > room * room:
        label, square = nearest_triangle(x, y, z, triangles, balls, runs, count, best, gaps)
    for corner in range(3):
        labels[at + 1, corner] = labels[at, corner]
        for axis in range(3):
            corners[at + 1, corner, axis] = corners[at, corner, axis]
    corners[at, far, 0], corners[at, far, 1], corners[at, far, 2] = x, y, z
    corners[at + 1, near, 0], corners[at + 1, near, 1], corners[at + 1, near, 2] = x, y, z
    labels[at, far] = labels[at + 1, near] = label
    labels[at, 3], labels[at + 1, 3] = best, other
    return np.sqrt(square)


@njit(cache=True, nogil=True)
def _crossing(corners, at, near, far, triangles, here, there, enough):
    """Where from corner ``near`` to ``far`` triangle ``there`` becomes the nearer one, or both are near enough."""
    ax, ay, az = corners[at, near, 0], corners[at, near, 1], corners[at, near, 2]
    dx, dy, dz = corners[at, far, 0] - ax, corners[at, far, 1] - ay, corners[at, far, 2] - az
    low, step = 0.0, 0.5
    for _ in range(_BISECTIONS):
        x, y, z = ax + (low + step) * dx, ay + (low + step) * dy, az + (low + step) * dz
        mine, other = square_distance(x, y, z, triangles, here), square_distance(x, y, z, triangles, there)
        if max(mine, other) <= enough:
            break
        if mine <= other:
            low += step
        step /= 2
    share = min(max(low + step, 0.02), 0.98)
    return ax + share * dx, ay + share * dy, az + share * dz

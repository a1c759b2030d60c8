"""A bound on how far the triangles of one surface lie from another, group by group: one side of Hausdorff's distance.

The distance to one triangle is convex, so over another triangle it is largest at a corner: the largest of three
distances bounds how far that whole triangle is from the one, and so from all of the other surface. Where a triangle
lies over several of the other surface it is cut, and each piece gets its own. Which one is chosen changes how tight the
bound is, never whether it holds. Bounds of consecutive levels add up, on either side.

Walls of the other surface's triangles cut a triangle (`straddling`). Large triangles lie over more of a fine surface
than walls can follow in one go; a quarter lies over less of it, and finds its own way from what is nearest to its
middle. What walls do not cut well is cut in two (`pieces`).

Guthe, Borodin and Klein, Fast and accurate Hausdorff distance calculation between meshes, 2005, bound pieces alike.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from hra.compiling import njit, njit_uncounted
from hra.domains.meshes.distances.pieces import TOLERANCE, bound_by_pieces, fill_patch, patch_memory, pieces_memory
from hra.domains.meshes.distances.straddling import bound_by_walls, parts_memory
from hra.domains.meshes.distances.triangle_distance import (
    OFF,
    fill_triangles,
    nearest_triangle,
    square_distance,
    surface_memory,
    walk,
)

# Deviations below this part of a group's extent are as good as none: cutting for them would not end.
NEGLIGIBLE = 2.0**-21
# Rounding of the points of pieces and of distances, in parts of the group's extent.
ROUNDING = 2.0**-46
# How often a triangle is quartered: by what walls cannot follow, and by what is farther than it should be.
_LONG, _FAR = 6, 3
# A triangle over this many is quartered at once: walls follow half as many.
_MANY = 128


class Patches(NamedTuple):
    """Clusters in groups, each with what is known of how far it is from the source.

    Attributes
    ----------
    indices : uint32 [3 T]; offsets : int64 [N + 1], where each cluster's indices begin.
    deviation : float32 [N].
    groups : int64 [G + 1], where the clusters of each group begin.
    """

    indices: np.ndarray
    offsets: np.ndarray
    deviation: np.ndarray
    groups: np.ndarray


class Surface(NamedTuple):
    """The triangles of a group of the other surface, to look for near ones and to walk over them.

    Attributes
    ----------
    triangles, balls, runs, total, gaps : see `nearest_triangle`, with the count of triangles; walls, behind : see
        `fill_patch`.
    """

    triangles: np.ndarray
    balls: np.ndarray
    runs: np.ndarray
    total: int
    gaps: np.ndarray
    walls: np.ndarray
    behind: np.ndarray


class Stacks(NamedTuple):
    """Memory for one triangle while it is cut: `parts_memory`, and `quarters_memory`."""

    points: np.ndarray
    parts: np.ndarray
    heights: np.ndarray
    waiting: np.ndarray
    depth: np.ndarray


class VertexMemory:
    """Memory for each vertex, for one thread: to take and to fill it for every few groups takes a tenth of their time.

    Parameters
    ----------
    count : vertices of the mesh.
    """

    def __init__(self, count: int) -> None:
        # The coarse triangle that a vertex is near to, the last group that asked for it, and how far it is from that.
        self.arrays = np.empty(count, np.int32), np.full(count, -1, np.int32), np.empty(count)
        self._groups = 0

    def number(self, groups: int) -> int:
        """The number of the first of this many ``groups``, which no earlier ones had."""
        self._groups += groups
        return self._groups - groups


def group_deviations(
    positions: np.ndarray,
    moved: Patches,
    onto: Patches,
    enough: np.ndarray,
    memory: VertexMemory | None = None,
    known: np.ndarray | None = None,
) -> np.ndarray:
    """How far each group of ``moved`` is at most from the same group of ``onto``, with the deviations of both.

    From fine to coarse, with the deviations of the fine clusters, no point of the source is farther from the coarse
    clusters. From coarse to fine, with the deviations of the fine ones, no point of the coarse clusters is farther from
    the source.

    Parameters
    ----------
    positions : float32 [V, 3].
    enough : float64 [G], bounds up to this are not made tighter.
    memory : of the vertices, for calls one after the other.
    known : float32 [G], bounds that stay as they are; NaN for groups that have none.

    Returns
    -------
    float32 [G], in the unit of ``positions``, rounded up.
    """
    result = np.full(len(moved.groups) - 1, np.nan)
    of_vertices = memory or VertexMemory(len(positions))
    first = of_vertices.number(result.size)
    most = int(np.diff(onto.offsets[onto.groups]).max(initial=0)) // 3
    own = (surface_memory(most), patch_memory(most), Stacks(*parts_memory(), *quarters_memory()), pieces_memory())
    wanted = np.ones(len(result), np.bool_) if known is None else np.isnan(known)
    _bound_groups(positions, moved, onto, of_vertices.arrays, own, enough, first, wanted, result)
    # To nearest first, which may be down, then one up: never below the float64.
    bounds = np.nextafter(result.astype(np.float32), np.float32(np.inf))
    return bounds if known is None else np.where(wanted, bounds, known)


@njit(cache=True, nogil=True)
def _bound_groups(positions, moved, onto, for_each_vertex, memory, enough, number, wanted, result):
    (near, seen, reach_of), (found, patch, stacks, (corners, labels)) = for_each_vertex, memory
    (triangles, balls, runs, gaps), (walls, behind, keys, places) = found, patch
    origin = np.empty(3)
    indices, offsets, deviation = moved.indices, moved.offsets, moved.deviation
    for g in np.flatnonzero(wanted):
        begin, end = onto.offsets[onto.groups[g]], onto.offsets[onto.groups[g + 1]]
        # Counted from a point of the group, coordinates are as small as it: what they lose by rounding is a part of its
        # extent, wherever in space it lies.
        for axis in range(3):
            origin[axis] = positions[onto.indices[begin], axis]
        fill_triangles(positions, onto.indices, begin, end, origin, triangles, balls, runs)
        fill_patch(onto.indices, begin, end, triangles, walls, behind, keys, places)
        extent = _mark(positions, onto, g, number + g, origin, triangles, near, seen, reach_of)
        first, last = moved.groups[g], moved.groups[g + 1]
        count, guess, bound = (end - begin) // 3, 0, 0.0
        surface = Surface(triangles, balls, runs, count, gaps, walls, behind)
        for c in range(first, last):
            for i in range(offsets[c], offsets[c + 1]):
                v = indices[i]
                x, y, z = positions[v, 0] - origin[0], positions[v, 1] - origin[1], positions[v, 2] - origin[2]
                if seen[v] != number + g:
                    guess, square = walk(x, y, z, triangles, walls, behind, guess)
                    near[v], seen[v], reach_of[v] = guess, number + g, np.sqrt(square) + triangles[guess, OFF]
                if deviation[c] + reach_of[v] > bound:
                    # A search of all triangles only where the way to a near one ended too far.
                    guess, square = nearest_triangle(x, y, z, triangles, balls, runs, count, np.int64(near[v]), gaps)
                    near[v], reach_of[v] = guess, np.sqrt(square) + triangles[guess, OFF]
                # The triangle inequality, from the source over this surface to the other one.
                bound = max(bound, deviation[c] + reach_of[v])
                extent = max(extent, abs(x), abs(y), abs(z))
        # What the vertices take, and a little more: nothing is cut to get below it.
        accepted = max(bound * TOLERANCE, bound + extent * NEGLIGIBLE, enough[g])
        for c in range(first, last):
            for i in range(offsets[c], offsets[c + 1], 3):
                for corner in range(3):
                    v = indices[i + corner]
                    for axis in range(3):
                        corners[0, corner, axis] = positions[v, axis] - origin[axis]
                    labels[0, corner] = near[v]
                if labels[0, 0] == labels[0, 1] == labels[0, 2]:
                    # All three distances are from one triangle, so that convexity speaks for what is between them.
                    reach = max(reach_of[indices[i]], reach_of[indices[i + 1]], reach_of[indices[i + 2]])
                else:
                    start = middle_label(corners, labels, triangles)
                    room = accepted - deviation[c]
                    reach = bound_by_quarters(corners, labels, start, room, surface, stacks, 0.0)
                bound = max(bound, deviation[c] + reach)
                # The group's bound is no tighter than this triangle's: to cut the others further would gain nothing.
                if bound > accepted:
                    accepted = bound * TOLERANCE
        # Outward: distances are computed in float64, points of pieces are rounded as well.
        result[g] = bound + extent * ROUNDING


@njit(inline="always")
def _mark(positions, onto, g, number, origin, triangles, near, seen, reach_of):
    """Write how far each triangle of group ``g`` is off, and give its vertices the least of those around them.

    Returns the largest coordinate.
    """
    begin, extent = onto.offsets[onto.groups[g]], 0.0
    for c in range(onto.groups[g], onto.groups[g + 1]):
        off = np.float64(onto.deviation[c])
        for i in range(onto.offsets[c], onto.offsets[c + 1]):
            v, k = onto.indices[i], (i - begin) // 3
            # A vertex of this surface lies on its triangles, so it is as far from the source as the least of them, and
            # no search is needed for it.
            triangles[k, OFF] = off
            if seen[v] != number or off < reach_of[v]:
                near[v], seen[v], reach_of[v] = k, number, off
            for axis in range(3):
                extent = max(extent, abs(positions[v, axis] - origin[axis]))
    return extent


@njit(inline="always")
def middle_label(corners, labels, triangles):
    """The label that two corners of the triangle ``corners[0]`` share, or the one nearest to its centroid."""
    # Only tightness depends on the choice.
    if labels[0, 0] == labels[0, 1] or labels[0, 0] == labels[0, 2]:
        return labels[0, 0]
    if labels[0, 1] == labels[0, 2]:
        return labels[0, 1]
    x, y, z = centroid(corners)
    best, which = np.inf, labels[0, 0]
    for i in range(3):
        square = square_distance(x, y, z, triangles, np.int64(labels[0, i]))
        if square < best:
            best, which = square, labels[0, i]
    return which


def quarters_memory() -> tuple[np.ndarray, np.ndarray]:
    """Memory for the triangles that wait: their corners, and how often each was quartered."""
    # Depth first, three quarters wait at each of `_LONG` depths beside the one in work, and one quartering writes four.
    return np.empty((3 * _LONG + 4, 3, 3)), np.empty(3 * _LONG + 4, np.int64)


@njit_uncounted(cache=True, nogil=True)
def bound_by_quarters(corners, labels, start, room, surface, stacks, below):
    """How far the triangle ``corners[0]`` is at most from the surface: within ``room`` if that is possible, or nearly.

    Parameters
    ----------
    corners, labels : `hra.domains.meshes.distances.pieces.pieces_memory`, the triangle in the first place.
    start : a triangle of the surface that is near to its middle.
    surface : `Surface`; stacks : `Stacks`.
    below : about how many triangles of the surface it lies over; 0 where that is not known.
    """
    triangles, balls, runs, count, gaps, _, _ = surface
    points, parts, heights, waiting, depth = stacks
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
            start, square = walk(x, y, z, triangles, surface.walls, surface.behind, start)
            if TOLERANCE * (np.sqrt(square) + triangles[start, OFF]) > room:
                # A search of all triangles only where the way to a near one ended too far.
                start, square = nearest_triangle(x, y, z, triangles, balls, runs, count, start, gaps)
            room = max(room, TOLERANCE * (np.sqrt(square) + triangles[start, OFF]))
        reach = -1.0
        # Four times fewer are below each quarter. What is over far too many to follow is not tried.
        if below <= _MANY << (2 * deep) or deep == _LONG:
            reach, room = bound_by_walls(corners, start, surface, room, points, parts, heights)
        # -1: too many triangles below to follow; inf: the walls cut badly. A quarter may do better at either.
        if 0.0 <= reach <= room:
            most = max(most, reach)
        elif deep < (_LONG if reach < 0 else _FAR):
            _quarter(corners, waiting, left)
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


@njit(inline="always")
def _quarter(corners, waiting, at):
    """Write the four triangles between the corners of ``corners[0]`` and the middles of its sides."""
    for i in range(3):
        for axis in range(3):
            corner, after, before = corners[0, i, axis], corners[0, (i + 1) % 3, axis], corners[0, (i + 2) % 3, axis]
            waiting[at + i, 0, axis] = corner
            waiting[at + i, 1, axis] = 0.5 * (corner + after)
            waiting[at + i, 2, axis] = 0.5 * (corner + before)
            waiting[at + 3, i, axis] = 0.5 * (after + before)


@njit(inline="always")
def centroid(corners):
    """The centroid of the triangle ``corners[0]``."""
    x = (corners[0, 0, 0] + corners[0, 1, 0] + corners[0, 2, 0]) / 3
    y = (corners[0, 0, 1] + corners[0, 1, 1] + corners[0, 2, 1]) / 3
    z = (corners[0, 0, 2] + corners[0, 1, 2] + corners[0, 2, 2]) / 3
    return x, y, z

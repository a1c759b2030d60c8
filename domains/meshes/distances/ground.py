"""How far what changes make is from the surface whose pieces they move: the way back of `carrying`.

Walls, neighbours and balls of the surface's triangles are the same for all changes and are found once. Of each change
what it moves is copied together, so that near triangles are looked for among these alone.
"""

from __future__ import annotations

import numpy as np

from hra.compiling import njit, njit_uncounted
from hra.domains.meshes.distances.deviation import (
    NEGLIGIBLE,
    ROUNDING,
    Stacks,
    Surface,
    bound_by_quarters,
    middle_label,
    quarters_memory,
)
from hra.domains.meshes.distances.pieces import TOLERANCE, fill_patch, patch_memory, pieces_memory
from hra.domains.meshes.distances.straddling import parts_memory
from hra.domains.meshes.distances.triangle_distance import (
    COLUMNS,
    OFF,
    fill_runs,
    fill_triangles,
    nearest_triangle,
    surface_memory,
    walk,
)
from hra.model.arrays import group


class Ground:
    """A surface that others are bounded from.

    Parameters
    ----------
    positions : float32 [V, 3].
    triangles : uint32 [F, 3].
    deviation : float32 [F], how far each is from the source at most.
    """

    def __init__(self, positions: np.ndarray, triangles: np.ndarray, deviation: np.ndarray) -> None:
        self._positions, indices = positions, np.ascontiguousarray(triangles).reshape(-1)
        self._origin = positions[indices[0]].astype(np.float64)
        surface, balls, runs, _ = surface_memory(len(triangles))
        walls, behind, keys, places = patch_memory(len(triangles))
        fill_triangles(positions, indices, 0, indices.size, self._origin, surface, balls, runs)
        fill_patch(indices, 0, indices.size, surface, walls, behind, keys, places)
        surface[:, OFF] = deviation
        at, corners = group(indices.astype(np.int64), len(positions))
        self._tables = surface, np.ascontiguousarray(balls.T), walls, behind, at, corners // 3
        self._extent = float(np.abs(surface[:, :OFF]).max()) * 2

    def bounds(
        self, made: tuple[np.ndarray, np.ndarray], moved: tuple[np.ndarray, np.ndarray], enough: np.ndarray
    ) -> np.ndarray:
        """How far what each change makes is from the triangles that it moves, float32 [C], rounded up.

        Parameters
        ----------
        made : where the corners of each change begin int64 [C + 1], and all of them uint32.
        moved : where the triangles of the surface begin int64 [C + 1], and their numbers int64.
        enough : float64 [C], bounds up to this are not made tighter.
        """
        most, corners = (int(np.diff(at).max(initial=0)) for at in (moved[0], made[0]))
        own = (
            *(surface_memory(most), patch_memory(most)[:2], Stacks(*parts_memory(), *quarters_memory())),
            *(pieces_memory(), (np.empty(corners, np.int64), np.empty(corners))),
        )
        result, here = np.zeros(len(enough)), np.full(len(self._tables[0]), -1, np.int32)
        _bound_changes(self._positions, made, moved, enough, self._origin, self._tables, own, here, result)
        result += self._extent * ROUNDING
        # To nearest first, which may be down, then one up: never below the float64.
        return np.nextafter(result.astype(np.float32), np.float32(np.inf))


@njit(cache=True, nogil=True)
def _bound_changes(positions, made, moved, enough, origin, tables, own, here, result):
    for c in range(result.size):
        result[c] = _bound_change(
            positions,
            made[1],
            (made[0][c], made[0][c + 1]),
            moved[1],
            (moved[0][c], moved[0][c + 1]),
            enough[c],
            origin,
            tables,
            own,
            here,
        )


@njit_uncounted(cache=True, nogil=True)
def _bound_change(positions, indices, at, moved, rows, enough, origin, tables, own, here):
    (begin, end), (first, last), count = at, rows, rows[1] - rows[0]
    (triangles, balls, runs, gaps), (walls, behind), stacks, (corners, labels), (near, reached) = own
    _copy_moved(moved, first, last, tables, triangles, balls, runs, walls, behind, here)
    surface = Surface(triangles, balls, runs, count, gaps, walls, behind)
    guess, bound, extent, area = np.int64(0), 0.0, 0.0, 0.0
    for i in range(begin, end, 3):
        area += _area(positions, indices, i)
    for i in range(begin, end):
        v, place = indices[i], i - begin
        x, y, z = positions[v, 0] - origin[0], positions[v, 1] - origin[1], positions[v, 2] - origin[2]
        guess, reached[place] = _nearest_to_vertex(v, x, y, z, tables, surface, here, guess)
        if reached[place] > bound and reached[place] > enough:
            # A search of all triangles only where the way to a near one ended too far.
            guess, square = nearest_triangle(x, y, z, triangles, balls, runs, count, guess, gaps)
            reached[place] = np.sqrt(square) + triangles[guess, OFF]
        near[place], bound = guess, max(bound, reached[place])
        for axis in range(3):
            extent = max(extent, abs(np.float64(positions[v, axis]) - positions[indices[begin], axis]))
    # What the vertices take, and a little more: nothing is cut to get below it.
    accepted = max(bound * TOLERANCE, bound + extent * NEGLIGIBLE, enough)
    for i in range(begin, end, 3):
        for corner in range(3):
            v, place = indices[i + corner], i - begin + corner
            for axis in range(3):
                corners[0, corner, axis] = positions[v, axis] - origin[axis]
            labels[0, corner] = near[place]
        if labels[0, 0] == labels[0, 1] == labels[0, 2]:
            # All three distances are from one triangle, so that convexity speaks for what is between them.
            reach = max(reached[i - begin], reached[i - begin + 1], reached[i - begin + 2])
        else:
            start = middle_label(corners, labels, triangles)
            below = count * _area(positions, indices, i) / area if area > 0 else 0.0
            reach = bound_by_quarters(corners, labels, start, accepted, surface, stacks, below)
        bound = max(bound, reach)
        # The bound is no tighter than this triangle's: to cut the others further would gain nothing.
        if bound > accepted:
            accepted = bound * TOLERANCE
    for i in range(first, last):
        here[moved[i]] = -1
    return bound + extent * ROUNDING


@njit_uncounted(cache=True, nogil=True)
def _area(positions, indices, i):
    """Twice that of a triangle."""
    a, b, c = indices[i], indices[i + 1], indices[i + 2]
    x, y, z = np.float64(positions[a, 0]), np.float64(positions[a, 1]), np.float64(positions[a, 2])
    ux, uy, uz = positions[b, 0] - x, positions[b, 1] - y, positions[b, 2] - z
    vx, vy, vz = positions[c, 0] - x, positions[c, 1] - y, positions[c, 2] - z
    return np.sqrt((uy * vz - uz * vy) ** 2 + (uz * vx - ux * vz) ** 2 + (ux * vy - uy * vx) ** 2)


@njit_uncounted(cache=True, nogil=True)
def _copy_moved(moved, first, last, tables, triangles, balls, runs, walls, behind, here):
    """Copy what is known of the triangles ``moved[first:last]``, and number those behind their sides among these."""
    every, every_ball, every_wall, every_behind, _, _ = tables
    for i in range(last - first):
        here[moved[first + i]] = i
    for i in range(last - first):
        w = moved[first + i]
        for j in range(COLUMNS):
            triangles[i, j] = every[w, j]
        for j in range(4):
            balls[j, i] = every_ball[w, j]
        for side in range(3):
            for j in range(4):
                walls[i, side, j] = every_wall[w, side, j]
            other = every_behind[w, side]
            mine = np.int64(here[other // 3]) if other >= 0 else np.int64(-1)
            behind[i, side] = 3 * mine + other % 3 if mine >= 0 else -1
    fill_runs(balls, last - first, runs)


@njit_uncounted(cache=True, nogil=True)
def _nearest_to_vertex(v, x, y, z, tables, surface, here, guess):
    """A triangle near to a vertex, and how far that is from the source: one that it is a corner of, if there is one."""
    every, _, _, _, around_at, around = tables
    best, which = np.inf, np.int64(-1)
    for j in range(around_at[v], around_at[v + 1]):
        w = around[j]
        if here[w] >= 0 and every[w, OFF] < best:
            best, which = every[w, OFF], np.int64(here[w])
    if which >= 0:
        return which, best
    which, square = walk(x, y, z, surface.triangles, surface.walls, surface.behind, guess)
    return which, np.sqrt(square) + surface.triangles[which, OFF]

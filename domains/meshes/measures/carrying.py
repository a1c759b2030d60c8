"""How far a surface is from what it is simplified to, change after change, measured directly and not added up.

Pieces of the surface are carried along. When a change takes away some triangles and makes others, every piece on the
former goes to one of the latter, from which it is no farther than its farthest corner: the distance to one triangle is
convex. A piece over several triangles is cut where that makes the bound tighter. In any cut a piece lies on what the last
change that was made put it on, so that the change's bound holds for it whatever else is made. The other way round the
bound of a triangle does not depend on the cut: how far it is from the triangles of the surface whose pieces the change
carries.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from hra.compiling import njit, njit_uncounted
from hra.domains.meshes.measures.deviation import NEGLIGIBLE, ROUNDING
from hra.domains.meshes.measures.triangle_distance import (
    fill_triangles,
    nearest_triangle,
    square_distance,
    surface_memory,
)

# A bound may be this much looser than what points of the pieces show, before they are cut.
_TOLERANCE = 1.02
# How often a piece is cut in one change at most, one of its parts after the other; each cut halves a side.
_DEEPEST = 16


class Pieces(NamedTuple):
    """Parts of a surface, P of them in use, and the triangles that they lie on.

    Attributes
    ----------
    corners : float64 [Q, 3, 3]; whole : int64 [Q], the triangle of the surface that each is a part of.
    following : int64 [Q], the next piece on the same triangle, -1 for none.
    """

    corners: np.ndarray
    whole: np.ndarray
    following: np.ndarray


def carry(
    positions: np.ndarray,
    triangles: np.ndarray,
    lost: np.ndarray,
    gone: tuple[np.ndarray, np.ndarray],
    made: tuple[np.ndarray, np.ndarray],
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Bounds on how far the surface is from what each of C changes makes, and what of the surface the change carries.

    Parameters
    ----------
    positions : float32 [V, 3].
    triangles : uint32 [K, 3], those of the surface first.
    lost : float64 [F], for each triangle of the surface what is added to the distance from it.
    gone, made : where those of each change begin [C + 1], and the triangles that it takes away and makes.

    Returns
    -------
    float64 [C], rounded up; where the carried ones of each change begin [C + 1], and their numbers.
    """
    count = len(lost)
    pieces = Pieces(
        np.ascontiguousarray(positions[triangles[:count]].astype(np.float64)),
        np.arange(count, dtype=np.int64),
        np.full(count, -1, np.int64),
    )
    head = np.full(len(triangles), -1, np.int64)
    head[:count] = np.arange(count)
    (gone_at, gone_rows), (made_at, made_rows) = gone, made
    indices = np.ascontiguousarray(triangles[made_rows]).reshape(-1)
    memory = surface_memory(int(np.diff(made_at).max(initial=0)))
    return _carry(positions, indices, lost, (gone_at, gone_rows), (made_at, made_rows), pieces, head, memory)


@njit(cache=True, nogil=True)
def _carry(positions, indices, lost, gone, made, pieces, head, memory):
    (gone_at, gone_rows), (made_at, made_rows) = gone, made
    corners, whole, following = pieces
    surface, balls, runs, gaps = memory
    used, result = whole.size, np.zeros(gone_at.size - 1)
    carried_at, carried, total = np.zeros(gone_at.size, np.int64), np.empty(4 * whole.size, np.int64), 0
    seen, origin = np.full(lost.size, -1, np.int64), np.empty(3)
    waiting, label = np.empty(whole.size, np.int64), np.empty(whole.size, np.int64)
    local, deep = np.empty((_DEEPEST + 2, 3, 3)), np.empty(_DEEPEST + 2, np.int64)
    for c in range(gone_at.size - 1):
        begin, count = 3 * made_at[c], made_at[c + 1] - made_at[c]
        for axis in range(3):
            origin[axis] = positions[indices[begin], axis]
        fill_triangles(positions, indices, begin, begin + 3 * count, origin, surface, balls, runs)
        if waiting.size < used:
            waiting, label = np.empty(2 * used, np.int64), np.empty(2 * used, np.int64)
        size = _collect(gone_rows[gone_at[c] : gone_at[c + 1]], head, following, waiting)
        # Which triangles of the surface these pieces are of.
        if carried.size < total + size:
            carried = _grown(carried, 2 * (total + size))
        extent = 0.0
        for i in range(size):
            w = whole[waiting[i]]
            for corner in range(3):
                for axis in range(3):
                    extent = max(extent, abs(corners[waiting[i], corner, axis] - origin[axis]))
            if seen[w] != c:
                seen[w] = c
                carried[total] = w
                total += 1
        carried_at[c + 1] = total
        # What most pieces need decides how far the others may be: nothing is cut to get below it.
        room, bound = _settle_near(size, waiting, label, corners, whole, lost, origin, memory, count, extent)
        for i in range(size):
            piece, k = waiting[i], label[i]
            if k >= 0:
                bound = max(bound, _reach(corners[piece], origin, surface, k) + lost[whole[piece]])
                _put(piece, made_rows[made_at[c] + k], head, following)
                continue
            _set(local, 0, corners[piece])
            deep[0], left, first = 0, 1, True
            while left:
                left -= 1
                k, reach, least, _ = _nearest(local[left], origin, lost[whole[piece]], memory, count, -1 - label[i])
                room = max(room, _TOLERANCE * least)
                if reach > room and deep[left] < _DEEPEST:
                    _halve(local, left)
                    deep[left + 1] = deep[left] = deep[left] + 1
                    left += 2
                    continue
                bound = max(bound, reach)
                room = max(room, bound)
                # The piece itself becomes its first part, the others are new ones.
                new = piece
                if not first:
                    if used == whole.size:
                        corners, whole, following = _more(corners, whole, following)
                    new, used = used, used + 1
                    whole[new] = whole[piece]
                first = False
                corners[new] = local[left]
                _put(new, made_rows[made_at[c] + k], head, following)
        result[c] = bound + extent * ROUNDING
    return result, carried_at, carried[:total]


@njit(cache=True, nogil=True)
def _collect(rows, head, following, waiting):
    """Write the pieces on the triangles ``rows`` and take them off; how many there are."""
    size = 0
    for row in rows:
        piece = head[row]
        while piece >= 0:
            waiting[size] = piece
            size += 1
            piece = following[piece]
        head[row] = -1
    return size


@njit(cache=True, nogil=True)
def _settle_near(size, waiting, label, corners, whole, lost, origin, memory, count, extent):
    """Write the nearest triangle of each piece, or -1 less one that is near where no one triangle is near enough.

    Returns about the least that a bound can be, and the bound of those that have one.
    """
    room, guess = extent * NEGLIGIBLE, 0
    # Points of the pieces bound from below; in a first turn as far as they are cheap to find.
    for i in range(size):
        guess, reach, least, k = _nearest(corners[waiting[i]], origin, lost[whole[waiting[i]]], memory, count, guess)
        label[i] = guess
        room = max(room, _TOLERANCE * least)
    bound = 0.0
    for i in range(size):
        reach = _reach(corners[waiting[i]], origin, memory[0], label[i]) + lost[whole[waiting[i]]]
        if reach > room:
            label[i] = -1 - label[i]
        else:
            bound = max(bound, reach)
    return room, bound


@njit(cache=True, nogil=True)
def _nearest(piece, origin, lost, memory, count, guess):
    """The best of the triangles that are nearest to the middle and the corners of a piece.

    Returns it, how far the piece is at most from it, the distance of the farthest of the four points from what is nearest
    to it, both with what is ``lost``, and the triangle that is nearest to that.
    """
    surface, balls, runs, gaps = memory
    best, bound, least, far = guess, np.inf, 0.0, guess
    for i in range(4):
        x, y, z = _point(piece, i, origin)
        guess, square = nearest_triangle(x, y, z, surface, balls, runs, count, guess, gaps)
        if np.sqrt(square) > least:
            least, far = np.sqrt(square), guess
        if i == 0 or guess != best:
            reach = _reach(piece, origin, surface, guess)
            if reach < bound:
                best, bound = guess, reach
    return best, bound + lost, least + lost, far


@njit_uncounted(cache=True, nogil=True)
def _point(piece, i, origin):
    """The middle of a piece, or one of its corners, counted from ``origin``."""
    if i:
        return piece[i - 1, 0] - origin[0], piece[i - 1, 1] - origin[1], piece[i - 1, 2] - origin[2]
    return (
        (piece[0, 0] + piece[1, 0] + piece[2, 0]) / 3 - origin[0],
        (piece[0, 1] + piece[1, 1] + piece[2, 1]) / 3 - origin[1],
        (piece[0, 2] + piece[1, 2] + piece[2, 2]) / 3 - origin[2],
    )


@njit_uncounted(cache=True, nogil=True)
def _reach(piece, origin, surface, k):
    """How far the farthest corner of a piece is from triangle ``k``."""
    most = 0.0
    for i in range(1, 4):
        x, y, z = _point(piece, i, origin)
        most = max(most, square_distance(x, y, z, surface, k))
    return np.sqrt(most)


@njit_uncounted(cache=True, nogil=True)
def _put(piece, row, head, following):
    following[piece], head[row] = head[row], piece


@njit_uncounted(cache=True, nogil=True)
def _set(to, place, piece):
    for i in range(3):
        for axis in range(3):
            to[place, i, axis] = piece[i, axis]


@njit_uncounted(cache=True, nogil=True)
def _halve(local, at):
    """Cut the longest side of ``local[at]`` in two; the second half goes to the next place."""
    longest, side = -1.0, 0
    for i in range(3):
        square = 0.0
        for axis in range(3):
            square += (local[at, (i + 1) % 3, axis] - local[at, i, axis]) ** 2
        if square > longest:
            longest, side = square, i
    _set(local, at + 1, local[at])
    for axis in range(3):
        middle = 0.5 * (local[at, side, axis] + local[at, (side + 1) % 3, axis])
        local[at, (side + 1) % 3, axis] = local[at + 1, side, axis] = middle


@njit(cache=True, nogil=True)
def _grown(array, size):
    result = np.empty(size, np.int64)
    result[: array.size] = array
    return result


@njit(cache=True, nogil=True)
def _more(corners, whole, following):
    """The same with room for as many pieces again."""
    room = np.empty((2 * len(corners), 3, 3))
    room[: len(corners)] = corners
    return room, _grown(whole, 2 * whole.size), _grown(following, 2 * following.size)

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
from hra.domains.meshes.measures.deviation import ROUNDING
from hra.domains.meshes.measures.pieces import best_label, fill_patch, patch_memory, pieces_memory, split
from hra.domains.meshes.measures.triangle_distance import (
    fill_triangles,
    nearest_triangle,
    square_distance,
    surface_memory,
)

# A bound may be this much looser than what points of the pieces show, before they are cut.
_TOLERANCE = 1.02
# Bounds below this part of the surface's extent are as good as none.
_NEGLIGIBLE = 2.0**-18
# How often a piece is cut by walls in one change at most, and as often otherwise; the last parts count as they are.
_CUTS = 64
# A corner may be beyond a wall by this part of the bound that is good enough.
_SLACK = 0.1


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
    most = int(np.diff(made_at).max(initial=0))
    own = surface_memory(most), patch_memory(most), pieces_memory()
    return _carry(positions, indices, lost, (gone_at, gone_rows), (made_at, made_rows), pieces, head, *own)[:3]


@njit(cache=True, nogil=True)
def _carry(positions, indices, lost, gone, made, pieces, head, memory, patch, parts):
    (gone_at, gone_rows), (made_at, made_rows) = gone, made
    corners, whole, following = pieces
    surface, balls, runs, gaps = memory
    used, result, known = whole.size, np.zeros(gone_at.size - 1), np.zeros(head.size)
    known[: lost.size] = lost
    carried_at, carried, total = np.zeros(gone_at.size, np.int64), np.empty(4 * whole.size, np.int64), 0
    seen, origin = np.full(lost.size, -1, np.int64), np.empty(3)
    waiting, label = np.empty(whole.size, np.int64), np.empty(whole.size, np.int64)
    triangles, parts_of, present, free = corners.copy(), np.ones(lost.size, np.int64), np.zeros(lost.size, np.int64), -1
    negligible = _extent(triangles) * _NEGLIGIBLE
    (local, labels), on, nowhere = parts, np.empty((len(parts[0]), 3), np.int64), np.zeros(3)
    walls, behind, keys, places = patch
    for c in range(gone_at.size - 1):
        begin, count = 3 * made_at[c], made_at[c + 1] - made_at[c]
        for axis in range(3):
            origin[axis] = positions[indices[begin], axis]
        fill_triangles(positions, indices, begin, begin + 3 * count, origin, surface, balls, runs)
        if waiting.size < used:
            waiting, label = np.empty(2 * used, np.int64), np.empty(2 * used, np.int64)
        size = _collect(gone_rows[gone_at[c] : gone_at[c + 1]], head, following, waiting)
        size, free = _join(size, waiting, whole, following, corners, triangles, parts_of, present, free)
        if carried.size < total + size:
            carried = _grown(carried, 2 * (total + size))
        extent, finer = 0.0, 0.0
        for row in gone_rows[gone_at[c] : gone_at[c + 1]]:
            finer = max(finer, known[row])
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
        # Errors never fall from fine to coarse: a bound need not be less than those of what goes.
        room = max(finer, negligible)
        room, bound = _settle_near(size, waiting, label, corners, whole, lost, origin, memory, count, room)
        if label[:size].min() < 0:
            fill_patch(indices, begin, begin + 3 * count, surface, walls, behind, keys, places)
        for i in range(size):
            piece, k = waiting[i], label[i]
            own = lost[whole[piece]]
            if k >= 0:
                _put(piece, made_rows[made_at[c] + k], head, following)
                continue
            for corner in range(3):
                local[0, corner, 0], local[0, corner, 1], local[0, corner, 2] = _point(
                    corners[piece], corner + 1, origin
                )
            on[0, 0], on[0, 1], left, cuts = -1 - k, -1, 1, 0
            while left:
                here = left - 1
                k = on[here, 0]
                if k >= 0:
                    reach, far = _reach(local[here], nowhere, surface, k), 0
                    if reach + own > room:
                        if cuts < _CUTS and _cut(local, on, here, walls, behind, _SLACK * (room - own)):
                            left, cuts = here + on[here, 2], cuts + 1
                            continue
                        # No wall cuts it: what is nearest to its corners may.
                        on[here, 0] = -1
                        for corner in range(3):
                            x, y, z = local[here, corner, 0], local[here, corner, 1], local[here, corner, 2]
                            labels[here, corner], square = nearest_triangle(
                                x, y, z, surface, balls, runs, count, k, gaps
                            )
                            room = max(room, _TOLERANCE * (np.sqrt(square) + own))
                        labels[here, 3] = k
                        continue
                else:
                    reach, k, far = best_label(local, labels, here, surface, room - own)
                    if reach + own > room and cuts < 2 * _CUTS:
                        on[here, 0] = on[here + 1, 0] = -1
                        left, cuts = left + 1, cuts + 1
                        least = split(local, labels, here, k, far, (surface, balls, runs, count), gaps, room - own)
                        room = max(room, _TOLERANCE * (least + own))
                        continue
                left = here
                bound = max(bound, reach + own)
                room = max(room, bound)
                # The last part stays the piece itself, the others are new ones.
                new = piece
                if left:
                    if free >= 0:
                        new, free = free, following[free]
                    else:
                        if used == whole.size:
                            corners, whole, following = _more(corners, whole, following)
                        new, used = used, used + 1
                    whole[new] = whole[piece]
                    parts_of[whole[piece]] += 1
                for corner in range(3):
                    for axis in range(3):
                        corners[new, corner, axis] = local[left, corner, axis] + origin[axis]
                _put(new, made_rows[made_at[c] + k], head, following)
        result[c] = bound + extent * ROUNDING
        for row in made_rows[made_at[c] : made_at[c + 1]]:
            known[row] = result[c]
    return result, carried_at, carried[:total], used


@njit(cache=True, nogil=True)
def _extent(triangles):
    """The longest side of the box around ``triangles`` [F, 3, 3]."""
    longest = 0.0
    for axis in range(3):
        longest = max(longest, triangles[:, :, axis].max() - triangles[:, :, axis].min())
    return longest


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
def _join(size, waiting, whole, following, corners, triangles, parts_of, present, free):
    """Make one piece again of all parts of a triangle that are there; how many are left, and the first free place."""
    for i in range(size):
        present[whole[waiting[i]]] += 1
    left = 0
    for i in range(size):
        piece, w = waiting[i], whole[waiting[i]]
        if present[w] == 0:
            following[piece], free = free, piece
            continue
        if present[w] == parts_of[w]:
            if parts_of[w] > 1:
                corners[piece] = triangles[w]
                parts_of[w] = 1
                present[w] = 0
            waiting[left] = piece
            left += 1
            continue
        waiting[left] = piece
        left += 1
    for i in range(left):
        present[whole[waiting[i]]] = 0
    return left, free


@njit(cache=True, nogil=True)
def _settle_near(size, waiting, label, corners, whole, lost, origin, memory, count, room):
    """Write the triangle that each piece goes to, or -1 less one that is near where no one is within ``room``.

    Returns the room that points of the pieces show to be needed, and the bound of those that have a triangle.
    """
    surface, balls, runs, gaps = memory
    guess, bound = 0, 0.0
    for i in range(size):
        piece, own = corners[waiting[i]], lost[whole[waiting[i]]]
        x, y, z = _point(piece, 0, origin)
        guess, square = nearest_triangle(x, y, z, surface, balls, runs, count, guess, gaps)
        label[i] = guess
        room = max(room, _TOLERANCE * (np.sqrt(square) + own))
    for i in range(size):
        reach = _reach(corners[waiting[i]], origin, surface, label[i]) + lost[whole[waiting[i]]]
        if reach > room:
            label[i] = -1 - label[i]
        else:
            bound = max(bound, reach)
    return room, bound


@njit_uncounted(cache=True, nogil=True)
def _cut(local, on, at, walls, behind, slack):
    """Cut the part ``local[at]`` by the wall that it is farthest outside of; whether there is one.

    Writes what is inside, and what is outside as on the triangle behind the wall, from ``at`` on, and to ``on[at, 2]`` how
    many parts that are.
    """
    k, entry, most, chosen = on[at, 0], on[at, 1], slack, -1
    for side in range(3):
        # Beyond the side that a part came through is where it came from: it would go back and forth.
        if side != entry and behind[k, side] >= 0:
            for i in range(3):
                height = _height(local, at, i, walls, k, side)
                if height > most:
                    most, chosen = height, side
    if chosen < 0:
        return False
    outside, inside, alone = 0, 0, -1
    for i in range(3):
        height = _height(local, at, i, walls, k, chosen)
        outside, inside = outside + (height > slack), inside + (height < -slack)
    other = behind[k, chosen]
    on[at, 2] = 1
    if inside == 0:
        on[at, 0], on[at, 1] = other // 3, other % 3
        return True
    # One corner is alone on its side, or one lies on the wall and each other on one side of it.
    for i in range(3):
        height = _height(local, at, i, walls, k, chosen)
        if (outside == 1 and height > slack) or (outside == 2 and height <= slack):
            alone = i
    b, c = (alone + 1) % 3, (alone + 2) % 3
    ha, hb, hc = (
        _height(local, at, alone, walls, k, chosen),
        _height(local, at, b, walls, k, chosen),
        _height(local, at, c, walls, k, chosen),
    )
    for part in range(1, 3):
        for i in range(3):
            for axis in range(3):
                local[at + part, i, axis] = local[at, i, axis]
        on[at + part, 0], on[at + part, 1] = k, entry
    share_b = min(max(ha / (ha - hb), 0.0), 1.0) if ha != hb else 1.0
    share_c = min(max(ha / (ha - hc), 0.0), 1.0) if ha != hc else 1.0
    for axis in range(3):
        a = local[at, alone, axis]
        # Where a corner lies on the wall the cut goes through it, and one part has no area.
        p, q = a + share_b * (local[at, b, axis] - a), a + share_c * (local[at, c, axis] - a)
        local[at, b, axis], local[at, c, axis] = p, q
        local[at + 1, alone, axis], local[at + 2, alone, axis] = p, q
        local[at + 2, b, axis] = p
    on[at, 2] = 3
    if outside == 1:
        on[at, 0], on[at, 1] = other // 3, other % 3
    else:
        on[at + 1, 0], on[at + 1, 1] = other // 3, other % 3
        on[at + 2, 0], on[at + 2, 1] = other // 3, other % 3
    return True


@njit_uncounted(cache=True, nogil=True)
def _height(local, at, i, walls, k, side):
    """How far a corner is outside of a wall."""
    x, y, z = local[at, i, 0], local[at, i, 1], local[at, i, 2]
    return x * walls[k, side, 0] + y * walls[k, side, 1] + z * walls[k, side, 2] - walls[k, side, 3]


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

"""How far a surface is from what it is simplified to, change after change, measured directly and not added up.

Pieces of the surface are carried along. When a change takes away some triangles and makes others, every piece on the
former goes to one of the latter, from which it is no farther than its farthest corner: the distance to one triangle is
convex. A piece over several triangles is cut where that makes the bound tighter. In any cut a piece lies on what the
last change that was made put it on, so that the change's bound holds for it whatever else is made. The other way round
the bound of a triangle does not depend on the cut: how far it is from the triangles of the surface whose pieces the
change carries.
"""

from __future__ import annotations

import numpy as np

from hra.compiling import njit, njit_uncounted
from hra.domains.meshes.distances.deviation import ROUNDING, Patches
from hra.domains.meshes.distances.pieces import best_label, fill_patch, patch_memory, pieces_memory, split
from hra.domains.meshes.distances.triangle_distance import (
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


class Carried:
    """A surface of F triangles in pieces, each on one of the triangles that the surface was simplified to so far.

    Parameters
    ----------
    positions : float32 [V, 3].
    triangles : uint32 [F, 3]; the first F of those that are numbered here.
    deviation : float32 [F, 2], bounds on how far the source is from each, and each from the source.
    """

    def __init__(self, positions: np.ndarray, triangles: np.ndarray, deviation: np.ndarray) -> None:
        self._positions, self._triangles, self._deviation = positions, triangles, deviation
        self._surface = np.ascontiguousarray(positions[triangles], np.float64)
        first = np.arange(len(triangles), dtype=np.int64)
        self._pieces = self._surface.copy(), first.copy(), np.full(len(triangles), -1, np.int64)
        # Of each triangle the first piece on it, one triangle of the surface below it, and the bound of its change.
        self._head, self._below, self._known = first, first.copy(), deviation[:, 0].astype(np.float64)
        self._parts, self._used, self._free = np.ones(len(triangles), np.int64), len(triangles), -1

    def take(self, rows: np.ndarray, count: int) -> None:
        """Number the triangles ``rows`` from 0 on, and others without pieces up to ``count``."""
        more = count - len(rows)
        self._head, self._below = (np.append(of[rows], np.full(more, -1)) for of in (self._head, self._below))
        self._known = np.append(self._known[rows], np.zeros(more))

    def add(self, count: int) -> np.ndarray:
        """The numbers of ``count`` more triangles, which have no pieces yet, int64 [count]."""
        before = len(self._head)
        self.take(np.arange(before), before + count)
        return np.arange(before, before + count)

    def step(
        self, gone: tuple[np.ndarray, np.ndarray], made: tuple[np.ndarray, np.ndarray], indices: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray, Patches]:
        """Make C changes, each after those that make what it takes away.

        Parameters
        ----------
        gone, made : where those of each change begin [C + 1], and the triangles that it takes away and makes.
        indices : uint32 [3 T], the corners of the latter.

        Returns
        -------
        Bounds on how far the source is from what each makes, float64 [C]; up to where bounds need not be tighter,
        because they never fall from fine to coarse, float64 [C]; the triangles of the surface whose pieces
        each change moves.
        """
        # Of one kind of integers, so that all is compiled once.
        gone, made = ((at.astype(np.int64), rows.astype(np.int64)) for at, rows in (gone, made))
        most, lost = int(np.diff(made[0]).max(initial=0)), self._deviation[:, 0].astype(np.float64)
        memory = surface_memory(most), patch_memory(most), pieces_memory()
        state = self._pieces, self._head, self._below, self._known, self._parts
        found = _carry(self._positions, indices, self._surface, lost, gone, made, state, self._used, self._free, memory)
        bounds, enough, at, moved, self._pieces, self._used, self._free = found
        corners = self._triangles[moved].reshape(-1)
        return bounds, enough, Patches(corners, 3 * np.arange(len(moved) + 1), self._deviation[moved, 1], at)


@njit(cache=True, nogil=True)
def _carry(positions, indices, triangles, lost, gone, made, state, used, free, memories):
    (gone_at, gone_rows), (made_at, made_rows) = gone, made
    (corners, whole, following), head, below, known, parts = state
    memory, (walls, behind, keys, places), (local, labels) = memories
    surface, balls, runs, gaps = memory
    result, enough = np.zeros(gone_at.size - 1), np.zeros(gone_at.size - 1)
    carried_at, carried, total = np.zeros(gone_at.size, np.int64), np.empty(4 * lost.size, np.int64), 0
    seen, present, origin, nowhere = (
        np.full(lost.size, -1, np.int64),
        np.zeros(lost.size, np.int64),
        np.empty(3),
        np.zeros(3),
    )
    waiting, label, on = (
        np.empty(whole.size, np.int64),
        np.empty(whole.size, np.int64),
        np.empty((len(local), 3), np.int64),
    )
    negligible = _extent(triangles) * _NEGLIGIBLE
    for c in range(gone_at.size - 1):
        begin, count = 3 * made_at[c], made_at[c + 1] - made_at[c]
        for axis in range(3):
            origin[axis] = positions[indices[begin], axis]
        fill_triangles(positions, indices, begin, begin + 3 * count, origin, surface, balls, runs)
        if waiting.size < used:
            waiting, label = np.empty(2 * used, np.int64), np.empty(2 * used, np.int64)
        size = _collect(gone_rows[gone_at[c] : gone_at[c + 1]], head, following, waiting)
        size, free = _join(size, waiting, whole, following, corners, triangles, parts, present, free)
        if carried.size < total + size + gone_at[c + 1] - gone_at[c]:
            carried = _grown(carried, 2 * (total + size + gone_at[c + 1] - gone_at[c]))
        extent, finer = 0.0, 0.0
        for row in gone_rows[gone_at[c] : gone_at[c + 1]]:
            finer = max(finer, known[row])
            # Where no piece lies on a triangle, one of what made it speaks for it.
            if seen[below[row]] != c:
                seen[below[row]] = c
                carried[total] = below[row]
                total += 1
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
        if size and label[:size].min() < 0:
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
                    parts[whole[piece]] += 1
                for corner in range(3):
                    for axis in range(3):
                        corners[new, corner, axis] = local[left, corner, axis] + origin[axis]
                _put(new, made_rows[made_at[c] + k], head, following)
        result[c] = bound + extent * ROUNDING
        enough[c] = max(result[c], finer)
        for row in made_rows[made_at[c] : made_at[c + 1]]:
            known[row] = result[c]
            below[row] = carried[carried_at[c]] if head[row] < 0 else whole[head[row]]
    return result, enough, carried_at, carried[:total], (corners, whole, following), used, free


@njit(cache=True, nogil=True)
def _extent(triangles):
    """The longest side of the box around ``triangles`` [F, 3, 3]."""
    longest = 0.0
    for axis in range(3):
        low, high = np.inf, -np.inf
        for i in range(len(triangles)):
            for corner in range(3):
                low, high = min(low, triangles[i, corner, axis]), max(high, triangles[i, corner, axis])
        longest = max(longest, high - low)
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
def _join(size, waiting, whole, following, corners, triangles, parts, present, free):
    """Make one piece again of all parts of a triangle that are there; how many are left, and the first free place."""
    for i in range(size):
        present[whole[waiting[i]]] += 1
    left = 0
    for i in range(size):
        piece, w = waiting[i], whole[waiting[i]]
        if present[w] == 0:
            following[piece], free = free, piece
            continue
        if present[w] == parts[w] and parts[w] > 1:
            for corner in range(3):
                for axis in range(3):
                    corners[piece, corner, axis] = triangles[w, corner, axis]
            parts[w], present[w] = 1, 0
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
    guess, bound = np.int64(0), 0.0
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

    Writes what is inside, and what is outside as on the triangle behind the wall, from ``at`` on, and how many parts
    that are to ``on[at, 2]``.
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
    for i in range(array.size):
        result[i] = array[i]
    return result


@njit(cache=True, nogil=True)
def _more(corners, whole, following):
    """The same with room for as many pieces again."""
    room = np.empty((2 * len(corners), 3, 3))
    for i in range(len(corners)):  # assigning a slice compiles how errors are worded
        for corner in range(3):
            for axis in range(3):
                room[i, corner, axis] = corners[i, corner, axis]
    return room, _grown(whole, 2 * whole.size), _grown(following, 2 * following.size)

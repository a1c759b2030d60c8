"""How far a surface is from what it is simplified to, change after change, measured directly and not added up.

Pieces of the surface are carried along. When a change takes away some triangles and makes others, every piece on the
former goes to one of the latter, from which it is no farther than its farthest corner: the distance to one triangle is
convex. A piece over several triangles is cut where that makes the bound tighter. In any cut a piece lies on what the
last change that was made put it on, so that the change's bound holds for it whatever else is made. In the other
direction, too, the bound of a triangle does not depend on the cut: it is the triangle's distance from the surface whose
pieces the change carries or, where that is less, its distance from the triangles that the change takes away plus theirs
from the source. On a triangle between others there may be no piece at all.
"""

from __future__ import annotations

import numpy as np

from hra.compiling import njit, njit_uncounted
from hra.domains.meshes.distances.deviation import ROUNDING, Patches, VertexMemory, group_deviations
from hra.domains.meshes.distances.ground import Ground
from hra.domains.meshes.distances.pieces import MAX_PIECES, best_label, fill_patch, patch_memory, pieces_memory, split
from hra.domains.meshes.distances.settling import settle_near, settling_memory
from hra.domains.meshes.distances.triangle_distance import (
    fill_triangles,
    nearest_triangle,
    square_of,
    surface_memory,
)
from hra.domains.meshes.mesh.ragged import take_runs

# A bound may be this much looser than what points of the pieces show, before they are cut.
_TOLERANCE = 1.02
# Bounds below this part of the surface's extent are as good as none.
_NEGLIGIBLE = 2.0**-18
# How often a piece is cut by walls in one change at most, and as often otherwise; the last parts count as they are.
_CUTS = MAX_PIECES // 3
# Bounds on the way back that are looser by this factor are looked for by way of what goes, too.
_WORTH = 1.1
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
        self._positions, self._deviation, self.ground = (
            positions,
            deviation,
            Ground(positions, triangles, deviation[:, 1]),
        )
        self._surface = np.ascontiguousarray(positions[triangles], np.float64)
        first = np.arange(len(triangles), dtype=np.int64)
        self._pieces = self._surface.copy(), first.copy(), np.full(len(triangles), -1, np.int64)
        # Of each triangle the first piece on it, one triangle of the surface below it, and the bound of its change.
        self._head, self._below, self._known = first, first.copy(), deviation[:, 0].astype(np.float64)
        self._parts, self._used, self._free = np.ones(len(triangles), np.int64), len(triangles), -1
        self._corners, self._back = np.ascontiguousarray(triangles, np.uint32), deviation[:, 1].astype(np.float32)

    def take(self, rows: np.ndarray, count: int) -> None:
        """Number the triangles ``rows`` from 0 on, and others without pieces up to ``count``."""
        more = count - len(rows)
        self._head, self._below = (np.append(of[rows], np.full(more, -1)) for of in (self._head, self._below))
        self._known = np.append(self._known[rows], np.zeros(more))
        self._corners = np.append(self._corners[rows], np.zeros((more, 3), np.uint32), axis=0)
        self._back = np.append(self._back[rows], np.zeros(more, np.float32))

    def add(self, count: int) -> np.ndarray:
        """The numbers of ``count`` more triangles, which have no pieces yet, int64 [count]."""
        before = len(self._head)
        self.take(np.arange(before), before + count)
        return np.arange(before, before + count)

    def step(
        self, gone: tuple[np.ndarray, np.ndarray], made: tuple[np.ndarray, np.ndarray], indices: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray, tuple[np.ndarray, np.ndarray]]:
        """Make C changes, each after those that make what it takes away.

        Parameters
        ----------
        gone, made : where those of each change begin [C + 1], and the triangles that it takes away and makes.
        indices : uint32 [3 T], the corners of the latter.

        Returns
        -------
        Bounds on how far the source is from what each makes, float64 [C]; up to where bounds need not be tighter,
        because they never fall from fine to coarse, float64 [C]; the triangles of the surface whose pieces
        each change moves, as where they begin int64 [C + 1] and their numbers int64.
        """
        # Of one kind of integers, so that all is compiled once.
        gone, made = ((at.astype(np.int64), rows.astype(np.int64)) for at, rows in (gone, made))
        most, lost = int(np.diff(made[0]).max(initial=0)), self._deviation[:, 0].astype(np.float64)
        memory = surface_memory(most), patch_memory(most), pieces_memory(), settling_memory(most)
        state = self._pieces, self._head, self._below, self._known, self._parts
        found = _carry(self._positions, indices, self._surface, lost, gone, made, state, self._used, self._free, memory)
        bounds, enough, at, moved, self._pieces, self._used, self._free = found
        return bounds, enough, (at, moved)

    def step_back(
        self,
        gone: tuple[np.ndarray, np.ndarray],
        made: tuple[np.ndarray, np.ndarray],
        indices: np.ndarray,
        direct: np.ndarray,
        enough: np.ndarray,
    ) -> np.ndarray:
        """How far what each change makes is from the source, float32 [C]: no more than ``direct`` [C].

        Parameters
        ----------
        gone, made, indices : as for `step`; enough : float64 [C], bounds up to this are not made tighter.
        """
        (gone_at, gone_rows), (made_at, made_rows) = gone, made
        counts = np.diff(made_at)
        self._corners[made_rows], self._back[made_rows] = indices.reshape(-1, 3), np.repeat(direct, counts)
        maker = np.full(len(self._back), -1)
        maker[made_rows] = np.repeat(np.arange(len(direct)), counts)
        # Changes wait for those that they follow, whose bounds may fall.
        wave = np.zeros(len(direct) + 1, np.int64)
        for c in np.flatnonzero(direct > _WORTH * enough).tolist():
            wave[c] = 1 + wave[maker[gone_rows[gone_at[c] : gone_at[c + 1]]]].max()
        result, memory, exact = direct.copy(), VertexMemory(len(self._positions)), np.zeros_like(self._back)
        for number in range(1, 1 + int(wave.max())):
            rows = np.flatnonzero(wave[:-1] == number)
            before, ends = take_runs(gone_rows, gone_at, rows)
            # Errors never fall from fine to coarse, as in `_carry`.
            least = np.maximum(enough[rows], np.maximum.reduceat(self._back[before], ends[:-1]))
            loose = direct[rows] > _WORTH * least
            if loose.any():
                rows, least = rows[loose], least[loose]
                patches = self._patches(made, rows, exact), self._patches(gone, rows, self._back)
                result[rows] = np.minimum(direct[rows], group_deviations(self._positions, *patches, least, memory))
                after, ends = take_runs(made_rows, made_at, rows)
                self._back[after] = np.repeat(result[rows], np.diff(ends))
        return result

    def _patches(self, runs: tuple[np.ndarray, np.ndarray], rows: np.ndarray, known: np.ndarray) -> Patches:
        """Triangles of the changes ``rows``, each with what is ``known`` [N] of how far it is from the source."""
        numbers, ends = take_runs(runs[1], runs[0], rows)
        return Patches(self._corners[numbers].reshape(-1), 3 * np.arange(len(numbers) + 1), known[numbers], ends)


@njit(cache=True, nogil=True)
def _carry(positions, indices, triangles, lost, gone, made, state, used, free, memories):
    (gone_at, gone_rows), (made_at, made_rows) = gone, made
    (corners, whole, following), head, below, known, parts = state
    surface, patch, pieces, settling = memories
    result, enough = np.zeros(gone_at.size - 1), np.zeros(gone_at.size - 1)
    carried_at, carried, total = np.zeros(gone_at.size, np.int64), np.empty(4 * lost.size, np.int64), 0
    seen, present, origin = np.full(lost.size, -1, np.int64), np.zeros(lost.size, np.int64), np.empty(3)
    waiting, label, reached = np.empty(whole.size, np.int64), np.empty(whole.size, np.int64), np.empty(whole.size)
    on, places, sizes = np.empty((len(pieces[0]), 3), np.int64), np.array([used, free]), np.zeros(2)
    box = _box(triangles)
    negligible = max(box[1, 0] - box[0, 0], box[1, 1] - box[0, 1], box[1, 2] - box[0, 2]) * _NEGLIGIBLE
    for c in range(gone_at.size - 1):
        begin, count, rows = 3 * made_at[c], made_at[c + 1] - made_at[c], gone_at[c + 1] - gone_at[c]
        if waiting.size < places[0]:
            waiting, label, reached = (
                np.empty(2 * places[0], np.int64),
                np.empty(2 * places[0], np.int64),
                np.empty(2 * places[0]),
            )
        size = _collect(gone_rows, gone_at[c], gone_at[c + 1], head, following, waiting)
        size = _join(size, waiting, whole, following, corners, triangles, parts, present, places)
        if carried.size < total + size + rows:
            carried = _grown(carried, 2 * (total + size + rows))
        finer = 0.0
        for i in range(gone_at[c], gone_at[c + 1]):
            finer = max(finer, known[gone_rows[i]])
        total = _write_moved(c, gone_rows, gone_at, below, waiting, size, whole, lost, seen, carried, total, reached)
        carried_at[c + 1] = total
        # What coordinates are at most: pieces lie in the box of the surface.
        extent = 0.0
        for axis in range(3):
            origin[axis] = positions[indices[begin], axis]
            extent = max(extent, box[1, axis] - origin[axis], origin[axis] - box[0, axis])
        fill_triangles(positions, indices, begin, begin + 3 * count, origin, surface[0], surface[1], surface[2])
        # Errors never fall from fine to coarse: a bound need not be less than those of what goes.
        shown = settle_near(waiting, size, corners, origin, surface, count, settling, label, reached)
        sizes[0], sizes[1] = max(finer, negligible, _TOLERANCE * shown), 0.0
        left = _put_near(waiting, size, label, reached, sizes, made_rows, made_at[c], head, following)
        if left:
            fill_patch(indices, begin, begin + 3 * count, surface[0], *patch)
        done = 0
        while done < left:
            while whole.size < places[0] + len(pieces[0]):
                corners, whole, following = _more(corners, whole, following)
            lines = corners, whole, following, parts, lost, head, made_rows
            done = _cut_far(
                waiting, label, done, left, lines, made_at[c], origin, surface, patch, pieces, on, count, places, sizes
            )
        result[c] = sizes[1] + extent * ROUNDING
        enough[c] = max(result[c], finer)
        for row in made_rows[made_at[c] : made_at[c + 1]]:
            known[row] = result[c]
            below[row] = carried[carried_at[c]] if head[row] < 0 else whole[head[row]]
    return result, enough, carried_at, carried[:total], (corners, whole, following), places[0], places[1]


@njit_uncounted(cache=True, nogil=True)
def _write_moved(c, rows, at, below, waiting, size, whole, lost, seen, carried, total, reached):
    """Write the triangles of the surface of the first ``size`` pieces, each once, and how far it is from the source.

    Returns how many are written in all.
    """
    for i in range(at[c], at[c + 1]):
        # Where no piece lies on a triangle, one of what made it speaks for it.
        w = below[rows[i]]
        if seen[w] != c:
            seen[w] = c
            carried[total] = w
            total += 1
    for i in range(size):
        w = whole[waiting[i]]
        reached[i] = lost[w]
        if seen[w] != c:
            seen[w] = c
            carried[total] = w
            total += 1
    return total


@njit_uncounted(cache=True, nogil=True)
def _put_near(waiting, size, label, reached, sizes, made_rows, first, head, following):
    """Put the pieces that are near enough where they belong, and the others to the front; how many these are."""
    left, bound, room = 0, 0.0, sizes[0]
    for i in range(size):
        piece, k = waiting[i], label[i]
        if reached[i] <= room:
            bound = max(bound, reached[i])
            following[piece], head[made_rows[first + k]] = head[made_rows[first + k]], piece
        else:
            waiting[left], label[left] = piece, k
            left += 1
    sizes[1] = bound
    return left


@njit_uncounted(cache=True, nogil=True)
def _cut_far(waiting, label, first, left, lines, made_at, origin, found, patch, memory, on, count, places, sizes):
    """Cut the pieces from ``first`` on that are far from their triangle, and put the parts where they belong.

    Returns the first piece for whose parts there may be no room.
    """
    corners, whole, following, parts, lost, head, made_rows = lines
    (surface, balls, runs, gaps), (walls, behind, _, _), (local, labels) = found, patch, memory
    room, bound = sizes[0], sizes[1]
    for i in range(first, left):
        if whole.size < places[0] + len(local):
            sizes[0], sizes[1] = room, bound
            return i
        piece = waiting[i]
        own = lost[whole[piece]]
        for corner in range(3):
            for axis in range(3):
                local[0, corner, axis] = corners[piece, corner, axis] - origin[axis]
        on[0, 0], on[0, 1], stacked, cuts = label[i], -1, 1, 0
        while stacked:
            here = stacked - 1
            k = on[here, 0]
            if k >= 0:
                reach, far = _reach(local, here, surface, k), 0
                if reach + own > room:
                    if cuts < _CUTS and _cut(local, on, here, walls, behind, _SLACK * (room - own)):
                        stacked, cuts = here + on[here, 2], cuts + 1
                        continue
                    # No wall cuts it: what is nearest to its corners may.
                    on[here, 0] = -1
                    for corner in range(3):
                        x, y, z = local[here, corner, 0], local[here, corner, 1], local[here, corner, 2]
                        labels[here, corner], square = nearest_triangle(x, y, z, surface, balls, runs, count, k, gaps)
                        room = max(room, _TOLERANCE * (np.sqrt(square) + own))
                    labels[here, 3] = k
                    continue
            else:
                reach, k, far = best_label(local, labels, here, surface, room - own)
                if reach + own > room and cuts < 2 * _CUTS:
                    on[here, 0] = on[here + 1, 0] = -1
                    stacked, cuts = stacked + 1, cuts + 1
                    least = split(local, labels, here, k, far, (surface, balls, runs, count), gaps, room - own)
                    room = max(room, _TOLERANCE * (least + own))
                    continue
            stacked = here
            bound = max(bound, reach + own)
            room = max(room, bound)
            # The last part stays the piece itself, the others are new ones.
            new = piece
            if stacked:
                if places[1] >= 0:
                    new, places[1] = places[1], following[places[1]]
                else:
                    new, places[0] = places[0], places[0] + 1
                whole[new] = whole[piece]
                parts[whole[piece]] += 1
            for corner in range(3):
                for axis in range(3):
                    corners[new, corner, axis] = local[stacked, corner, axis] + origin[axis]
            following[new], head[made_rows[made_at + k]] = head[made_rows[made_at + k]], new
    sizes[0], sizes[1] = room, bound
    return left


@njit(cache=True, nogil=True)
def _box(triangles):
    """The least and the largest coordinates of ``triangles`` [F, 3, 3], float64 [2, 3]."""
    box = np.empty((2, 3))
    for axis in range(3):
        low, high = np.inf, -np.inf
        for i in range(len(triangles)):
            for corner in range(3):
                low, high = min(low, triangles[i, corner, axis]), max(high, triangles[i, corner, axis])
        box[0, axis], box[1, axis] = low, high
    return box


@njit_uncounted(cache=True, nogil=True)
def _collect(rows, begin, end, head, following, waiting):
    """Write the pieces on the triangles ``rows[begin:end]`` and take them off; how many there are."""
    size = 0
    for i in range(begin, end):
        piece = head[rows[i]]
        while piece >= 0:
            waiting[size] = piece
            size += 1
            piece = following[piece]
        head[rows[i]] = -1
    return size


@njit_uncounted(cache=True, nogil=True)
def _join(size, waiting, whole, following, corners, triangles, parts, present, places):
    """Make one piece again of all parts of a triangle that are there; how many are left. Writes what gets free."""
    for i in range(size):
        present[whole[waiting[i]]] += 1
    left = 0
    for i in range(size):
        piece, w = waiting[i], whole[waiting[i]]
        if present[w] == 0:
            following[piece], places[1] = places[1], piece
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
    return left


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
def _reach(local, at, surface, k):
    """How far the farthest corner of a part is from triangle ``k``."""
    most = 0.0
    for i in range(3):
        most = max(most, square_of(local[at, i, 0], local[at, i, 1], local[at, i, 2], surface, k))
    return np.sqrt(most)


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

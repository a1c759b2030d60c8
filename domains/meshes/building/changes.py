"""What differs from one simplified mesh to the next, taken apart into changes that can be made one without another.

Triangles are followed from mesh to mesh (`Lives`). Those that have to go and come together, so that the surface stays
without cracks, are one change.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from hra.compiling import njit
from hra.domains.meshes.building.geometry import Geometry
from hra.domains.meshes.mesh.ragged import local_vertices, run_offsets
from hra.model.disjoint_sets import find

_FREE, _TAKEN = -1, -2


@dataclass(frozen=True, eq=False)
class Changes:
    """C changes of a surface from fine to coarse; each swaps some triangles for fewer with the same border.

    Attributes
    ----------
    triangles : uint32 [K, 3], those of the first mesh before all others, in its order.
    made_by : int64 [K], the change that makes each, -1 for those of the first mesh.
    gone_by : int64 [K], the change that takes each away, -1 for those of the last mesh.
    step : int64 [C], which step from mesh to mesh the change is a part of; they are in this order.
    """

    triangles: np.ndarray
    made_by: np.ndarray
    gone_by: np.ndarray
    step: np.ndarray

    def __len__(self) -> int:
        return len(self.step)

    @property
    def saved(self) -> np.ndarray:
        """How many triangles fewer there are after each change, int64 [C]."""
        gone, made = (np.bincount(by[by >= 0], minlength=len(self)) for by in (self.gone_by, self.made_by))
        return gone - made


def independent_changes(meshes: Sequence[np.ndarray], geometry: Geometry) -> Changes:
    """The changes between consecutive ``meshes`` uint32 [3 T], each simplified from the last.

    After any of the changes, and those that made what it takes away, the surface is as closed as before. Most are one
    collapsed edge, because the simplifier moves no vertex next to one that has moved in the same pass.
    """
    lives = Lives.of(meshes)
    parts = _Parts.of(lives, geometry)
    kept = parts.leave_something(lives)
    parts.save_something()
    return parts.changes(kept)


@dataclass(frozen=True, eq=False)
class _Parts:
    """What goes at each step and what comes, P triangles in all.

    Attributes
    ----------
    triangles : uint32 [K, 3], of all meshes; middles : float32 [K, 3].
    row : int64 [P], which of them each part is; step : int64 [P]; sign : int64 [P], 1 for what goes, -1 for what comes.
    label : int64 [P], equal for the parts of one change; written to.
    """

    triangles: np.ndarray
    middles: np.ndarray
    row: np.ndarray
    step: np.ndarray
    sign: np.ndarray
    label: np.ndarray

    @classmethod
    def of(cls, lives: Lives, geometry: Geometry) -> _Parts:
        """Labelled so that cracks are excluded."""
        goes, comes = np.flatnonzero(lives.gone <= lives.steps), np.flatnonzero(lives.born > 0)
        row, step = np.concatenate([goes, comes]), np.concatenate([lives.gone[goes], lives.born[comes]]) - 1
        sign = np.repeat([1, -1], [goes.size, comes.size])
        label = joined(geometry.by_position(lives.triangles[row]), step, sign)
        if geometry.parts is not None:
            label = geometry.parts.joined_pairs(lives.triangles[row, 0], step, sign, label)
        return cls(lives.triangles, geometry.unit_positions[lives.triangles].mean(axis=1), row, step, sign, label)

    def leave_something(self, lives: Lives) -> dict[tuple[int, int], int]:
        """Give each change that leaves nothing, such as an island that is removed, the nearest triangle that stays.

        Returns
        -------
        Triangles that a change replaces by themselves: for triangle and step a part of the change.
        """
        kept: dict[tuple[int, int], int] = {}
        comes = np.flatnonzero(self.sign < 0)
        made = dict(zip(self.row[comes].tolist(), comes.tolist(), strict=True))
        alone = np.bincount(self.label[comes], minlength=len(self.label)) == 0
        alone = np.flatnonzero(alone & (self.label == np.arange(len(self.label))))
        for step, own in self._by_step(alone):
            stays = np.flatnonzero((lives.born <= step + 1) & (lives.gone > step + 1))
            middles = self.middles[self.row[own]]
            for part in alone[self.step[alone] == step].tolist():
                same = self.label[own] == self.label[part]
                near = int(_nearest(middles, same, self.middles, stays))
                other = made[near] if lives.born[near] == step + 1 else kept.setdefault((near, step), part)
                self.label[own[same]] = self.label[other]
        return kept

    def save_something(self) -> None:
        """Put each change that saves no triangle, such as a wedge that moves, to the nearest of its step that does."""
        poor = np.bincount(self.label, self.sign, minlength=len(self.label))[self.label] <= 0
        for _, own in self._by_step(np.flatnonzero(poor)):
            names, label = np.unique(self.label[own], return_inverse=True)
            label = label.reshape(-1).astype(np.int64)
            saved = np.bincount(label, self.sign[own])
            _give_away(self.middles[self.row[own]], label, saved)
            self.label[own] = names[label]

    def _by_step(self, parts: np.ndarray) -> Iterator[tuple[int, np.ndarray]]:
        """The steps that ``parts`` are of, each with all of its own parts."""
        order = np.argsort(self.step, kind="stable")
        for step in np.unique(self.step[parts]).tolist():
            begin, end = np.searchsorted(self.step, (step, step + 1), sorter=order)
            yield step, order[begin:end]

    def changes(self, kept: dict[tuple[int, int], int]) -> Changes:
        """The changes by their labels, with some triangles replaced by themselves."""
        _, first, label = np.unique(self.label, return_index=True, return_inverse=True)
        order, count = np.argsort(self.step[first], kind="stable"), len(self.triangles)
        number = np.argsort(order)[label.reshape(-1)]
        made_by, gone_by = np.full((2, count + len(kept)), -1, np.int64)
        for by, sign in ((gone_by, 1), (made_by, -1)):
            by[self.row[self.sign == sign]] = number[self.sign == sign]
        # The last step first: what is new lives on until the triangle goes, or is replaced again.
        again = sorted(kept, key=lambda key: -key[1])
        for new, (triangle, step) in enumerate(again, count):
            made_by[new], gone_by[new] = number[kept[triangle, step]], gone_by[triangle]
            gone_by[triangle] = made_by[new]
        rows = np.concatenate([np.arange(count), np.array([triangle for triangle, _ in again], np.int64)])
        return Changes(self.triangles[rows], made_by, gone_by, self.step[first[order]])


@njit(cache=True)
def _nearest(middles, own, places, rows):
    """Which of ``rows`` of ``places`` float32 [n, 3] is nearest to the mean of those ``middles`` that are ``own``."""
    to, count = np.zeros(3, np.float32), np.float32(0)
    for i in range(len(middles)):
        if own[i]:
            count += np.float32(1)
            for axis in range(3):
                to[axis] += middles[i, axis]
    for axis in range(3):
        to[axis] /= count
    least, nearest = np.float32(np.inf), rows[0]
    for i in rows:
        x, y, z = places[i, 0] - to[0], places[i, 1] - to[1], places[i, 2] - to[2]
        square = x * x + y * y + z * z
        if square < least:
            least, nearest = square, i
    return nearest


@njit(cache=True)
def _give_away(middles, label, saved):
    """Put the parts of each label that saves nothing, first ones first, to the label of the nearest that does.

    Parameters
    ----------
    middles : float32 [n, 3] of parts; label : int64 [n], which is written to.
    saved : float64, how many triangles fewer each label leaves, which is written to.
    """
    for first in range(label.size):
        while saved[label[first]] <= 0:
            own = label[first]
            host = label[_nearest(middles, label == own, middles, np.flatnonzero(saved[label] > 0))]
            saved[host] += saved[own]
            for i in range(label.size):
                if label[i] == own:
                    label[i] = host


def joined(corners: np.ndarray, step: np.ndarray, sign: np.ndarray) -> np.ndarray:
    """Labels int64 [P] of triangles that go or come at a step, equal where one needs the other; each is one of them.

    What comes joins what goes on the same side of an edge. Then whatever leaves an edge uneven joins what makes up for
    it, until the border of what goes under each label is that of what comes. Edges of the source's border may stay
    uneven: they have nothing to join.

    Parameters
    ----------
    corners : [P, 3], by position; step : int64 [P]; sign : int64 [P], 1 for what goes and -1 for what comes.
    """
    begin = np.unique(corners, return_inverse=True)[1].reshape(-1, 3)
    end, part = np.roll(begin, -1, axis=1).reshape(-1), np.repeat(np.arange(len(step)), 3)
    begin, places = begin.reshape(-1), int(begin.max(initial=0)) + 1
    # One key for an edge at a step, whichever way it is gone along: sorting brings its triangles together.
    edge = (step[part] * places + np.minimum(begin, end)) * places + np.maximum(begin, end)
    order = np.argsort(edge, kind="stable")
    offsets = np.flatnonzero(np.concatenate([[True], np.diff(edge[order]) != 0, [True]]))
    root = np.arange(len(step))
    _join_sides(offsets, part[order], (begin < end)[order], sign, root)
    while _join_uneven(offsets, part[order], (begin < end)[order], sign, root):
        pass
    return root


@njit(cache=True)
def _join_sides(offsets, part, forward, sign, root):
    """Join what goes and what comes with the same directed edge."""
    for e in range(offsets.size - 1):
        for i in range(offsets[e], offsets[e + 1]):
            for j in range(offsets[e], i):
                if forward[i] == forward[j] and sign[part[i]] != sign[part[j]]:
                    root[find(root, part[i])] = find(root, part[j])


@njit(cache=True)
def _join_uneven(offsets, part, forward, sign, root):
    """Join all that leave the same edge uneven, once; whether anything was joined. Then ``root`` are labels."""
    joined = False
    for e in range(offsets.size - 1):
        uneven = np.int64(-1)
        for i in range(offsets[e], offsets[e + 1]):
            own, net = find(root, part[i]), 0
            for j in range(offsets[e], offsets[e + 1]):
                # The border of a label: an edge along which as much goes as comes is none of it.
                if find(root, part[j]) == own:
                    net += sign[part[j]] if forward[j] else -sign[part[j]]
            # Two labels that leave one edge uneven close it only together.
            if net != 0:
                if uneven >= 0 and find(root, uneven) != own:
                    root[own] = find(root, uneven)
                    joined = True
                uneven = part[i]
    for i in range(root.size):
        root[i] = find(root, i)
    return joined


@dataclass(frozen=True, eq=False)
class Lives:
    """Every triangle of consecutive meshes, once for each run of meshes that it is in.

    Attributes
    ----------
    triangles : uint32 [K, 3], in the order of the meshes.
    born : int64 [K], the first mesh of each; gone : int64 [K], the first one without it.
    steps : from mesh to mesh.
    """

    triangles: np.ndarray
    born: np.ndarray
    gone: np.ndarray
    steps: int

    @classmethod
    def of(cls, meshes: Sequence[np.ndarray]) -> Lives:
        """Compare ``meshes`` uint32 [3 T]; triangles are the same if they have the same corners in the same order."""
        vertices, corners = local_vertices(np.concatenate(meshes))
        triangles, at = corners.reshape(-1, 3), run_offsets(np.array([mesh.size // 3 for mesh in meshes]))
        born, gone, row = np.empty((3, len(triangles)), np.int64)
        count = _trace(triangles, at, np.empty(len(triangles), np.int64), born, gone, row)
        return cls(vertices[triangles[row[:count]]], born[:count], gone[:count], len(meshes) - 1)


@njit(cache=True)
def _trace(triangles, at, number, born, gone, row):
    """Number the triangles; of each, write its first mesh, the first one without it, and one of its rows.

    Returns how many there are.
    """
    count, before = np.int64(0), np.int64(0)
    for m in range(at.size - 1):
        # The triangles of the mesh before, in a hash table that is at most half full.
        size = 16
        while size < 2 * (at[m] - before):
            size *= 2
        table = np.full(size, _FREE, np.int64)
        for k in range(before, at[m]):
            slot = _slot(triangles, k, size)
            while table[slot] != _FREE:
                slot = (slot + 1) & (size - 1)
            table[slot] = k
        for k in range(at[m], at[m + 1]):
            same = _take(triangles, k, table)
            if same >= 0:
                number[k] = number[same]
            else:
                number[k], born[count], row[count] = count, m, k
                count += 1
            gone[number[k]] = m + 1
        before = at[m]
    return count


@njit(cache=True)
def _take(triangles, k, table):
    """The row of a triangle like ``k`` in the table, which is taken out: repeated ones are found once each."""
    slot = _slot(triangles, k, table.size)
    while table[slot] != _FREE:
        other = table[slot]
        if other != _TAKEN and _equal(triangles, k, other):
            # Not free again: searches that went past this place have to go on past it.
            table[slot] = _TAKEN
            return other
        slot = (slot + 1) & (table.size - 1)
    return np.int64(_FREE)


@njit(cache=True)
def _slot(triangles, k, size):
    """Where to look first: Fibonacci hashing of one corner after the other."""
    key = np.int64(0)
    for corner in range(3):
        # 2**32 over the golden ratio (Knuth, The Art of Computer Programming, volume 3, section 6.4).
        key = ((key ^ np.int64(triangles[k, corner])) * 2654435769) & 0x7FFFFFFF
    return (key >> 7) & (size - 1)


@njit(cache=True)
def _equal(triangles, a, b):
    same = True
    for corner in range(3):
        same &= triangles[a, corner] == triangles[b, corner]
    return same

"""Small parts: where many are alike they keep their area, and others may go before large surfaces suffer.

An edge collapse removes a leaf of few triangles, or turns it into a spike: with a quarter of its triangles a crown
would show half of its area. So where many parts are alike, none is simplified that would lose a tenth of its area by
it. Instead they go in pairs: one is dropped, and its near neighbour grows until it has the area of both. What a pair
costs is how far its matter moves. A screw or a post is dropped as a whole, which costs its radius: its last triangles
cannot be collapsed, and would be paid for by surfaces that are seen from afar. The rest is simplified until that costs
as much as the most expensive of these.

Enlarged parts have vertices of their own. Each source vertex of a part has one spare row behind all source vertices. A
pair takes the rows of the part that is dropped, and since that part never comes back, nothing else takes them: the rows
do not depend on the order in which groups are simplified, and what is tried and thrown away leaves nothing behind.

Cook, Halstead, Planck and Ryu, Stochastic simplification of aggregate detail, SIGGRAPH 2007; meshoptimizer's pruning
(`meshopt_SimplifyPrune`) drops islands by their radii too, but knows no vertices that other groups need.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from hra.compiling import njit
from hra.domains.meshes.building.geometry import HELD, Geometry, Simplify
from hra.domains.meshes.distances.surface import surface_area
from hra.domains.meshes.mesh.cluster_table import ClusterTable
from hra.domains.meshes.mesh.connected import connected
from hra.domains.meshes.mesh.ragged import local_vertices
from hra.kernels.trees import morton_codes
from hra.model.arrays import group

# What is dropped has so many triangles at most; there are so many parts of one kind at least, and they are such a share
# of the area: bolts of a hall are not an aggregate, and to keep theirs would cost the hall.
_LARGEST, _MANY, _SEEN = 128, 32, 0.05
# A part that keeps less of its area is left as it is; one that has less left is a part no more.
_KEPT, _PART = 0.9, 0.6
# Parts are simplified by themselves with errors up to this share of their radius.
_OWN = 0.1
# Neighbours are looked for among this many before and after along a Morton curve, and within this many radii.
_WINDOW, _REACH = 12, 16.0
_ROUNDS, _TRIES = 4, 6


@dataclass(frozen=True, eq=False)
class Parts:
    """The parts of a mesh of V vertices that have C parts of the kinds there are many of.

    Attributes
    ----------
    of : int32 [V + S], the part of each vertex, -1 for none; of spare rows, the part that was enlarged.
    area, reach : float64 [V + S], of the source that the vertex's part stands for: area, and how far from the part's
        middle those of the parts are that it stands for; in the unit of the simplifier.
    source : int64 [V + S], the vertex whose attributes each has.
    spare : int64 [C + 1], where the spare rows of each part begin.
    kind : int64 [C], equal for the same numbers of triangles and vertices, and the same material.
    box : float64 [2, 3], around all parts.
    """

    of: np.ndarray
    area: np.ndarray
    reach: np.ndarray
    source: np.ndarray
    spare: np.ndarray
    kind: np.ndarray
    box: np.ndarray

    def simplify(
        self, geometry: Geometry, simplify: Simplify, indices: np.ndarray, locked: np.ndarray, target: int
    ) -> tuple[np.ndarray, float]:
        """``simplify``, or as much by pairs of parts where that would take away some of them."""
        plain, error = simplify(indices, locked, target)
        mine, corners = self.of[indices[::3]], indices.reshape(-1, 3)
        ids, wanted, whole = self._living(geometry, indices, mine, locked)
        ids, wanted = ids[whole], wanted[whole]
        lost = _areas(geometry.unit_positions, plain, self.of, ids) < _KEPT * wanted
        own = np.isin(mine, ids) if lost.any() else np.zeros(len(mine), bool)
        label, islands = _islands(geometry, indices, locked)
        islands.free[label[mine >= 0]] = False
        if plain.size <= target:
            islands.free[islands.radius >= error] = False
        if not own.any() and not islands.free.any():
            return plain, error
        rest, label = np.ascontiguousarray(corners[~own]).reshape(-1), label[~own]
        parts, cost = np.empty(0, np.uint32), 0.0
        if own.any():
            parts, cost = self._alone(
                geometry, simplify, np.ascontiguousarray(corners[own]).reshape(-1), locked, ids, wanted
            )
        left = rest
        for _ in range(_ROUNDS):
            if parts.size + left.size <= target:
                break
            pairs = self._pairs(geometry, parts) if parts.size else None
            events = _Events.of(pairs, islands)
            if not len(events.cost):
                left, own_cost = _left(simplify, rest, locked, target - parts.size)
                return (np.concatenate([left, parts]), max(cost, own_cost)) if own_cost < np.inf else (plain, error)
            count, left, cost = _balanced(simplify, rest, label, locked, target - parts.size, events, cost)
            gone = events.island[:count]
            islands.free[gone[gone >= 0]] = False
            stays = ~np.isin(label, gone)
            rest, label = rest.reshape(-1, 3)[stays].reshape(-1), label[stays]
            if pairs is not None:
                parts = self._merged(geometry, parts, pairs, int((gone < 0).sum()))
        found = np.concatenate([left, parts])
        # Parts too far from each other are not an aggregate.
        enough = 0 < found.size <= indices.size - (indices.size - target) / 2
        return (found, cost) if enough else (plain, error)

    def joined_pairs(self, vertices: np.ndarray, step: np.ndarray, sign: np.ndarray, label: np.ndarray) -> np.ndarray:
        """The ``label`` [P] of triangles that go (``sign`` 1) or come (-1), equal for both parts of a pair.

        Parameters
        ----------
        vertices : uint32 [P], one of each triangle.
        """
        label, of, count = label.copy(), self.of[vertices].astype(np.int64), len(self.kind)
        comes = np.flatnonzero((sign < 0) & (vertices >= self.spare[0]))
        dropped = np.searchsorted(self.spare, vertices[comes], side="right") - 1
        goes = np.flatnonzero((sign > 0) & (of >= 0))
        key = step[goes] * count + of[goes]
        keys, first = np.unique(key, return_index=True)
        for part, other in zip(comes.tolist(), dropped.tolist(), strict=True):
            for one in (int(of[part]), other):
                at = np.searchsorted(keys, step[part] * count + one)
                if at < len(keys) and keys[at] == step[part] * count + one:
                    mate = int(label[goes[first[at]]])
                    if mate != label[part]:
                        label[label == label[part]] = mate
        return label

    def used(self, geometry: Geometry, table: ClusterTable) -> tuple[np.ndarray, np.ndarray, ClusterTable]:
        """Positions of the source and of all spare rows that ``table`` uses, whose attributes they have, and a table.

        The last counts them without gaps.
        """
        kept = np.arange(len(self.of)) < self.spare[0]
        kept[table.indices] = True
        number = (np.cumsum(kept) - 1).astype(np.uint32)
        return geometry.positions[kept], self.source[kept], replace(table, indices=number[table.indices])

    def _living(
        self, geometry: Geometry, indices: np.ndarray, mine: np.ndarray, locked: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """The parts here, the area that each stands for, and whether it is whole and free to move."""
        ids, first = np.unique(mine, return_index=True)
        ids, first = ids[ids >= 0], first[ids >= 0]
        wanted = self.area[indices[3 * first]]
        # Where vertices of stuck groups were put together, triangles may belong to several parts, which are none then.
        of = self.of[indices].reshape(-1, 3)
        joined = of[(of != of[:, :1]).any(axis=1)].reshape(-1)
        held = np.union1d(self.of[indices[(locked[indices] & HELD) != 0]], joined)
        # Of the pieces that a part may have fallen into, one at most is larger than half of it.
        large = _areas(geometry.unit_positions, indices, self.of, ids) > _PART * wanted
        return ids, wanted, large & ~np.isin(ids, held)

    def _alone(
        self,
        geometry: Geometry,
        simplify: Simplify,
        indices: np.ndarray,
        locked: np.ndarray,
        ids: np.ndarray,
        wanted: np.ndarray,
    ) -> tuple[np.ndarray, float]:
        """The parts ``indices`` simplified as far as they keep their area, one after the other, and the error."""
        limit = _OWN * float(np.sqrt(wanted.mean() / np.pi))
        coarse, error = simplify(indices, locked, 0, limit=limit)
        bad = ids[_areas(geometry.unit_positions, coarse, self.of, ids) < (1 + _KEPT) / 2 * wanted]
        fine = indices.reshape(-1, 3)[np.isin(self.of[indices[::3]], bad)]
        thin = coarse.reshape(-1, 3)[~np.isin(self.of[coarse[::3]], bad)]
        both = np.concatenate([thin, fine])
        return both[np.argsort(self.of[both[:, 0]], kind="stable")].reshape(-1), error

    def _pairs(self, geometry: Geometry, parts: np.ndarray) -> _Pairs | None:
        """Neighbours of one kind, each part once at most, the cheapest pair first; None where there are none."""
        of = self.of[parts[::3]]
        ids, first = np.unique(of, return_index=True)
        begins = np.append(first, len(of))
        wanted, reach = self.area[parts[3 * first]], self.reach[parts[3 * first]]
        center, low, high = _boxes(geometry.unit_positions, parts, begins)
        order = np.argsort(morton_codes(center.astype(np.float32), backend="reference"), kind="stable")
        near = np.arange(1, _WINDOW + 1)
        one = np.repeat(np.arange(len(ids)), _WINDOW)
        other = one + np.tile(near, len(ids))
        one, other = order[one[other < len(ids)]], order[other[other < len(ids)]]
        alike = self.kind[ids[one]] == self.kind[ids[other]]
        one, other = one[alike], other[alike]
        # The outer one stays, so that the whole keeps its extent.
        outer = np.linalg.norm(center - self.box.mean(axis=0), axis=1)
        dropped, kept = np.where(outer[one] < outer[other], one, other), np.where(outer[one] < outer[other], other, one)
        both = wanted[dropped] + wanted[kept]
        gap, radius = np.linalg.norm(center[dropped] - center[kept], axis=1), np.sqrt(both / np.pi)
        # What is enlarged sticks out, and what is dropped has moved.
        grown = np.linalg.norm(high - low, axis=1)[kept] / 2 * (np.sqrt(both / wanted[kept]) - 1)
        cost = np.maximum(gap + reach[dropped], reach[kept] + grown)
        within = np.flatnonzero(gap <= _REACH * radius)
        chosen = _matched(dropped, kept, within[np.argsort(cost[within], kind="stable")], len(ids))
        if not chosen.size:
            return None
        dropped, kept = dropped[chosen], kept[chosen]
        box = np.minimum(low[dropped], low[kept]), np.maximum(high[dropped], high[kept])
        return _Pairs(ids, begins, dropped, kept, cost[chosen], both[chosen], *box)

    def _merged(self, geometry: Geometry, parts: np.ndarray, pairs: _Pairs, count: int) -> np.ndarray:
        """The ``parts`` after the first ``count`` of the ``pairs``."""
        gone = np.zeros(len(pairs.ids), bool)
        gone[pairs.dropped[:count]] = gone[pairs.kept[:count]] = True
        runs = [parts.reshape(-1, 3)[~np.repeat(gone, np.diff(pairs.begins))].reshape(-1)]
        for k in range(count):
            at = pairs.begins[pairs.kept[k]], pairs.begins[pairs.kept[k] + 1]
            old, corners = np.unique(parts[3 * at[0] : 3 * at[1]], return_inverse=True)
            new = self.spare[pairs.ids[pairs.dropped[k]]] + np.arange(len(old))
            self._enlarge(geometry, old, new, corners, pairs.area[k], pairs.low[k], pairs.high[k])
            self.reach[new] = pairs.cost[k]
            runs.append(new[corners.reshape(-1)].astype(np.uint32))
        found = np.concatenate(runs).reshape(-1, 3)
        return found[np.argsort(self.of[found[:, 0]], kind="stable")].reshape(-1)

    def _enlarge(
        self,
        geometry: Geometry,
        old: np.ndarray,
        new: np.ndarray,
        corners: np.ndarray,
        area: float,
        low: np.ndarray,
        high: np.ndarray,
    ) -> None:
        """Write the rows ``new``: those of ``old``, enlarged to an ``area``, within boxes if they fit into them."""
        points = geometry.unit_positions[old].astype(np.float64)
        middle, triangles = points.mean(axis=0), points[corners.reshape(-1, 3)]
        normals = np.cross(triangles[:, 1] - triangles[:, 0], triangles[:, 2] - triangles[:, 0])
        points = middle + (points - middle) * np.sqrt(2 * area / np.linalg.norm(normals, axis=1).sum())
        least, most = points.min(axis=0), points.max(axis=0)
        inside = np.maximum(low - least, 0) - np.maximum(most - high, 0)
        points += np.where(most - least <= high - low, inside, (low + high - least - most) / 2)
        points += np.maximum(self.box[0] - points.min(axis=0), 0) - np.maximum(points.max(axis=0) - self.box[1], 0)
        shift = geometry.positions[0] - geometry.unit_positions[0].astype(np.float64) * geometry.scale
        geometry.positions[new] = points * geometry.scale + shift
        geometry.unit_positions[new] = (geometry.positions[new] - shift) / geometry.scale
        self.of[new], self.area[new], self.source[new] = self.of[old], area, self.source[old]
        if geometry.position_of is not None:
            _, first, place = np.unique(geometry.position_of[old], return_index=True, return_inverse=True)
            geometry.position_of[new] = new[first][place]
        geometry.copy_attributes(old, new)


@dataclass(frozen=True, eq=False)
class _Pairs:
    """Parts ``ids``, whose triangles begin at ``begins``; of each pair which is dropped and which is kept.

    And what it costs: how far from its middle what it stands for is; the area of both, and their common box.
    """

    ids: np.ndarray
    begins: np.ndarray
    dropped: np.ndarray
    kept: np.ndarray
    cost: np.ndarray
    area: np.ndarray
    low: np.ndarray
    high: np.ndarray


@dataclass(frozen=True, eq=False)
class _Islands:
    """What is connected in some triangles: how many indices, the radius, and whether it may be dropped."""

    size: np.ndarray
    radius: np.ndarray
    free: np.ndarray


def _islands(geometry: Geometry, indices: np.ndarray, locked: np.ndarray) -> tuple[np.ndarray, _Islands]:
    """The island of each triangle of ``indices`` [3 T], int64 [T], and what they are."""
    vertices, places = local_vertices(geometry.by_position(indices))
    root = connected(places.reshape(-1, 3), len(vertices))
    _, label = np.unique(root[places[::3]], return_inverse=True)
    size = 3 * np.bincount(label)
    order = np.argsort(label, kind="stable")
    middle, low, high = _boxes(
        geometry.unit_positions,
        indices.reshape(-1, 3)[order].reshape(-1),
        np.concatenate([[0], np.cumsum(size // 3)]),
    )
    free = size <= 3 * _LARGEST
    free[label[(locked[indices] & HELD).reshape(-1, 3).any(axis=1)]] = False
    radius = np.linalg.norm(np.maximum(high - middle, middle - low), axis=1)
    return label, _Islands(size, radius, free & (len(size) > 1))


@dataclass(frozen=True, eq=False)
class _Events:
    """What may be done, the cheapest first: the indices that each pair saves, and the island that is dropped, or -1."""

    cost: np.ndarray
    saved: np.ndarray
    island: np.ndarray

    @classmethod
    def of(cls, pairs: _Pairs | None, islands: _Islands) -> _Events:
        """All pairs, in their order, and all islands that are free."""
        free = np.flatnonzero(islands.free)
        cost, saved, island = islands.radius[free], np.zeros(len(free), np.int64), free
        if pairs is not None:
            cost = np.concatenate([pairs.cost, cost])
            saved = np.concatenate([3 * np.diff(pairs.begins)[pairs.dropped], saved])
            island = np.concatenate([np.full(len(pairs.cost), -1), island])
        order = np.argsort(cost, kind="stable")
        return cls(cost[order], saved[order], island[order])


def _balanced(
    simplify: Simplify,
    rest: np.ndarray,
    label: np.ndarray,
    locked: np.ndarray,
    room: int,
    events: _Events,
    before: float,
) -> tuple[int, np.ndarray, float]:
    """How many events to take, what is left of the ``rest`` then, and the error.

    As few as cost what the rest loses where both together keep within the target.

    Parameters
    ----------
    label : of the rest's triangles; room : indices that are left for the rest without any pair, below 0 where there are
        none; before : the error so far.
    """
    saved = np.cumsum(events.saved)

    def after(count: int) -> tuple[np.ndarray, float]:
        stays = ~np.isin(label, events.island[:count])
        left = rest if stays.all() else rest.reshape(-1, 3)[stays].reshape(-1)
        return _left(simplify, left, locked, room + int(saved[count - 1]))

    low, high = 0, len(saved)  # the answer is in low + 1 .. high
    left, error = after(high)
    tries = 0
    while high - low > 1 and (tries < _TRIES or not rest.size):
        middle, tries = (low + high) // 2, tries + 1
        coarse, own = after(middle)
        if own <= events.cost[middle - 1]:
            high, left, error = middle, coarse, own
        else:
            low = middle
    return high, left, max(before, error if np.isfinite(error) else 0.0, float(events.cost[high - 1]))


def _left(simplify: Simplify, rest: np.ndarray, locked: np.ndarray, room: int) -> tuple[np.ndarray, float]:
    """The ``rest`` simplified to ``room`` indices, and the error: infinite where it does not fit."""
    if room >= rest.size or not rest.size:
        return rest, 0.0 if room >= 0 else np.inf
    coarse, error = simplify(rest, locked, max(room, 0))
    return coarse, error if coarse.size <= room else np.inf


def with_parts(geometry: Geometry, triangles: np.ndarray) -> Geometry:
    """The same with spare rows for parts, if ``triangles`` uint32 [F, 3] are not all connected."""
    places, count = geometry.by_position(triangles).astype(np.int64), len(geometry.positions)
    root = connected(places, count)
    label = root[places[:, 0]]
    sizes = np.bincount(label, minlength=count)
    vertices = np.unique(triangles)
    of_vertex = root[geometry.by_position(vertices).astype(np.int64)]
    wedges = np.bincount(of_vertex, minlength=count)
    small = np.flatnonzero((sizes > 0) & (sizes <= _LARGEST))
    if not small.size or (sizes > 0).sum() < 2:
        return geometry
    material = np.zeros(count, np.int64)
    if geometry.material is not None:
        material[label] = geometry.material[triangles[:, 0]]
    rows = np.stack([material[small], sizes[small], wedges[small]], axis=1)
    _, kind, many = np.unique(rows, axis=0, return_inverse=True, return_counts=True)
    kind = kind.reshape(-1)
    small, kind = small[many[kind] >= _MANY], kind[many[kind] >= _MANY]
    areas = surface_area(geometry.unit_positions, triangles.reshape(-1), np.arange(0, triangles.size + 1, 3))
    area_of = np.bincount(label, areas, count)
    if area_of[small].sum() < _SEEN * area_of.sum():
        small, kind = small[:0], kind[:0]
    number = np.full(count, -1, np.int32)
    number[small] = np.arange(len(small))
    own = number[of_vertex]
    spare, members = group(own[own >= 0], len(small))
    members = vertices[own >= 0][members]
    larger = geometry.with_rows(members)
    of, area = np.full(len(larger.positions), -1, np.int32), np.zeros(len(larger.positions))
    of[vertices] = own
    area[vertices[own >= 0]] = area_of[small][own[own >= 0]]
    points = geometry.unit_positions[members].astype(np.float64)
    box = np.stack([points.min(axis=0, initial=np.inf), points.max(axis=0, initial=-np.inf)])
    source = np.concatenate([np.arange(count), members.astype(np.int64)])
    return replace(larger, parts=Parts(of, area, np.zeros_like(area), source, spare + count, kind, box))


def _areas(positions: np.ndarray, indices: np.ndarray, of: np.ndarray, ids: np.ndarray) -> np.ndarray:
    """The area of each of the parts ``ids`` (sorted) in the triangles ``indices`` uint32 [3 T], float64."""
    total = np.zeros(len(ids))
    if len(ids):
        _add_areas(positions, indices, of, ids, total)
    return total


@njit(cache=True, nogil=True)
def _add_areas(positions, indices, of, ids, total):
    for t in range(0, indices.size, 3):
        k = np.searchsorted(ids, of[indices[t]])
        if k == ids.size or ids[k] != of[indices[t]]:
            continue
        a, b, c = positions[indices[t]], positions[indices[t + 1]], positions[indices[t + 2]]
        ax, ay, az = np.float64(b[0]) - a[0], np.float64(b[1]) - a[1], np.float64(b[2]) - a[2]
        bx, by, bz = np.float64(c[0]) - a[0], np.float64(c[1]) - a[1], np.float64(c[2]) - a[2]
        x, y, z = ay * bz - az * by, az * bx - ax * bz, ax * by - ay * bx
        total[k] += 0.5 * np.sqrt(x * x + y * y + z * z)


def _boxes(positions: np.ndarray, indices: np.ndarray, begins: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The middle of each part's corners and its box, float64 [n, 3] each."""
    points = positions[indices].astype(np.float64)
    at = 3 * begins[:-1]
    middle = np.add.reduceat(points, at, axis=0) / (3 * np.diff(begins))[:, None]
    return middle, np.minimum.reduceat(points, at, axis=0), np.maximum.reduceat(points, at, axis=0)


@njit(cache=True, nogil=True)
def _matched(dropped, kept, order, count):
    free, chosen, size = np.ones(count, np.bool_), np.empty(order.size, np.int64), 0
    for k in order:
        if free[dropped[k]] and free[kept[k]]:
            free[dropped[k]] = free[kept[k]] = False
            chosen[size] = k
            size += 1
    return chosen[:size].copy()

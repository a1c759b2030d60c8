"""Surfaces that are there twice, once for each side, as leaves often are: simplified once, and written twice.

Together the two sheets are a closed bag without volume. Its rim is not a border and no quadric keeps it: edges collapse
across the sheet at no cost. So one sheet is taken away before the hierarchy is built, and the rim becomes a border.
Afterwards each cluster gets a second one with the same triangles the other way round, in the same group: no cut has one
without the other, and all errors hold for both.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from hra.compiling import njit
from hra.domains.meshes.building.geometry import Geometry
from hra.domains.meshes.distances.surface import directed_edges, surface_area
from hra.domains.meshes.mesh.cluster_table import ClusterTable
from hra.domains.meshes.mesh.connected import connected
from hra.domains.meshes.mesh.ragged import distinct_vertices, run_offsets, take_runs


def without_backs(geometry: Geometry, triangles: np.ndarray) -> tuple[np.ndarray, np.ndarray | None]:
    """The ``triangles`` uint32 [F, 3] without the second sheets of what is there twice as a whole.

    Returns
    -------
    The triangles that are left; int64 [V], for vertices of a first sheet the one behind it in the second, else -1, or
    None where nothing is there twice.
    """
    places = geometry.by_position(triangles).astype(np.int64)
    twin = _twins(places)
    if not (twin >= 0).any():
        return triangles, None
    root = connected(places, len(geometry.positions))
    label = root[places[:, 0]]
    single = np.bincount(label, twin < 0, minlength=len(root)) > 0
    first = _first_sheets(places, np.where(single[label], -1, twin))
    front = np.flatnonzero(first)
    # Corner by corner: the twin's corner at the same place.
    behind = np.argmax(places[twin[front]][:, None, :] == places[front][:, :, None], axis=2)
    corners = np.take_along_axis(triangles[twin[front]], behind, axis=1).astype(np.int64)
    back = np.full(len(root), -1, np.int64)
    back[triangles[front]] = corners
    # A vertex that has several behind it belongs to no plain pair of sheets.
    bad = np.zeros(len(root), bool)
    bad[label[front[(back[triangles[front]] != corners).any(axis=1)]]] = True
    front = front[~bad[label[front]]]
    if not front.size:
        return triangles, None
    used = np.zeros(len(root), bool)
    used[triangles[front]] = True
    kept = np.ones(len(triangles), bool)
    kept[twin[front]] = False
    return triangles[kept], np.where(used, back, -1)


def _twins(places: np.ndarray) -> np.ndarray:
    """The triangle [F, 3] the other way round at the same three places; -1 unless there are just two."""
    ordered = np.sort(places, axis=1)
    order = np.lexsort(ordered.T[::-1])
    begins = np.flatnonzero(np.append(True, (np.diff(ordered[order], axis=0) != 0).any(axis=1)))
    pairs = begins[np.diff(np.append(begins, len(order))) == 2]
    one, other = order[pairs], order[pairs + 1]
    against = _turn(places[one]) != _turn(places[other])
    twin = np.full(len(places), -1, np.int64)
    twin[one[against]], twin[other[against]] = other[against], one[against]
    return twin


def _turn(places: np.ndarray) -> np.ndarray:
    """Which way round triangles [F, 3] of three places are."""
    a, b, c = places.T
    return ((a < b).astype(int) + (b < c) + (c < a)) == 2


def _first_sheets(places: np.ndarray, twin: np.ndarray) -> np.ndarray:
    """One of each pair of twins, bool [F], such that neighbours look the same way."""
    edges = directed_edges(places)
    size = int(places.max()) + 1
    keys = edges[:, 0] * size + edges[:, 1]
    order = np.argsort(keys, kind="stable")
    # Of each edge where its reverse begins and ends among all edges.
    reverse = edges[:, 1] * size + edges[:, 0]
    begin, end = (np.searchsorted(keys[order], reverse, side) for side in ("left", "right"))
    side = np.zeros(len(places), np.int8)
    _spread(twin, order % len(places), begin, end, side)
    return side > 0


@njit(cache=True, nogil=True)
def _spread(twin, triangle, begin, end, side):
    count = twin.size
    waiting = np.empty(count, np.int64)
    for seed in range(count):
        if twin[seed] < 0 or side[seed] != 0:
            continue
        side[seed], side[twin[seed]] = 1, -1
        waiting[0], size = seed, 1
        while size:
            size -= 1
            t = waiting[size]
            for corner in range(3):
                # What goes along the edge the other way, except for the twin: the neighbour, if it is the only one.
                found, several = np.int64(-1), False
                for k in range(begin[corner * count + t], end[corner * count + t]):
                    if triangle[k] != twin[t]:
                        several = found >= 0
                        found = triangle[k]
                if found >= 0 and not several and twin[found] >= 0 and side[found] == 0:
                    side[found], side[twin[found]] = 1, -1
                    waiting[size] = found
                    size += 1


def with_backs(
    positions: np.ndarray, of_source: np.ndarray, table: ClusterTable, member_of: np.ndarray, back: np.ndarray
) -> tuple[np.ndarray, np.ndarray, ClusterTable, np.ndarray]:
    """Vertices, their sources, clusters and the groups that simplify these, with the second sheets.

    Parameters
    ----------
    back : see `without_backs`.
    """
    # Rows that were made for enlarged parts get such rows for the second sheet, if that has vertices of its own.
    behind = np.full(len(positions), -1, np.int64)
    behind[: len(back)] = back
    made = np.arange(len(back), len(positions))
    own = back[of_source[made]]
    behind[made] = np.where(own == of_source[made], made, -1)
    more = made[(own >= 0) & (own != of_source[made])]
    behind[more] = len(positions) + np.arange(len(more))
    positions = np.concatenate([positions, positions[more]])
    of_source = np.concatenate([of_source, back[of_source[more]]])

    sizes = table.sizes // 3
    cluster, triangles = np.repeat(np.arange(len(table)), sizes), table.indices.reshape(-1, 3)
    twice = behind[triangles[:, 0]] >= 0
    backs = np.flatnonzero(np.bincount(cluster[twice], minlength=len(table)))
    # Each second cluster follows the first one.
    counts = np.bincount(cluster[twice], minlength=len(table))[backs]
    turned = behind[triangles[twice]][:, ::-1].astype(np.uint32)
    rows = np.concatenate([np.arange(len(table)), backs])
    order = np.argsort(rows, kind="stable")
    indices = np.concatenate([table.indices, turned.reshape(-1)])
    ends = run_offsets(np.concatenate([sizes, counts]))
    whole = take_runs(np.arange(ends[-1]), ends, order)[0]
    offsets = 3 * run_offsets(np.concatenate([sizes, counts])[order])
    indices = np.ascontiguousarray(indices.reshape(-1, 3)[whole]).reshape(-1)
    _, begins = distinct_vertices(indices, offsets, len(positions))
    area = surface_area(positions, indices, offsets)
    first = np.searchsorted(rows[order], rows[order])  # a second cluster counts like the part of the first behind it
    share = np.divide(area, area[first], out=np.ones_like(area), where=area[first] > 0)
    found = replace(
        table.take(rows[order]), indices=indices, offsets=offsets, vertex_count=np.diff(begins).astype(np.uint32)
    )
    return positions, of_source, replace(found, area=found.area * share), member_of[rows[order]]

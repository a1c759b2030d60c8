"""Bounds on both sides of the distance of groups of clusters from what they were simplified to, by maps."""

from __future__ import annotations

import numpy as np

from hra.compiling import njit
from hra.domains.meshes.measures.deviation import NEGLIGIBLE, ROUNDING, Patches, VertexMemory
from hra.domains.meshes.measures.mapping.loops import cross, enclosed, turn
from hra.domains.meshes.measures.mapping.memory import BEGIN, END, FIRST, LAST, group_memory
from hra.domains.meshes.measures.mapping.paths import shortest_path, straight_path
from hra.domains.meshes.measures.mapping.places import FAN, SIDE, TRIANGLE, VERTEX, is_home, place_near, place_wide
from hra.domains.meshes.measures.mapping.surfaces import (
    after,
    ends_everywhere,
    link_sides,
    number_edges,
    number_vertices,
)

# A map is of no use whose bound is this much larger than what vertices are off.
_LOOSE = 2


def mapped_deviations(
    positions: np.ndarray, fine: Patches, added: np.ndarray, coarse: Patches, memory: VertexMemory
) -> np.ndarray:
    """How far the source is at most from each group of ``coarse``, and that group from the source.

    Parameters
    ----------
    positions : float32 [V, 3].
    fine : what each group was simplified from, with bounds on how far the source is from each cluster.
    added : float32 [N], bounds on how far those clusters are from the source.
    coarse : what each group was simplified to.
    memory : of the vertices, for calls one after the other.

    Returns
    -------
    float32 [G, 2], in the unit of ``positions``, rounded up; NaN for groups that have no map.
    """
    result = np.full((len(fine.groups) - 1, 2), np.nan)
    at, coarse_at = fine.offsets[fine.groups], coarse.offsets[coarse.groups]
    own = group_memory(int(np.diff(at).max(initial=0)), int(np.diff(coarse_at).max(initial=0)))
    off = np.stack([fine.deviation, added], axis=1).astype(np.float64)
    _bound_groups(
        positions, (fine.indices, fine.offsets, fine.groups, off), (coarse.indices, coarse_at),
        memory.arrays[:2], memory.number(len(result)), own, result,
    )  # fmt: skip
    return np.nextafter(result.astype(np.float32), np.float32(np.inf))


@njit(cache=True, nogil=True)
def _bound_groups(positions, fine, coarse, for_each_vertex, number, memory, result):
    indices, offsets, groups, off = fine
    coarse_indices, coarse_at = coarse
    numbers, seen = for_each_vertex
    memory.seen[:] = -1
    origin, stamp = np.empty(3), 0
    for g in range(len(result)):
        clusters = offsets[groups[g] : groups[g + 1] + 1]
        own = indices[clusters[0] : clusters[-1]]
        onto = coarse_indices[coarse_at[g] : coarse_at[g + 1]]
        # Counted from a point of the group, coordinates are as small as it: what they lose by rounding is a part of its
        # extent, wherever in space it lies.
        for axis in range(3):
            origin[axis] = positions[onto[0], axis]
        places, group = memory.places, number + g
        kept = number_vertices(positions, onto, origin, numbers, seen, group, 0, places, memory.coarse)
        count = number_vertices(positions, own, origin, numbers, seen, group, kept, places, memory.fine)
        memory.homes[:count] = -1
        if not link_sides(memory.coarse, onto.size, memory.keys, memory.values, memory.behind, memory.homes[:, FAN]):
            continue
        stamp += 1
        if not ends_everywhere(onto.size, memory.behind, memory.queue, memory.seen, stamp):
            continue
        edges = number_edges(own.size, onto.size, memory)
        if edges < 0:
            continue
        _fill_coarse(kept, onto.size, memory)
        _fill_off(clusters, off[groups[g] : groups[g + 1]], count, memory)
        stamp = _place_vertices(own.size, kept, count, memory, stamp)
        enough = _LOOSE * max(memory.bounds[0], memory.bounds[1])
        if stamp > 0:
            stamp = _draw_paths(edges, onto.size, memory, stamp)
        if stamp < 0:
            stamp = -stamp
            continue
        if not _close_triangles(clusters, off[groups[g] : groups[g + 1]], memory):
            continue
        # Outward: distances are computed in float64.
        extent = np.abs(places[:count]).max()
        if max(memory.bounds[0], memory.bounds[1]) > enough + extent * NEGLIGIBLE:
            continue
        result[g, 0], result[g, 1] = memory.bounds[0] + extent * ROUNDING, memory.bounds[1] + extent * ROUNDING


@njit(cache=True, nogil=True)
def _fill_coarse(kept, sides, memory):
    """Write coarse triangles, what is upright on them at their vertices, and where those are at home."""
    places, triangles, normals, coarse = memory.places, memory.triangles, memory.normals, memory.coarse
    for v in range(kept):
        memory.homes[v, VERTEX] = v
        for axis in range(3):
            memory.feet[v, axis], normals[v, axis] = places[v, axis], 0.0
    for k in range(sides // 3):
        a, b, c = coarse[3 * k], coarse[3 * k + 1], coarse[3 * k + 2]
        for axis in range(3):
            triangles[k, axis] = places[a, axis]
            triangles[k, 3 + axis] = places[b, axis] - places[a, axis]
            triangles[k, 6 + axis] = places[c, axis] - places[a, axis]
        for v in (a, b, c):
            _add_normal(v, triangles, k, normals)


@njit(inline="always")
def _add_normal(v, triangles, k, normals):
    sx, sy, sz = triangles[k, 3], triangles[k, 4], triangles[k, 5]
    tx, ty, tz = triangles[k, 6], triangles[k, 7], triangles[k, 8]
    normals[v, 0] += sy * tz - sz * ty
    normals[v, 1] += sz * tx - sx * tz
    normals[v, 2] += sx * ty - sy * tx


@njit(cache=True, nogil=True)
def _fill_off(clusters, off, count, memory):
    """Give each vertex the largest of what the clusters around it are off, and the group the largest of all."""
    around, fine, bounds = memory.off, memory.fine, memory.bounds
    around[:count] = 0.0
    bounds[:] = 0.0
    for c in range(len(off)):
        for side in range(2):
            bounds[side] = max(bounds[side], off[c, side])
        for i in range(clusters[c] - clusters[0], clusters[c + 1] - clusters[0]):
            for side in range(2):
                around[fine[i], side] = max(around[fine[i], side], off[c, side])


@njit(inline="always")
def _raise(square, lost, added, bounds):
    """Raise the bounds to those of two partners: the triangle inequality, from the source over the fine surface."""
    # Roots only where a bound rises, which is seldom.
    if square > (bounds[0] - lost) ** 2 or square > (bounds[1] - added) ** 2:
        apart = np.sqrt(square)
        bounds[0], bounds[1] = max(bounds[0], lost + apart), max(bounds[1], added + apart)


@njit(cache=True, nogil=True)
def _place_vertices(sides, kept, count, memory, stamp):
    """Give each vertex that is not kept a place; the last stamp used."""
    fine, homes, left = memory.fine, memory.homes, count - kept
    # Most have a neighbour with a place at once: its place is where theirs is looked for. Others wait for one.
    before = left + 1
    while 0 < left < before:
        before = left
        for side in range(sides):
            v = fine[side]
            if homes[v, TRIANGLE] >= 0 or v < kept:
                continue
            start = np.int64(-1)
            for other in (fine[after(side)], fine[after(after(side))]):
                if other < kept and homes[other, FAN] >= 0:
                    start = homes[other, FAN] // 3
                elif homes[other, TRIANGLE] >= 0:
                    start = homes[other, TRIANGLE]
            if start >= 0:
                stamp, left = _place(v, start, memory, stamp), left - 1
    return stamp if left == 0 else -stamp


@njit(inline="always")
def _place(v, start, memory, stamp):
    """Give vertex ``v`` a place, from coarse triangle ``start`` on; the last stamp used."""
    coarse, behind, homes, triangles = memory.coarse, memory.behind, memory.homes, memory.triangles
    x, y, z = memory.places[v, 0], memory.places[v, 1], memory.places[v, 2]
    found = place_near(x, y, z, start, triangles, coarse, behind, homes)
    apart, lost, added = np.sqrt(found[0]), memory.off[v, 0], memory.off[v, 1]
    # A wider search only where a bound would rise.
    if lost + apart > memory.bounds[0] or added + apart > memory.bounds[1]:
        stamp += 1
        found = place_wide(x, y, z, found, triangles, behind, memory.queue, memory.seen, stamp)
        _raise(found[0], lost, added, memory.bounds)
    square, memory.feet[v, 0], memory.feet[v, 1], memory.feet[v, 2], on, k = found
    _settle(v, on, k, memory.normals, triangles, coarse, behind, homes)
    return stamp


@njit(inline="always")
def _settle(v, on, k, normals, triangles, coarse, behind, homes):
    """Write where vertex ``v`` is at home, whose place lies ``on`` triangle ``k`` as `nearest_place` says."""
    homes[v, TRIANGLE] = k
    if on > 3:
        w = coarse[3 * k + on - 4]
        homes[v, VERTEX] = w
        for axis in range(3):
            normals[v, axis] = normals[w, axis]
        return
    for axis in range(3):
        normals[v, axis] = 0.0
    _add_normal(v, triangles, k, normals)
    if on > 0:
        homes[v, SIDE] = 3 * k + on - 1
        if behind[3 * k + on - 1] >= 0:
            _add_normal(v, triangles, behind[3 * k + on - 1] // 3, normals)


@njit(cache=True, nogil=True)
def _draw_paths(edges, sides, memory, stamp):
    """Find a path for each edge, and raise the bounds to what it crosses; the last stamp used, below 0 if one has none."""
    ends, paths, path, places, off = memory.ends, memory.paths, memory.path, memory.places, memory.off
    homes, coarse, behind, feet, normals, bounds = (
        memory.homes, memory.coarse, memory.behind, memory.feet, memory.normals, memory.bounds,
    )  # fmt: skip
    end = 0
    for edge in range(edges):
        u, w, begin = ends[edge, 0], ends[edge, 1], end
        if path.size - begin < sides:
            return -stamp
        first = last = homes[u, TRIANGLE]
        # Most often both ends are at home in one triangle.
        if first < 0 or not is_home(w, first, homes, coarse, behind):
            first, last, end = straight_path(u, w, feet, normals, homes, coarse, behind, path, begin)
        if first < 0:
            stamp += 1
            first, last, end = shortest_path(
                u, w, sides, homes, coarse, behind, path, begin, memory.queue, memory.came, memory.seen, stamp
            )
            if first < 0:
                return -stamp
        paths[edge, BEGIN], paths[edge, END], paths[edge, FIRST], paths[edge, LAST] = begin, end, first, last
        # Clusters on both sides of the edge are around both of its ends.
        lost, added = min(off[u, 0], off[w, 0]), min(off[u, 1], off[w, 1])
        for i in range(begin, end):
            _raise(_square_between(places, u, w, coarse[path[i]], coarse[after(path[i])]), lost, added, bounds)
    return stamp


@njit(cache=True, nogil=True)
def _square_between(places, a, b, c, d):
    """Square of a distance between points of two segments: the least, but for rounding.

    References
    ----------
    Ericson, Real-Time Collision Detection, 2005, section 5.1.9.
    """
    sx, sy, sz = places[b, 0] - places[a, 0], places[b, 1] - places[a, 1], places[b, 2] - places[a, 2]
    tx, ty, tz = places[d, 0] - places[c, 0], places[d, 1] - places[c, 1], places[d, 2] - places[c, 2]
    x, y, z = places[a, 0] - places[c, 0], places[a, 1] - places[c, 1], places[a, 2] - places[c, 2]
    ss, tt, st = sx * sx + sy * sy + sz * sz, tx * tx + ty * ty + tz * tz, sx * tx + sy * ty + sz * tz
    at_s, at_t = sx * x + sy * y + sz * z, tx * x + ty * y + tz * z
    s = t = 0.0
    if ss * tt > st * st:
        s = min(max((st * at_t - at_s * tt) / (ss * tt - st * st), 0.0), 1.0)
    if tt > 0:
        t = min(max((st * s + at_t) / tt, 0.0), 1.0)
    if ss > 0:
        s = min(max((st * t - at_s) / ss, 0.0), 1.0)
    # Shares within 0 .. 1 are points of the segments, however rounded.
    x, y, z = x + s * sx - t * tx, y + s * sy - t * ty, z + s * sz - t * tz
    return x * x + y * y + z * z


@njit(cache=True, nogil=True)
def _close_triangles(clusters, off, memory):
    """Raise the bounds to what the loops of fine triangles enclose; False where one cannot be closed."""
    fine, edges, paths, path, ends = memory.fine, memory.edges, memory.paths, memory.path, memory.ends
    homes, coarse, behind, loop, bounds = memory.homes, memory.coarse, memory.behind, memory.loop, memory.bounds
    for c in range(len(off)):
        for side in range(clusters[c] - clusters[0], clusters[c + 1] - clusters[0], 3):
            if _is_fan(side, fine, edges, paths, path, homes, coarse, behind):
                continue
            count = _loop(side, fine, edges, ends, paths, path, homes, coarse, behind, loop)
            if count < 0:
                return False
            if count:
                corners = fine[side], fine[side + 1], fine[side + 2]
                square = enclosed(count, corners, memory)
                if square < 0:
                    return False
                _raise(square, off[c, 0], off[c, 1], bounds)
    return True


@njit(inline="always")
def _is_fan(side, fine, edges, paths, path, homes, coarse, behind):
    """Whether the loop lies around the place of a corner, a coarse vertex: then straight lines to there fill it."""
    for i in range(3):
        w = homes[fine[side + i], VERTEX]
        one, across, other = edges[side + i], edges[side + (i + 1) % 3], edges[side + (i + 2) % 3]
        if w < 0 or paths[one, END] > paths[one, BEGIN] or paths[other, END] > paths[other, BEGIN]:
            continue
        around = _has(paths[across, FIRST], w, coarse)
        for j in range(paths[across, BEGIN], paths[across, END]):
            around = around and _has(behind[path[j]] // 3, w, coarse)
        if around:
            return True
    return False


@njit(inline="always")
def _has(k, v, coarse):
    return coarse[3 * k] == v or coarse[3 * k + 1] == v or coarse[3 * k + 2] == v


@njit(inline="always")
def _loop(side, fine, edges, ends, paths, path, homes, coarse, behind, loop):
    """Write the loop of the fine triangle that begins with ``side``; how many sides it crosses, -1 if it is open."""
    count, here = 0, np.int64(-1)
    for i in range(4):
        # Back at the first corner, the loop is closed.
        v, edge = fine[side + i % 3], edges[side + i % 3]
        # Paths lead from the larger end to the smaller one.
        onward = v == ends[edge, 0]
        enters, leaves = (paths[edge, FIRST], paths[edge, LAST]) if onward else (paths[edge, LAST], paths[edge, FIRST])
        if i == 0:
            here = enters
        elif here != enters:
            count = turn(v, here, enters, homes, coarse, behind, loop, count)
            if count < 0:
                return -1
        if i == 3:
            break
        begin, end = paths[edge, BEGIN], paths[edge, END]
        for j in range(end - begin):
            count = cross(loop, count, path[begin + j] if onward else behind[path[end - 1 - j]], behind)
        here = leaves
    return count

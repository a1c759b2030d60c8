"""Bounds on both sides of the distance of groups of clusters from what they were simplified to, by maps.

Edges of fine triangles become paths over the coarse surface; where two cross they are partners. Each fine triangle is
filled within the loop of the paths of its three sides.
"""

from __future__ import annotations

import numpy as np

from hra.compiling import njit, njit_uncounted
from hra.domains.meshes.distances.deviation import NEGLIGIBLE, ROUNDING, Patches, VertexMemory
from hra.domains.meshes.distances.mapping.memory import (
    BEGIN,
    END,
    FIRST,
    LAST,
    LONGEST,
    fill_off,
    group_memory,
    raise_bounds,
)
from hra.domains.meshes.distances.mapping.paths import cross, enclosed, shortest_path, straight_path, turn
from hra.domains.meshes.distances.mapping.surfaces import (
    after,
    ends_everywhere,
    link_sides,
    number_edges,
    number_vertices,
)
from hra.domains.meshes.distances.mapping.vertices import (
    FAN,
    TRIANGLE,
    VERTEX,
    fill_coarse,
    is_home,
    is_misplaced,
    nearest_place,
    place_vertices,
    square_from_fine,
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
        fill_coarse(kept, onto.size, memory)
        fill_off(clusters, off[groups[g] : groups[g + 1]], count, memory)
        stamp = place_vertices(own.size, kept, count, memory, stamp)
        enough = _LOOSE * max(memory.bounds[0], memory.bounds[1])
        if stamp > 0 and is_misplaced(onto.size, kept, count, memory):
            continue
        if stamp > 0:
            stamp = draw_paths(edges, onto.size, memory, stamp)
        if stamp < 0:
            stamp = -stamp
            continue
        if not close_triangles(clusters, off[groups[g] : groups[g + 1]], memory):
            continue
        # Outward: distances are computed in float64.
        extent = np.abs(places[:count]).max()
        if max(memory.bounds[0], memory.bounds[1]) > enough + extent * NEGLIGIBLE:
            continue
        result[g, 0], result[g, 1] = memory.bounds[0] + extent * ROUNDING, memory.bounds[1] + extent * ROUNDING


@njit_uncounted(cache=True, nogil=True)
def draw_paths(edges, sides, memory, stamp):
    """Find the path of each edge, and raise the bounds to what it crosses; the last stamp used, or below 0."""
    ends, paths, path, off, places = memory.ends, memory.paths, memory.path, memory.off, memory.places
    fine, triangles, bounds = memory.fine, memory.triangles, memory.bounds
    homes, coarse, behind, feet, normals = memory.homes, memory.coarse, memory.behind, memory.feet, memory.normals
    end = np.int64(0)
    for edge in range(edges):
        u, w, begin = ends[edge, 0], ends[edge, 1], end
        if path.size - begin < sides + LONGEST:
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
            _raise_at(ends[edge], path[i], lost, added, places, fine, coarse, behind, triangles, bounds)
    return stamp


@njit_uncounted(cache=True, nogil=True)
def _raise_at(ends, side, lost, added, places, fine, coarse, behind, triangles, bounds):
    """Raise the bounds to where the edge of these ``ends`` crosses a coarse ``side``.

    What is mapped into one triangle is no farther from it than its corners are. So to the other surface, what is beside
    the two points counts and not where exactly they lie; but only where a bound would rise.
    """
    c, d = coarse[side], coarse[after(side)]
    square, s, t = _shares(places, ends[0], ends[1], c, d)
    if square > (bounds[0] - lost) ** 2:
        x, y, z = _between(places, ends[0], ends[1], s)
        one = nearest_place(x, y, z, triangles, side // 3)[0]
        other = nearest_place(x, y, z, triangles, behind[side] // 3)[0]
        bounds[0] = max(bounds[0], lost + np.sqrt(max(one, other)))
    if square > (bounds[1] - added) ** 2:
        if ends[3] >= 0:
            x, y, z = _between(places, c, d, t)
            one = square_from_fine(x, y, z, ends[2], fine, places, triangles)
            other = square_from_fine(x, y, z, ends[3], fine, places, triangles)
            square = max(one, other)
        bounds[1] = max(bounds[1], added + np.sqrt(square))


@njit_uncounted(cache=True, nogil=True)
def _between(places, a, b, share):
    """The point at a share of the way from ``a`` to ``b``."""
    x, y, z = places[a, 0], places[a, 1], places[a, 2]
    return x + share * (places[b, 0] - x), y + share * (places[b, 1] - y), z + share * (places[b, 2] - z)


@njit_uncounted(cache=True, nogil=True)
def _shares(places, a, b, c, d):
    """The squared least distance of two segments, up to rounding, and the shares of their lengths where it is.

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
    return x * x + y * y + z * z, s, t


@njit_uncounted(cache=True, nogil=True)
def close_triangles(clusters, off, memory):
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
                square = enclosed(count, side, memory)
                if square < 0:
                    return False
                raise_bounds(square, off[c, 0], off[c, 1], bounds)
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


@njit_uncounted(cache=True, nogil=True)
def _has(k, v, coarse):
    return coarse[3 * k] == v or coarse[3 * k + 1] == v or coarse[3 * k + 2] == v


@njit(inline="always")
def _loop(side, fine, edges, ends, paths, path, homes, coarse, behind, loop):
    """Write the loop of the fine triangle that begins with ``side``; how many sides it crosses, -1 if it is open."""
    count, here = np.int64(0), np.int64(-1)
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

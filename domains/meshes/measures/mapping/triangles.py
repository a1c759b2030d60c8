"""The triangles of a fine surface: each is filled within the loop of the paths of its three sides."""

from __future__ import annotations

import numpy as np

from hra.compiling import njit, njit_uncounted
from hra.domains.meshes.measures.mapping.bounds import raise_bounds
from hra.domains.meshes.measures.mapping.loops import cross, enclosed, turn
from hra.domains.meshes.measures.mapping.memory import BEGIN, END, FIRST, LAST
from hra.domains.meshes.measures.mapping.places import VERTEX


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

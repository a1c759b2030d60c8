"""The vertices of a group: the coarse ones stay where they are, the others get places on the coarse surface."""

from __future__ import annotations

import numpy as np

from hra.compiling import njit, njit_uncounted
from hra.domains.meshes.measures.mapping.bounds import raise_bounds
from hra.domains.meshes.measures.mapping.places import (
    FAN,
    SIDE,
    TRIANGLE,
    VERTEX,
    nearest_place,
    place_near,
    place_wide,
    write_triangle,
)
from hra.domains.meshes.measures.mapping.surfaces import after

# A place is much nearer if the distance is this many times as large.
_MUCH = 1.2


@njit_uncounted(cache=True, nogil=True)
def fill_coarse(kept, sides, memory):
    """Write coarse triangles, what is upright on them at their vertices, and where those are at home."""
    places, triangles, normals, coarse = memory.places, memory.triangles, memory.normals, memory.coarse
    for v in range(kept):
        memory.homes[v, VERTEX] = v
        for axis in range(3):
            memory.feet[v, axis], normals[v, axis] = places[v, axis], 0.0
    for k in range(sides // 3):
        a, b, c = coarse[3 * k], coarse[3 * k + 1], coarse[3 * k + 2]
        write_triangle(a, b, c, places, triangles, k)
        for v in (a, b, c):
            add_normal(v, triangles, k, normals)


@njit_uncounted(cache=True, nogil=True)
def place_vertices(sides, kept, count, memory, stamp):
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


@njit_uncounted(cache=True, nogil=True)
def is_misplaced(sides, kept, count, memory):
    """Whether the vertex that raises a bound most has a much nearer place: then paths around it lead astray."""
    places, feet, off = memory.places, memory.feet, memory.off
    for which in range(2):
        most, farthest, least = -1.0, np.int64(-1), np.inf
        for v in range(kept, count):
            x, y, z = places[v, 0] - feet[v, 0], places[v, 1] - feet[v, 1], places[v, 2] - feet[v, 2]
            apart = np.sqrt(x * x + y * y + z * z)
            if off[v, which] + apart > most:
                most, farthest = off[v, which] + apart, v
        if farthest < 0:
            return False
        for k in range(sides // 3):
            x, y, z = places[farthest, 0], places[farthest, 1], places[farthest, 2]
            least = min(least, nearest_place(x, y, z, memory.triangles, k)[0])
        if _MUCH * np.sqrt(least) < most - off[farthest, which]:
            return True
    return False


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
        raise_bounds(found[0], lost, added, memory.bounds)
    _, memory.feet[v, 0], memory.feet[v, 1], memory.feet[v, 2], on, k = found
    _settle(v, on, k, memory.normals, triangles, coarse, behind, homes)
    return stamp


@njit_uncounted(cache=True, nogil=True)
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
    add_normal(v, triangles, k, normals)
    if on > 0:
        homes[v, SIDE] = 3 * k + on - 1
        if behind[3 * k + on - 1] >= 0:
            add_normal(v, triangles, behind[3 * k + on - 1] // 3, normals)


@njit_uncounted(cache=True, nogil=True)
def add_normal(v, triangles, k, normals):
    """Add what is upright on triangle ``k``, as long as twice its area, to the normal of vertex ``v``."""
    sx, sy, sz = triangles[k, 3], triangles[k, 4], triangles[k, 5]
    tx, ty, tz = triangles[k, 6], triangles[k, 7], triangles[k, 8]
    normals[v, 0] += sy * tz - sz * ty
    normals[v, 1] += sz * tx - sx * tz
    normals[v, 2] += sx * ty - sy * tx

"""The edges of fine triangles: their paths over the coarse surface, and how far apart the two cross."""

from __future__ import annotations

import numpy as np

from hra.compiling import njit_uncounted
from hra.domains.meshes.measures.mapping.memory import BEGIN, END, FIRST, LAST
from hra.domains.meshes.measures.mapping.paths import LONGEST, shortest_path, straight_path
from hra.domains.meshes.measures.mapping.places import TRIANGLE, is_home, nearest_place, square_from_fine
from hra.domains.meshes.measures.mapping.surfaces import after


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
    """Square of the least distance of two segments, but for rounding, and at which shares of their ways it is.

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

"""A bound for a triangle that lies on one coarse triangle but for its corners.

Each corner that is too far from the coarse triangle below the middle is cut off and given the coarse triangle that is
nearest to it. Every part is the convex hull of a few points, so their largest distance from the part's coarse triangle
bounds all of it. Any cut is valid; those here are found by linear interpolation, because beyond the border of a
triangle the distance to it grows linearly.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from hra.domains.meshes.measures.triangle_distance import square_distance

_STEPS = 3


@njit(cache=True, nogil=True)
def bound_by_cuts(corners, labels, distance, main, triangles, room, to_main, shares):
    """How far the triangle ``corners`` [3, 3] is at most from triangles ``main`` and ``labels`` [3]; inf if unknown.

    Parameters
    ----------
    distance : [3], of each corner from the triangle of its label.
    room : how good the bound has to be.
    to_main [3], shares [3] : working memory.
    """
    most = 0.0
    for i in range(3):
        to_main[i] = np.sqrt(square_distance(corners[i, 0], corners[i, 1], corners[i, 2], triangles, main))
        most = max(most, min(to_main[i], distance[i]))
        shares[i] = 0.0
    for i in range(3):
        if to_main[i] <= room:
            most = max(most, to_main[i])
            continue
        for step in range(1, 3):
            j = (i + step) % 3
            reach, share = _cut(corners, i, j, labels[i], main, distance[i], to_main, triangles, room)
            most = max(most, reach)
            # Two cuts that meet on a side would leave a rest with other corners than these.
            side = 3 - i - j
            shares[side] += share
            if most > room or shares[side] > 1:
                return np.inf
    return most


@njit(cache=True, nogil=True)
def _cut(corners, i, j, own, main, distance, to_main, triangles, room):
    """A point from corner ``i`` to ``j`` that is as near to ``own`` as to ``main``: the larger distance, its place."""
    ax, ay, az = corners[i, 0], corners[i, 1], corners[i, 2]
    dx, dy, dz = corners[j, 0] - ax, corners[j, 1] - ay, corners[j, 2] - az
    low, high, best, found = 0.0, 1.0, np.inf, 1.0
    # How much nearer `own` is than `main` at the low end, and `main` than `own` at the high end.
    first = to_main[i] - distance
    last = np.sqrt(square_distance(ax + dx, ay + dy, az + dz, triangles, own)) - to_main[j]
    for _ in range(_STEPS):
        total = first + last
        part = min(max(first / total, 0.0), 1.0) if total > 0 else 0.5
        share = low + (high - low) * part
        x, y, z = ax + share * dx, ay + share * dy, az + share * dz
        near = np.sqrt(square_distance(x, y, z, triangles, own))
        far = np.sqrt(square_distance(x, y, z, triangles, main))
        if max(near, far) < best:
            best, found = max(near, far), share
        if best <= room:
            break
        if near < far:
            low, first = share, far - near
        else:
            high, last = share, near - far
    return best, found

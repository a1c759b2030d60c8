"""What is known of one group while it is mapped: memory for the largest of several, and its bounds on both sides.

The bounds are what clusters are off at first, then no less than any two partners.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from hra.compiling import njit_uncounted

# Columns of paths: where the crossed sides of an edge begin and end, and its first and last triangle.
BEGIN, END, FIRST, LAST = 0, 1, 2, 3
# Sides that a straight path crosses at most.
LONGEST = 16
# Room for crossed sides, for each side of both surfaces; a group that needs more is left without a map.
_CROSSED = 4


class GroupMemory(NamedTuple):
    """Arrays for n vertices, s sides of fine triangles and as many edges at most, and t sides of coarse triangles.

    Attributes
    ----------
    places : float64 [n, 3], where the vertices lie, the coarse surface's first.
    feet, normals : float64 [n, 3], their places on the coarse surface, and what is upright there.
    off : float64 [n, 2], bounds on how far the source is from what is around them, and that from the source.
    homes : int64 [n, 4], see `hra.domains.meshes.distances.mapping.vertices`.
    fine, coarse : int64 [s], [t], vertices at the corners of triangles.
    behind : int64 [t], the side behind each coarse one, or -1.
    triangles : float64 [t / 3 + 1, 9], a corner and the two sides that leave it; the last one is to work in.
    keys, values : int64, a hash table of sides.
    edges, ends : int64 [s], [s, 4], the edge that a fine side is; of each edge the larger and the smaller end, and the
        first side that it is and the second one, the first again if it is the only one, -1 if there are more.
    balance : int64 [s], see `number_edges`.
    paths, path : int64 [s, 4], the columns above, and the crossed sides of all paths.
    queue, came, seen : int64 [t], of searches from triangle to triangle.
    loop, other : int64, crossed sides of one fine triangle.
    bounds : float64 [2], of the group.
    """

    places: np.ndarray
    feet: np.ndarray
    normals: np.ndarray
    off: np.ndarray
    homes: np.ndarray
    fine: np.ndarray
    coarse: np.ndarray
    behind: np.ndarray
    triangles: np.ndarray
    keys: np.ndarray
    values: np.ndarray
    edges: np.ndarray
    ends: np.ndarray
    balance: np.ndarray
    paths: np.ndarray
    path: np.ndarray
    queue: np.ndarray
    came: np.ndarray
    seen: np.ndarray
    loop: np.ndarray
    other: np.ndarray
    bounds: np.ndarray


def group_memory(sides: int, coarse_sides: int) -> GroupMemory:
    """Memory for groups of this many sides of triangles."""
    corners, slots = sides + coarse_sides, 16
    # At least twice as many as there are keys, so that a search for a free one is short, and ends.
    while slots < 2 * corners:
        slots *= 2

    def whole(*shape: int) -> np.ndarray:
        return np.empty(shape, np.int64)

    return GroupMemory(
        places=np.empty((corners, 3)),
        feet=np.empty((corners, 3)),
        normals=np.empty((corners, 3)),
        off=np.empty((corners, 2)),
        homes=whole(corners, 4),
        fine=whole(sides),
        coarse=whole(coarse_sides),
        behind=whole(coarse_sides),
        triangles=np.empty((coarse_sides // 3 + 1, 9)),
        keys=whole(slots),
        values=whole(slots),
        edges=whole(sides),
        ends=whole(sides, 4),
        balance=whole(sides),
        paths=whole(sides, 4),
        path=whole(_CROSSED * corners + LONGEST),
        queue=whole(coarse_sides),
        came=whole(coarse_sides),
        seen=whole(coarse_sides),
        # Three paths and three turns, each through all triangles at most, and turns about enclosed vertices.
        loop=whole(64 + 5 * coarse_sides),
        other=whole(64 + 5 * coarse_sides),
        bounds=np.empty(2),
    )


@njit_uncounted(cache=True, nogil=True)
def fill_off(clusters, off, count, memory):
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


@njit_uncounted(cache=True, nogil=True)
def raise_bounds(square, lost, added, bounds):
    """Raise the bounds to those of two partners: the triangle inequality, from the source over the fine surface."""
    # Roots only where a bound rises, which is rare.
    if square > (bounds[0] - lost) ** 2 or square > (bounds[1] - added) ** 2:
        apart = np.sqrt(square)
        bounds[0], bounds[1] = max(bounds[0], lost + apart), max(bounds[1], added + apart)

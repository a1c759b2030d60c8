"""What is known of one group while it is mapped: memory for the largest of several."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from hra.domains.meshes.measures.mapping.paths import LONGEST

# Columns of paths: where the crossed sides of an edge begin and end, and its first and last triangle.
BEGIN, END, FIRST, LAST = 0, 1, 2, 3
# Room for crossed sides, for each side of both surfaces; a group that needs more is left without a map.
_CROSSED = 4


class GroupMemory(NamedTuple):
    """Arrays for n vertices, s sides of fine triangles and as many edges at most, and t sides of coarse triangles.

    Attributes
    ----------
    places : float64 [n, 3], where the vertices lie, the coarse surface's first.
    feet, normals : float64 [n, 3], their places on the coarse surface, and what is upright there.
    off : float64 [n, 2], bounds on how far the source is from what is around them, and that from the source.
    homes : int64 [n, 4], see `hra.domains.meshes.measures.mapping.places`.
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
    """Memory for groups of so many sides of triangles."""
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

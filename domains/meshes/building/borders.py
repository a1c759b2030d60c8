"""Where a surface ends although faces meet: vertices that no edge collapse may take off the border."""

from __future__ import annotations

import numpy as np
from numba import njit

from hra.domains.meshes.measures.edges import directed_edges


def uneven_vertices(triangles: np.ndarray, vertex_count: int) -> np.ndarray:
    """The vertices of edges where several faces meet whose directions do not cancel, bool [V].

    Three faces at an edge, or two that traverse it in the same direction, are a border of the surface by its signed
    boundary chain. The simplifier sees a closed edge there, or a complex one, and would move the border off the
    source's border vertices, so that what is a crack and what is not could no longer be told apart.

    Parameters
    ----------
    triangles : uint32 [F, 3], by position: vertices at the same position have the same number.
    """
    sums = np.zeros(vertex_count, np.uint64)
    _add_edges(triangles, sums)
    border, uneven = sums != 0, np.zeros(vertex_count, bool)
    if border.any():
        edges = directed_edges(triangles[border[triangles].sum(axis=1) > 1])
        edges = edges[border[edges].all(axis=1)]
        low, high = edges.min(axis=1), edges.max(axis=1)
        undirected, which, faces = np.unique((low << 32) | high, return_inverse=True, return_counts=True)
        net = np.bincount(which, np.where(edges[:, 0] == low, 1, -1))
        chosen = undirected[(net != 0) & (faces > 1)]
        uneven[chosen >> 32] = uneven[chosen & (2**32 - 1)] = True
    return uneven


@njit(cache=True)
def _add_edges(triangles, sums):
    """Add to both ends of every edge a random number for one direction, and take it off for the other.

    Where edges cancel, sums stay 0; where they do not, sums are 0 with a probability of 2**-64.
    """
    for t in range(len(triangles)):
        for side in range(3):
            a, b = triangles[t, side], triangles[t, (side + 1) % 3]
            # Two rounds of splitmix64 (Steele, Lea and Flood 2014) over both numbers.
            value = (np.uint64(min(a, b)) << np.uint64(32)) | np.uint64(max(a, b))
            value = (value ^ (value >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
            value = (value ^ (value >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
            value ^= value >> np.uint64(31)
            if a > b:
                value = ~value + np.uint64(1)
            sums[a] += value
            sums[b] += value

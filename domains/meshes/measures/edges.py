"""Directed edges of triangles: winding, borders and the signed boundary chain."""

from __future__ import annotations

import numpy as np


def directed_edges(triangles: np.ndarray) -> np.ndarray:
    """The edges (a, b), (b, c), (c, a) of ``triangles`` [F, 3], int64 [3 F, 2]."""
    corners = triangles.astype(np.int64)
    return np.concatenate([corners[:, [0, 1]], corners[:, [1, 2]], corners[:, [2, 0]]])


def _sorted_keys(triangles: np.ndarray) -> np.ndarray:
    """One sorted number per directed edge: the undirected edge in the high bits, the direction in the lowest."""
    edges = directed_edges(triangles)
    low, high = edges.min(axis=1), edges.max(axis=1)
    # Vertex numbers are below 2**31 in practice, so that two of them and the direction fit into 63 bits.
    keys = (low << 32) | (high << 1) | (edges[:, 0] > edges[:, 1])
    keys.sort()
    return keys


def boundary_chain(triangles: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The signed boundary of ``triangles`` [F, 3]: every directed edge (a, b) counts +1, its reverse -1.

    It is empty for a closed surface, also where more than two faces meet in an edge, and two sets of triangles join
    without a crack exactly if their chains cancel. Comparing sets of border edges would miss repeated ones.

    Returns
    -------
    int64 [E, 2], edges (a, b) with a < b whose count is not zero, sorted; int64 [E], their counts.

    Examples
    --------
    >>> import numpy as np
    >>> from hra.domains import meshes
    >>> meshes.boundary_chain(np.array([[0, 1, 2], [0, 2, 3]]))
    (array([[0, 1],
           [0, 3],
           [1, 2],
           [2, 3]]), array([ 1, -1,  1,  1]))
    """
    keys = _sorted_keys(triangles)
    undirected, first = np.unique(keys >> 1, return_index=True)
    # Equal keys but for the direction stand side by side: 1 for each of one direction, -1 for each of the other.
    count = np.add.reduceat(1 - 2 * (keys & 1), first) if keys.size else np.empty(0, np.int64)
    undirected, count = undirected[count != 0], count[count != 0]
    return np.stack([undirected >> 31, undirected & (2**31 - 1)], axis=1), count


def inconsistent_edges(triangles: np.ndarray) -> int:
    """Number of edges that exactly two faces share and both traverse in the same direction (a flipped face)."""
    keys = _sorted_keys(triangles)
    undirected = keys >> 1
    start = np.flatnonzero(np.r_[True, undirected[1:] != undirected[:-1]])
    pair = start[np.diff(np.r_[start, keys.size]) == 2]
    return int((keys[pair] == keys[pair + 1]).sum())

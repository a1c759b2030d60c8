"""Local vertex numbers for a few triangles of a large mesh."""

from __future__ import annotations

import numpy as np

from hra.compiling import njit

_FREE = -1


@njit(cache=True)
def local_vertices(indices):
    """The distinct vertices of ``indices`` by first occurrence, and the indices as places among them.

    A hash table of the size of ``indices`` instead of an array over all vertices: the time must not depend on the mesh.

    Parameters
    ----------
    indices : uint32 [n].

    Returns
    -------
    uint32 [k], uint32 [n].
    """
    size = 16
    while size < 2 * indices.size:
        size *= 2
    # At most half full: a search ends after a few steps, and there is always a free place.
    table = np.full(size, _FREE, np.int64)
    vertices, local = np.empty(indices.size, np.uint32), np.empty(indices.size, np.uint32)
    count = 0
    for i in range(indices.size):
        v = indices[i]
        # Fibonacci hashing: neighbouring numbers land far apart.
        slot = (np.int64(v) * 2654435769) & (size - 1)
        while table[slot] != _FREE and vertices[table[slot]] != v:
            slot = (slot + 1) & (size - 1)
        if table[slot] == _FREE:
            table[slot] = count
            vertices[count] = v
            count += 1
        local[i] = table[slot]
    return vertices[:count].copy(), local

"""Local vertex numbers for a few triangles of a large mesh, and the vertices of each of many clusters."""

from __future__ import annotations

import numpy as np

from hra.compiling import njit

_FREE = -1


@njit(cache=True, nogil=True)
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


def distinct_vertices(indices: np.ndarray, offsets: np.ndarray, vertex_count: int) -> tuple[np.ndarray, np.ndarray]:
    """The distinct vertices of each cluster by first occurrence, one cluster after the other.

    Parameters
    ----------
    indices : uint32 [n], below ``vertex_count``; offsets : int64 [N + 1], where each cluster's indices begin.

    Returns
    -------
    uint32 [k]; int64 [N + 1], where those of each cluster begin.
    """
    vertices, begins = np.empty_like(indices), np.zeros_like(offsets)
    _write_distinct(indices, offsets, np.full(vertex_count, -1, np.int32), vertices, begins)
    return vertices[: begins[-1]], begins


@njit(cache=True)
def _write_distinct(indices, offsets, seen, vertices, begins):
    count = 0
    for c in range(offsets.size - 1):
        for i in range(offsets[c], offsets[c + 1]):
            v = indices[i]
            # Written anyway: no processor could foresee which of them are new.
            vertices[count] = v
            count += seen[v] != c
            seen[v] = c
        begins[c + 1] = count

"""Runs of different lengths in one flat array, as offsets and values; of clusters their boxes and their vertices.

The boxes stand beside the spheres and nest from fine to coarse. Vertices of a few triangles are numbered locally, in
time that does not depend on the mesh.
"""

from __future__ import annotations

import numpy as np

from hra.compiling import njit
from hra.errors import ArrayError

_FREE = -1


def run_offsets(sizes: np.ndarray) -> np.ndarray:
    """Where consecutive runs of these ``sizes`` [n] begin and end, int64 [n + 1]."""
    offsets = np.zeros(len(sizes) + 1, np.int64)
    np.cumsum(sizes, out=offsets[1:])
    return offsets


def take_runs(values: np.ndarray, offsets: np.ndarray, rows: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The runs ``rows`` of ``values``, one after the other, and their offsets.

    Raises
    ------
    ArrayError : a run that does not lie within the values, past which the compiled loop would read.
    """
    out_offsets = run_offsets(np.diff(offsets)[rows])
    begins = offsets[rows]
    if begins.size and (begins.min() < 0 or (begins + np.diff(out_offsets)).max() > len(values)):
        raise ArrayError("the offsets reach beyond the values", where=f"{len(values)} values")
    # Vertex numbers, of which there are most, without a Python object for each run.
    if values.dtype == np.uint32 and values.ndim == 1:
        return _copy_runs(values, begins, out_offsets), out_offsets
    runs = zip(begins.tolist(), offsets[rows + 1].tolist(), strict=True)
    return np.concatenate([values[:0], *(values[begin:end] for begin, end in runs)]), out_offsets


@njit(cache=True, nogil=True)
def _copy_runs(values, begins, offsets):
    """What begins at each of ``begins`` [n] in ``values``, one after the other up to the ``offsets`` [n + 1]."""
    result = np.empty(offsets[-1], values.dtype)
    for run in range(begins.size):
        # Views that the loop counts through from 0: a fifth of the time of places in the whole arrays.
        source, target = values[begins[run] :], result[offsets[run] : offsets[run + 1]]
        for i in range(target.size):
            target[i] = source[i]
    return result


def vertex_boxes(positions: np.ndarray, indices: np.ndarray, offsets: np.ndarray) -> np.ndarray:
    """The box around each cluster's triangles.

    Parameters
    ----------
    positions : float32 [V, 3]; indices : uint32 [3 T]; offsets : int64 [N + 1], where each cluster's indices begin.

    Returns
    -------
    float32 [N, 2, 3], least and largest corners, exact: they are coordinates of vertices.
    """
    boxes = np.empty((len(offsets) - 1, 2, 3), np.float32)
    _enclose_vertices(positions, indices, offsets, boxes)
    return boxes


@njit(cache=True)
def _enclose_vertices(positions, indices, offsets, boxes):
    for c in range(len(boxes)):
        low, high = boxes[c, 0], boxes[c, 1]
        for axis in range(3):
            low[axis] = high[axis] = positions[indices[offsets[c]], axis]
        for i in range(offsets[c] + 1, offsets[c + 1]):
            for axis in range(3):
                value = positions[indices[i], axis]
                low[axis] = min(low[axis], value)
                high[axis] = max(high[axis], value)


def enclosing_boxes(boxes: np.ndarray, offsets: np.ndarray) -> np.ndarray:
    """The box around each run of ``boxes`` float32 [M, 2, 3] that begins at ``offsets`` [G + 1]: float32 [G, 2, 3].

    A union only compares numbers, so the inner boxes lie inside without any rounding.
    """
    first = offsets[:-1]
    return np.stack([np.minimum.reduceat(boxes[:, 0], first), np.maximum.reduceat(boxes[:, 1], first)], axis=1)


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

"""Axis-aligned boxes around clusters, nested from fine to coarse beside the spheres."""

from __future__ import annotations

import numpy as np

from hra.compiling import njit


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

"""What is connected in a mesh."""

from __future__ import annotations

import numpy as np

from hra.compiling import njit
from hra.model.disjoint_sets import find


def connected(triangles: np.ndarray, count: int) -> np.ndarray:
    """The least vertex that ``triangles`` integers [F, 3] connect each of 0 .. ``count`` - 1 with, int64 [count]."""
    root = np.arange(count)
    _connect(np.array(triangles, np.int64, order="C"), root)  # compiled code is made for each kind of numbers
    return root


@njit(cache=True, nogil=True)
def _connect(triangles, root):
    for t in range(len(triangles)):
        for corner in range(2):
            a, b = find(root, triangles[t, corner]), find(root, triangles[t, corner + 1])
            root[max(a, b)] = min(a, b)
    for v in range(root.size):
        root[v] = find(root, v)

"""What is connected in a mesh."""

from __future__ import annotations

from hra.compiling import njit
from hra.model.disjoint_sets import find


@njit(cache=True, nogil=True)
def connect(triangles, root):
    """Join the vertices of each triangle [F, 3]: ``root`` [V], to begin with each its own, are the least ones then."""
    for t in range(len(triangles)):
        for corner in range(2):
            a, b = find(root, triangles[t, corner]), find(root, triangles[t, corner + 1])
            root[max(a, b)] = min(a, b)
    for v in range(root.size):
        root[v] = find(root, v)

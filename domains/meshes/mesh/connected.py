"""What is connected in a mesh."""

from __future__ import annotations

from hra.compiling import njit


@njit(cache=True, nogil=True)
def connect(triangles, root):
    """Join the vertices of each triangle [F, 3]: ``root`` [V], to begin with each its own, are the least ones then."""
    for t in range(len(triangles)):
        for corner in range(2):
            a, b = _find(root, triangles[t, corner]), _find(root, triangles[t, corner + 1])
            root[max(a, b)] = min(a, b)
    for v in range(root.size):
        root[v] = _find(root, v)


@njit(cache=True, nogil=True)
def _find(root, i):
    while root[i] != i:
        # Path halving (Tarjan and van Leeuwen, Worst-case analysis of set union algorithms, 1984).
        root[i] = root[root[i]]
        i = root[i]
    return i

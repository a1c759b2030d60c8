"""Sets that are joined one after the other (union-find)."""

from __future__ import annotations

from hra.compiling import njit


@njit(cache=True, nogil=True)
def find(root, i):
    """The member that stands for the set of ``i``; ``root`` int [N] leads there, and is shortened on the way."""
    while root[i] != i:
        # Path halving (Tarjan and van Leeuwen, Worst-case analysis of set union algorithms, 1984).
        root[i] = root[root[i]]
        i = root[i]
    return i

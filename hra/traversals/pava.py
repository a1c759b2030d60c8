"""Hull slopes of a forest: pool adjacent violators on a tree.

A refinement that is worth less per unit than what it opens up is pooled with it, until slopes (gain per cost) fall from
coarse to fine along every path. All refinements with a slope above lambda are then the exact solution of the Lagrangian
relaxation at lambda, for every lambda at once. The same construction is known as generalised BFOS pruning (Chou,
Lookabaugh and Gray 1989), JPEG 2000's PCRD hull on trees, and isotonic regression on a rooted tree (Pardalos and Xue
1999). Child blocks wait in pairing heaps, so that a merge melds two heaps in constant time.
"""

from __future__ import annotations

import numpy as np
from numba import njit


@njit(inline="always")
def _flatter(gain, cost, a, b):
    """Whether block a has a smaller slope than block b; no gain is slope 0, even where it is free."""
    if gain[a] == 0.0:
        return gain[b] > 0.0
    return gain[a] * cost[b] < gain[b] * cost[a]


@njit(inline="always")
def _meld(gain, cost, first, sibling, a, b):
    """Join two pairing heaps; the root has the larger slope, ties go to the smaller index."""
    if a < 0:
        return b
    if b < 0:
        return a
    if _flatter(gain, cost, a, b) or (b < a and not _flatter(gain, cost, b, a)):
        a, b = b, a
    sibling[b] = first[a]
    first[a] = b
    return a


@njit(cache=True)
def _pop(gain, cost, first, sibling, root):
    """The heap without its root: pair the root's children from left to right, then meld the pairs backwards."""
    x, pairs = first[root], -1
    while x >= 0:
        y = sibling[x]
        rest = sibling[y] if y >= 0 else -1
        m = _meld(gain, cost, first, sibling, x, y)
        sibling[m] = pairs
        pairs = m
        x = rest
    heap = -1
    while pairs >= 0:
        rest = sibling[pairs]
        sibling[pairs] = -1
        heap = _meld(gain, cost, first, sibling, heap, pairs)
        pairs = rest
    return heap


@njit(cache=True)
def hull_slopes(parent, gain, cost):
    """Slope of every refinement's block: non-increasing from coarse to fine along every path.

    Parameters
    ----------
    parent : int32 [R], -1 for roots, ``parent[r] < r``; gain, cost : float64 [R], >= 0.

    Returns
    -------
    slope : float64 [R], gain per cost of the block that a refinement was pooled into; inf for a free block that gains.
    block : int32 [R], the coarsest refinement of that block.
    """
    n = parent.size
    g, c = gain.copy(), cost.copy()
    heap, first, sibling = np.full(n, -1, np.int32), np.full(n, -1, np.int32), np.full(n, -1, np.int32)
    pooled = np.zeros(n, np.bool_)
    for v in range(n - 1, -1, -1):
        h = heap[v]
        while h >= 0 and _flatter(g, c, v, h):
            g[v] += g[h]
            c[v] += c[h]
            pooled[h] = True
            h = _meld(g, c, first, sibling, _pop(g, c, first, sibling, h), heap[h])
        heap[v] = h
        if parent[v] >= 0:
            heap[parent[v]] = _meld(g, c, first, sibling, heap[parent[v]], v)
    slope, block = np.empty(n), np.empty(n, np.int32)
    for v in range(n):
        if pooled[v]:
            slope[v], block[v] = slope[parent[v]], block[parent[v]]
        else:
            slope[v] = g[v] / c[v] if c[v] > 0.0 else (np.inf if g[v] > 0.0 else 0.0)
            block[v] = v
    return slope, block


@njit(cache=True)
def relaxed_gain(parent, gain, cost, price):
    """Best value of gain - price * cost over all down-closed sets of a forest: the Lagrangian dual at ``price``."""
    value = gain - price * cost
    total = 0.0
    for v in range(parent.size - 1, -1, -1):
        if value[v] > 0.0:
            if parent[v] >= 0:
                value[parent[v]] += value[v]
            else:
                total += value[v]
    return total

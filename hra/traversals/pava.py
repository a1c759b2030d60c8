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
def _meld(gain, cost, first, sibling, a, b):
    """Join two pairing heaps; the root has the larger slope."""
    if a < 0:
        return b
    if b < 0:
        return a
    if gain[a] * cost[b] < gain[b] * cost[a]:
        a, b = b, a
    sibling[b] = first[a]
    first[a] = b
    return a


@njit(inline="always")
def _pop(gain, cost, first, sibling, root):
    """The heap without its root: pair the root's children from left to right, then meld the pairs backwards."""
    x, pairs = first[root], -1
    while x >= 0:
        y = sibling[x]
        if y < 0:
            sibling[x] = pairs
            pairs = x
            break
        rest = sibling[y]
        sibling[y] = -1
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
def hull_slopes(parent, first_child, gain, cost):
    """Slope of every refinement's block: non-increasing from coarse to fine along every path.

    Parameters
    ----------
    parent : int32 [R], -1 for roots, ``parent[r] < r``.
    first_child : int32 [R + 1], the children of r are ``first_child[r] .. first_child[r + 1] - 1``.
    gain : float64 [R], >= 0; cost : float64 [R], > 0 (see `Hierarchy.slope_cost`).

    Returns
    -------
    slope : float64 [R], gain per cost of the block that a refinement was pooled into.
    """
    n = parent.size
    g, c, pooled = np.empty(n), np.empty(n), np.empty(n, np.bool_)
    heap, first, sibling = np.empty(n, np.int32), np.empty(n, np.int32), np.empty(n, np.int32)
    for v in range(n - 1, -1, -1):
        gain_v, cost_v, h = gain[v], cost[v], -1
        for u in range(first_child[v], first_child[v + 1]):
            h = _meld(g, c, first, sibling, h, u)
        while h >= 0 and g[h] * cost_v > gain_v * c[h]:
            gain_v += g[h]
            cost_v += c[h]
            pooled[h] = True
            h = _meld(g, c, first, sibling, _pop(g, c, first, sibling, h), heap[h])
        g[v], c[v], pooled[v] = gain_v, cost_v, False
        heap[v], first[v], sibling[v] = h, -1, -1
    return _spread(parent, g, c, pooled)


@njit(cache=True)
def _spread(parent, gain, cost, pooled):
    """Each block's slope for all of its refinements."""
    slope = np.empty(parent.size)
    for v in range(parent.size):
        above = slope[parent[v]] if parent[v] >= 0 else np.inf
        # Blocks were compared by cross products; a quotient may round to one bit more than the parent's.
        slope[v] = above if pooled[v] else min(gain[v] / cost[v], above)
    return slope


@njit(cache=True)
def relaxed_gain(parent, first_child, gain, cost, price, worth):
    """Best value of gain - price * cost over all down-closed sets of a forest: the Lagrangian dual at ``price``.

    ``worth`` float64 [R] is scratch memory; the other arguments are as of `hull_slopes`, but costs may be 0.
    """
    total = 0.0
    for v in range(parent.size - 1, -1, -1):
        value = gain[v] - price * cost[v]
        for u in range(first_child[v], first_child[v + 1]):
            value += worth[u]
        worth[v] = max(value, 0.0)
        if parent[v] < 0:
            total += worth[v]
    return total

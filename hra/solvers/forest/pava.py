"""Hull slopes of a forest: pool adjacent violators on a tree.

A refinement that is worth less per unit than what it opens up is pooled with it, until slopes (gain per cost) fall from
coarse to fine along every path. All refinements with a slope above the price are then the exact solution of the
Lagrangian relaxation at that price, for every price at once. The same construction is known as generalised BFOS
pruning (Chou, Lookabaugh and Gray 1989), JPEG 2000's PCRD hull on trees, and isotonic regression on a rooted tree
(Pardalos and Xue 1999).

Child blocks wait in pairing heaps, so that a merge melds two heaps in constant time. Most refinements are never pooled:
their children form a heap only when it is needed, and until then cost one comparison each.

Sweeps go in blocks, an order in which parents meet their children while these are still in cache.
"""

from __future__ import annotations

import numpy as np

from hra.compiling import njit

# Stands for the heap of a block of one refinement: its children, which are not linked yet.
_UNLINKED = -2
# Refinements that a block should hold: their gains, costs and results fit the second-level cache several times.
_SIZE = 2048


@njit(cache=True)
def blocks(first_child):
    """Ranges of refinements that cover a forest, children before their parents.

    Level by level, a sweep over a large forest comes to a parent long after its children left the cache. Instead, a
    level is cut into pieces, and each piece follows all that lies beneath it.

    Parameters
    ----------
    first_child : int32 [R + 1], the children of r are ``first_child[r] .. first_child[r + 1] - 1``.

    Returns
    -------
    ranges : int64 [K, 2], begin and end of each. The last may hold several levels and is to be swept backwards.
    """
    n = first_child.size - 1
    pieces = n // _SIZE
    # The level that is cut is wide enough for four refinements or more in every piece.
    low, high = wide_level(first_child, 4 * pieces if pieces > 1 else n + 1)
    depth, end = 0, high
    # In level order the children of a range are a range: they begin and end where those of its ends begin.
    while low < end < n:
        depth, end = depth + 1, first_child[end]
    # For each piece a range per level at most, and one for all that lies above the cut.
    ranges = np.empty((min(pieces * (depth + 1), n) + 1, 2), np.int64)
    count, size = 0, high - low
    for p in range(pieces - 1, -1, -1):
        above = count
        begin, end = low + size * p // pieces, low + size * (p + 1) // pieces
        while begin < end:
            ranges[count, 0], ranges[count, 1] = begin, end
            begin, end = first_child[begin], first_child[end]
            count += 1
        # Turned round by hand: assigning slices makes Numba compile a second's worth of error messages.
        for i in range((count - above) // 2):
            for side in range(2):
                first, last = ranges[above + i, side], ranges[count - 1 - i, side]
                ranges[above + i, side], ranges[count - 1 - i, side] = last, first
    ranges[count, 0], ranges[count, 1] = 0, low
    return ranges[: count + 1]


@njit(cache=True)
def wide_level(first_child, width):
    """Begin and end of the first level of at least ``width`` refinements; (R, R) if there is none."""
    n = first_child.size - 1
    low, high = 0, first_child[0]
    while low < n and high - low < width:
        low, high = high, first_child[high]
    return low, high


@njit(inline="always")
def _meld(slope, first, sibling, a, b):
    """Join two pairing heaps; the root has the larger slope."""
    if a < 0:
        return b
    if b < 0:
        return a
    # Heap order: no block is steeper than the one that it hangs from, so that the root is the steepest.
    if slope[a] < slope[b]:
        a, b = b, a
    sibling[b] = first[a]
    first[a] = b
    return a


@njit(inline="always")
def _without_root(slope, first, sibling, root):
    """The heap without its root: pair the root's children from left to right, then meld the pairs backwards."""
    x, pairs = first[root], -1
    # Two passes in these directions take O(log n) amortised (Fredman, Sedgewick, Sleator and Tarjan 1986).
    while x >= 0:
        y = sibling[x]
        if y < 0:
            sibling[x] = pairs
            pairs = x
            break
        rest = sibling[y]
        m = _meld(slope, first, sibling, x, y)
        sibling[m] = pairs
        pairs = m
        x = rest
    heap = pairs
    pairs = sibling[heap] if heap >= 0 else -1
    while pairs >= 0:
        rest = sibling[pairs]
        heap = _meld(slope, first, sibling, heap, pairs)
        pairs = rest
    return heap


@njit(inline="always")
def _best(slope, low, high):
    """The refinement of largest slope among ``low .. high - 1``."""
    best, most = low, slope[low]
    for u in range(low + 1, high):
        larger = slope[u] > most
        best = u if larger else best
        most = slope[u] if larger else most
    return best


@njit(inline="always")
def _link(first, sibling, low, high, root):
    """Make ``low .. high - 1`` a heap under its best, ``root``; that takes no comparisons."""
    last = -1
    for u in range(low, high):
        first[u], sibling[u] = -1, last
        last = last if u == root else u
    # A star under the largest is in heap order, whatever the order of the others.
    first[root] = last


@njit(cache=True)
def hull_slopes(first_child, gain, cost):
    """Slope of every refinement's block: non-increasing from coarse to fine along every path.

    Parameters
    ----------
    first_child : int32 [R + 1], the children of r are ``first_child[r] .. first_child[r + 1] - 1``, all above r.
    gain : float64 [R], >= 0; cost : float64 [R], > 0 (see `Hierarchy.slope_cost`).

    Returns
    -------
    slope : float64 [R], gain per cost of the block that a refinement was pooled into.
    """
    n = gain.size
    slope, first, sibling = np.empty(n), np.empty(n, np.int32), np.empty(n, np.int32)
    # The solution is unique, since isotonic regression minimises a strictly convex function: in which order blocks are
    # pooled does not matter.
    r = _pool(first_child, gain, cost, slope, first, sibling)
    # What was pooled last comes first, so that its block's slope is final.
    while r >= 0:
        slope[r] = slope[first[r]]
        r = sibling[r]
    return slope


@njit(cache=True)
def _pool(first_child, gain, cost, slope, first, sibling):
    """Fill ``slope`` [R] where it stands for a block; return what was pooled last.

    What is pooled needs its place in a heap no longer: ``first`` becomes the refinement that stands for its block,
    ``sibling`` what was pooled before.
    """
    sums, heap, latest = np.empty((gain.size, 2)), np.empty(gain.size, np.int32), -1
    for begin, end in blocks(first_child):
        for v in range(begin, end):
            slope[v] = gain[v] / cost[v]
        # Children come before their parents: beneath v slopes fall along every path already.
        for v in range(end - 1, begin - 1, -1):
            low, high = first_child[v], first_child[v + 1]
            if low == high:
                continue
            heap[v] = _UNLINKED
            h = _best(slope, low, high)
            # If not even the steepest child is steeper, v is a block of its own.
            if not slope[h] > slope[v]:
                continue
            _link(first, sibling, low, high, h)
            block_gain, block_cost, block_slope = gain[v], cost[v], slope[v]
            # One function for all of this: in two, Numba's code takes a sixth longer.
            while h >= 0 and slope[h] > block_slope:
                # Pooling with something steeper only raises the block's slope: what is no steeper now never will be.
                rest = _without_root(slope, first, sibling, h)
                first[h], sibling[h], latest = v, latest, h
                low, high = first_child[h], first_child[h + 1]
                below = -1
                # Either h stands for a pooled block, whose sums were kept, or for itself alone.
                if low < high and heap[h] != _UNLINKED:
                    block_gain += sums[h, 0]
                    block_cost += sums[h, 1]
                    below = heap[h]
                else:
                    block_gain += gain[h]
                    block_cost += cost[h]
                    if low < high:
                        below = _best(slope, low, high)
                        _link(first, sibling, low, high, below)
                block_slope = block_gain / block_cost
                # What hung from the block of h hangs from this one now.
                h = _meld(slope, first, sibling, rest, below)
            heap[v], slope[v], sums[v, 0], sums[v, 1] = h, block_slope, block_gain, block_cost
    return latest


@njit(cache=True)
def relaxed_gain(first_child, gain, cost, price, worth):
    """Best value of gain - price * cost over all down-closed sets of a forest: the Lagrangian dual at ``price``.

    ``worth`` float64 [R] is scratch memory; the other arguments are as of `hull_slopes`, but costs may be 0.
    """
    for v in range(gain.size - 1, -1, -1):
        value = gain[v] - price * cost[v]
        for u in range(first_child[v], first_child[v + 1]):
            value += worth[u]
        # Dynamic programming on a tree: v is taken with the best of what it opens up, or left with all of it.
        worth[v] = max(value, 0.0)
    total = 0.0
    for v in range(first_child[0]):
        total += worth[v]
    return total

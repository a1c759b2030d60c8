"""Exact search on a forest: lists of undominated (cost, gain) states, extended refinement by refinement.

The refinements are visited backwards in preorder. The list at position k holds what the refinements from k on can reach
when everything above k is taken: either k stays out, and the list behind its subtree counts, or k is taken, and the
list behind k counts, shifted by its cost and gain. This is the left-right dynamic programme for tree knapsacks (Johnson
and Niemi 1983) with dominance lists (Nemhauser and Ullmann 1969) in place of a table over all costs, from which states
that lose too much against the relaxation are dropped. Costs need not be whole, and no list is longer than the number of
different costs. In preorder the largest subtree comes last.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from hra.compiling import njit

# Lists that are alive at a time: log2 of the largest number of refinements, and some.
_LISTS = 64


@njit(cache=True, nogil=True)
def preorder(parent):
    """Positions in a depth-first order in which every subtree is contiguous.

    The largest subtree of each refinement comes last, so that at most log2(n) subtrees that end at different places are
    open at a time.

    Parameters
    ----------
    parent : int32 [n], -1 for roots, ``parent[r] < r``.

    Returns
    -------
    order : int32 [n], refinements by position; position : int32 [n]; size : int32 [n], of the subtree of a refinement.
    """
    n = parent.size
    size, largest = np.ones(n, np.int32), np.full(n, -1, np.int32)
    # Parents have smaller numbers: backwards, the size of r is complete before it is added to that of its parent.
    for r in range(n - 1, -1, -1):
        p = parent[r]
        if p >= 0:
            size[p] += size[r]
            if largest[p] < 0 or size[r] > size[largest[p]]:
                largest[p] = r
    order, position, free, next_root = np.empty(n, np.int32), np.empty(n, np.int32), np.empty(n, np.int32), 0
    for r in range(n):
        p = parent[r]
        if p < 0:
            position[r] = next_root
            next_root += size[r]
        elif largest[p] == r:
            # At the end of its parent's range. Any other child has at most half of the parent's subtree, so that a
            # path meets at most log2(n) of them (heavy paths: Sleator and Tarjan 1983).
            position[r] = position[p] + size[p] - size[r]
        else:
            position[r] = free[p]
            free[p] += size[r]
        free[r] = position[r] + 1
        order[position[r]] = r
    return order, position, size


class States(NamedTuple):
    """Memory of searches: the live lists, one after the other, and a record of what their states took.

    cost, gain : float64 [S]; link : int32 [S], the last refinement that a state took, as an index into the record.
    name, previous : int32 [S], the record: what was taken, and the index of what was taken before it, -1 for nothing.
    """

    cost: np.ndarray
    gain: np.ndarray
    link: np.ndarray
    name: np.ndarray
    previous: np.ndarray


def new_states(size: int) -> States:
    """Memory for ``size`` states, 28 bytes each; what a search does not reach is never touched."""
    index = (np.empty(size, np.int32) for _ in range(3))
    return States(np.empty(size), np.empty(size), *index)


@njit(cache=True, nogil=True)
def _merge(states, skip, take, item, price, floor, capacity, recorded):
    """Append the undominated states that skip or take one refinement behind the list ``take``; return their end.

    Lists are given by where they begin and end, the refinement ``item`` by name, cost and gain: ``take`` is shifted by
    these. States worth less than ``floor`` at ``price`` are dropped.
    """
    (i, skip_end), (j, take_end), (name, cost, gain) = skip, take, item
    end, best = take_end, -np.inf
    while i < skip_end or j < take_end:
        c, g, taking = np.inf, -np.inf, False
        if i < skip_end:
            c, g = states.cost[i], states.gain[i]
        if j < take_end:
            taken_cost, taken_gain = states.cost[j] + cost, states.gain[j] + gain
            # Both lists rise in cost and gain. Of equal costs the larger gain comes first, so that the other one is
            # dropped.
            taking = taken_cost < c or (taken_cost == c and taken_gain > g)
            if taking:
                c, g = taken_cost, taken_gain
        if taking:
            link = states.link[j]
            j += 1
        else:
            link = states.link[i]
            i += 1
        # Costs rise: nothing that follows fits.
        if c > capacity:
            break
        # Dominated by a state before it, which is not more expensive; or below what the tolerance admits.
        if g <= best or g - price * c < floor:
            continue
        best = g
        if taking:
            states.name[recorded], states.previous[recorded] = name, link
            link = recorded
            recorded += 1
        states.cost[end], states.gain[end], states.link[end] = c, g, link
        end += 1
    return end, recorded


@njit(cache=True, nogil=True)
def _move(states, start, end, target):
    """Move a list down to ``target``; return its new end."""
    if target < start:
        for i in range(end - start):
            states.cost[target + i], states.gain[target + i] = states.cost[start + i], states.gain[start + i]
            states.link[target + i] = states.link[start + i]
    return target + end - start


@njit(cache=True, nogil=True)
def search(parent, gain, cost, loss_above, price, capacity, tolerance, states, taken):
    """Best down-closed set of a forest within ``capacity`` among those that lose at most ``tolerance``.

    Parameters
    ----------
    parent : int32 [n], -1 for roots, ``parent[r] < r``; gain, cost : float64 [n].
    loss_above : float64 [n], what taking everything above a refinement loses against the relaxation at ``price``.
    states : memory; a search that would visit more states is given up.
    taken : bool [n], becomes the set.

    Returns
    -------
    gain : of the set, -inf if there is none; finished : False if the search was given up.
    """
    order, position, size = preorder(parent)
    worth = np.zeros(parent.size + 1)
    saved, depth = np.empty((_LISTS, 2), np.int64), 0
    states.cost[0], states.gain[0], states.link[0] = 0.0, 0.0, -1
    low, high, recorded, visited = 0, 1 if capacity >= 0.0 else 0, 0, 1
    for k in range(parent.size - 1, -1, -1):
        r = order[k]
        end, p, leaf = k + size[r], parent[r], size[r] == 1
        # What positions from k on are worth at most at the price, whatever is to be taken there.
        worth[k] = max(worth[end], worth[k + 1] + gain[r] - price * cost[r])
        skip = (low, high) if leaf else (saved[depth - 1, 0], saved[depth - 1, 1])
        visited += high - low + skip[1] - skip[0]
        if visited > states.cost.size:
            return -np.inf, False
        # A set loses at least what its state loses from k on, and what everything above r loses.
        floor = worth[k] + loss_above[r] - tolerance
        item = (r, cost[r], gain[r])
        stop, recorded = _merge(states, skip, (low, high), item, price, floor, capacity, recorded)
        # The list behind a subtree is kept until the coarsest refinement whose subtree ends there is done.
        last = p >= 0 and position[p] + size[p] == end
        if leaf and last:
            saved[depth, 0], saved[depth, 1] = low, high
            depth += 1
            low = high
        elif not leaf and not last:
            # The list behind the subtree has served: the new one takes its place.
            depth -= 1
            low = skip[0]
        high = _move(states, high, stop, low)
    taken[:] = False
    if high == low:
        return -np.inf, True
    _mark(states, states.link[high - 1], taken)
    return states.gain[high - 1], True


@njit(cache=True, nogil=True)
def _mark(states, link, taken):
    while link >= 0:
        taken[states.name[link]] = True
        link = states.previous[link]

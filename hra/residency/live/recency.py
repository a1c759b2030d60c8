"""Lists of items from least to most recently used, in two arrays: the compiled policies share them."""

from __future__ import annotations

import numpy as np

from hra.compiling import njit

# `before` and `after` have one entry per item, then one per list for both of its ends; -1: an item is in no list.


@njit(cache=True)
def empty_lists(count, lists):
    """Empty lists for items 0 .. count - 1; their ends are count, count + 1 ..."""
    before, after = np.full(count + lists, -1, np.int32), np.full(count + lists, -1, np.int32)
    for end in range(count, count + lists):
        before[end] = after[end] = end
    return before, after


@njit(cache=True)
def append(before, after, item, end):
    """Put ``item`` at the most recently used side of the list that ``end`` closes."""
    before[item], after[item] = before[end], end
    after[before[end]] = item
    before[end] = item


@njit(cache=True)
def take_out(before, after, item):
    """Remove ``item``."""
    after[before[item]], before[after[item]] = after[item], before[item]
    before[item] = after[item] = -1


@njit(cache=True)
def evict_oldest(before, after, end, events, e):
    """Take out the least recently used item of the list that ``end`` closes, log it as event ``e`` and return it."""
    victim = after[end]
    take_out(before, after, victim)
    events[e] = -1 - victim
    return victim

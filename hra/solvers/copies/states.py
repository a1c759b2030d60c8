"""What the sets of many copies say: whether they are valid, what changed, and which nodes are there."""

from __future__ import annotations

import numpy as np

from hra.compiling import njit


@njit(cache=True)
def are_down_closed(rows, selected):
    """Whether every refinement of all lanes comes with its predecessors; ``rows`` as `Rows` of `Copies`."""
    valid = True
    for q in range(rows.cost.size):
        own = selected[rows.at[q] : rows.at[q + 1]]
        for k in range(rows.before[q], rows.before[q + 1]):
            other = selected[rows.at[rows.needed[k]] : rows.at[rows.needed[k] + 1]]
            for i in range(own.size):
                valid &= other[i] | (not own[i])
    return valid


@njit(cache=True)
def count_changes(then, now):
    """In how many entries two arrays [R, I] of bools differ."""
    count = 0
    for r in range(now.shape[0]):
        for i in range(now.shape[1]):
            count += then[r, i] != now[r, i]
    return count


@njit(cache=True)
def cuts_of(added_by, removed_by, selected):
    """The nodes that are there in each lane of ``selected`` [R, I]: offsets int64 [I + 1] and ascending ids int64."""
    lanes, count = selected.shape[1], np.zeros(selected.shape[1] + 1, np.int64)
    there = np.empty(lanes, np.bool_)
    for v in range(added_by.size):
        _there(added_by[v], removed_by[v], selected, there)
        for i in range(lanes):
            count[i + 1] += there[i]
    ends = np.cumsum(count)
    nodes, place = np.empty(ends[-1], np.int64), ends[:-1].copy()
    for v in range(added_by.size):
        _there(added_by[v], removed_by[v], selected, there)
        for i in range(lanes):
            if there[i]:
                nodes[place[i]] = v
                place[i] += 1
    return ends, nodes


@njit(cache=True)
def _there(added_by, removed_by, selected, result):
    for i in range(result.size):
        result[i] = added_by < 0 or selected[added_by, i]
    if removed_by >= 0:
        for i in range(result.size):
            result[i] &= not selected[removed_by, i]

"""What the sets of many copies say: whether they are valid, what changed, and which nodes are there."""

from __future__ import annotations

import numpy as np

from hra.compiling import njit
from hra.solvers.copies.blocks import LANES


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
    """The number of entries in which two arrays [R, I] of bools differ."""
    count = 0
    for r in range(now.shape[0]):
        for i in range(now.shape[1]):
            count += then[r, i] != now[r, i]
    return count


@njit(cache=True)
def counts_of(selected):
    """The number of lanes of ``selected`` [R, I] in which each row is taken, int64 [R]."""
    result = np.zeros(selected.shape[0], np.int64)
    for r in range(selected.shape[0]):
        for i in range(selected.shape[1]):
            result[r] += selected[r, i]
    return result


@njit(cache=True)
def cuts_of(added_by, removed_by, selected):
    """The nodes that are there in each lane of ``selected`` [R, I]: offsets int64 [I + 1] and ascending ids int64."""
    lanes, ends = selected.shape[1], _ends(added_by, removed_by, selected)
    nodes, place = np.empty(ends[-1], np.int64), ends[:-1].copy()
    for begin in range(0, lanes, LANES):
        part, last = selected[:, begin : begin + LANES], _last(selected, begin, min(begin + LANES, lanes))
        own, there = place[begin : begin + LANES], np.empty(part.shape[1], np.bool_)
        for v in range(added_by.size):
            # Copies that are far have few clusters: most of a fine cluster's lanes are empty.
            if added_by[v] <= last and _there(added_by[v], removed_by[v], part, there) > 0:
                for i in range(own.size):
                    if there[i]:
                        nodes[own[i]] = v
                        own[i] += 1
    return ends, nodes


@njit(cache=True)
def _last(selected, begin, end):
    """The last row of which something in some lanes is selected, or -1."""
    for r in range(selected.shape[0] - 1, -1, -1):
        if selected[r, begin:end].any():
            return r
    return -1


@njit(cache=True)
def _ends(added_by, removed_by, selected):
    """Where the nodes of each lane end [I + 1]: each refinement adds some nodes and removes others."""
    more, base = np.zeros(selected.shape[0], np.int64), 0
    for v in range(added_by.size):
        if added_by[v] < 0:
            base += 1
        else:
            more[added_by[v]] += 1
        if removed_by[v] >= 0:
            more[removed_by[v]] -= 1
    ends = np.full(selected.shape[1] + 1, base)
    ends[0] = 0
    for r in range(selected.shape[0]):
        _add(selected[r], more[r], ends[1:])
    return np.cumsum(ends)


@njit(cache=True)
def _add(selected, more, count):
    for i in range(selected.size):
        count[i] += more * selected[i]


@njit(cache=True)
def _there(added_by, removed_by, selected, result):
    """Fill ``result`` [lanes] with where a node is there; returns in how many lanes."""
    count = 0
    for i in range(result.size):
        result[i] = added_by < 0 or selected[added_by, i]
    if removed_by >= 0:
        for i in range(result.size):
            result[i] &= not selected[removed_by, i]
    for i in range(result.size):
        count += result[i]
    return count

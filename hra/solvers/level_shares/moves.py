"""What one step of a local search may take or drop: refinements with all that has to come or go with them."""

from __future__ import annotations

import numpy as np

from hra.compiling import njit

# Moves that are kept of each kind.
_KEPT = 8


@njit(cache=True)
def moves(offsets, neighbours, worth, pinned, selected, present, reach):
    """The most promising moves of every kind: to take refinements, or to drop them.

    Parameters
    ----------
    offsets, neighbours : predecessors, of what is taken, or successors, of what is dropped.
    worth : gain and value [R], change [R, 1 + K], kind [R] and the number of kinds.
    pinned, selected : bool [R]; what is pinned is never dropped.
    present : True for what is there and may be dropped, False for what is not and may be taken.
    reach : refinements in one move at most.

    Returns
    -------
    members : int64 [M, reach], what moves, the rest -1; the first move is to do nothing.
    gain, value : float64 [M]; change : float64 [M, 1 + K], sums over the members.
    """
    gain, value, change, kind, kinds = worth
    names = _promising(offsets, neighbours, value, kind, kinds, pinned, selected, present, reach)
    members = np.full((names.size + 1, reach), -1)
    gains, values = np.zeros(names.size + 1), np.zeros(names.size + 1)
    changes = np.zeros((names.size + 1, change.shape[1]))
    for i in range(names.size):
        size = _collect(offsets, neighbours, selected, present, names[i], members[i + 1])
        for k in range(size):
            r = members[i + 1, k]
            gains[i + 1] += gain[r]
            values[i + 1] += value[r]
            for need in range(change.shape[1]):
                changes[i + 1, need] += change[r, need]
    return members, gains, values, changes


@njit(cache=True)
def _promising(offsets, neighbours, value, kind, kinds, pinned, selected, present, reach):
    """Refinements whose moves are worth most when taken, or least when dropped, the first few of each kind."""
    best, score = np.full((kinds, _KEPT), -1), np.zeros((kinds, _KEPT))
    members = np.empty(reach, np.int64)
    for r in range(selected.size):
        if selected[r] != present or (present and pinned[r]):
            continue
        total = 0.0
        size = _collect(offsets, neighbours, selected, present, r, members)
        for k in range(size):
            total += value[members[k]]
        if size > 0:
            # Best is to lose the least by dropping, or to win the most by taking.
            _insert(best[kind[r]], score[kind[r]], r, -total if present else total)
    names = best.ravel()
    return names[names >= 0]


@njit(cache=True)
def _collect(offsets, neighbours, selected, present, r, members):
    """Put r and all that moves with it into ``members``; how many, 0 if there is no room."""
    members[0] = r
    size, i = 1, 0
    while i < size:
        # A closure breadth first: members after i have yet to bring what must move with them.
        for k in range(offsets[members[i]], offsets[members[i] + 1]):
            other = neighbours[k]
            if selected[other] != present or _contains(members, size, other):
                continue
            if size == members.size:
                return 0
            members[size] = other
            size += 1
        i += 1
    return size


@njit(cache=True)
def _contains(members, size, r):
    for i in range(size):  # noqa: SIM110 (a generator does not compile)
        if members[i] == r:
            return True
    return False


@njit(cache=True)
def _insert(best, score, r, key):
    """Keep r among the best, which are sorted by falling score."""
    i = best.size - 1
    if best[i] >= 0 and score[i] >= key:
        return
    while i > 0 and (best[i - 1] < 0 or score[i - 1] < key):
        best[i], score[i] = best[i - 1], score[i - 1]
        i -= 1
    best[i], score[i] = r, key

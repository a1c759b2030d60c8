"""Local search over down-closed sets that must meet several needs: supply what is missing, then gain more.

A step takes a refinement with what it still lacks, drops one with what builds on it, or does both at once. Refinements
are ranked by their worth at the prices of the needs, so that what comes first costs least of the bound; of
every kind (which needs it helps, which it hurts) the first few are tried in all pairs.
"""

from __future__ import annotations

import numpy as np

from hra.compiling import njit
from hra.model.problem import Problem
from hra.solvers.level_shares.needs import Needs

# Steps after which the search ends in any case; refinements in one move, where single ones are of no more use.
_STEPS, _REACH = 2000, 32
# Moves that are kept of each kind.
_KEPT = 8
# Relative to the largest gain, below which a step only reorders a sum.
_ROUNDING = 1e-12


def mend_shares(problem: Problem, needs: Needs, value: np.ndarray, start: np.ndarray, *, spend_all: bool) -> np.ndarray:
    """``start`` [R] changed until all needs are met, as far as it can be found, and then until no step gains more.

    Parameters
    ----------
    value : float64 [R], of each refinement at the prices of the needs.
    spend_all : also use up what is left of the budget, at the least loss of gain.
    """
    hierarchy, selected = problem.hierarchy, start.copy()
    pinned = np.zeros(selected.size, np.bool_) if problem.pinned is None else problem.pinned
    selected |= pinned
    order = (hierarchy.predecessors, hierarchy.successors)
    smallest = (0.0, _ROUNDING * float(problem.gain.max(initial=0.0)))
    worth = (problem.gain, value, needs.change, *_kinds(needs.change))
    _search(*order, worth, pinned, needs.left(selected), smallest, spend_all, selected)
    return selected


def _kinds(change: np.ndarray) -> tuple[np.ndarray, int]:
    """Refinements that help and hurt the same needs share a number, int64 [R]; how many numbers there are."""
    signs = (np.sign(change) + 1).astype(np.int64) @ 3 ** np.arange(change.shape[1])
    found, kind = np.unique(signs, return_inverse=True)
    return kind, found.size


@njit(cache=True)
def _missing(left, taken, dropped, rounding):
    """What all needs together would lack after a step that changes them by ``taken`` - ``dropped`` [1 + K]."""
    missing = 0.0
    for i in range(left.size):
        after = left[i] + taken[i] - dropped[i]
        if after < -rounding:
            missing -= after
    return missing


@njit(cache=True)
def _score(missing, before, gained, worth, spent, smallest, phase):
    """How good a step is, -inf if the phase has no use for it: 0 mends or gains, 1 uses up the budget, 2 does both."""
    if before > 0.0:
        # Mending: what the step loses at the prices, for each unit that is no longer missing.
        return min(worth, 0.0) / (before - missing) if missing < before * (1.0 - 1e-9) else -np.inf
    if missing > 0.0:
        return -np.inf
    if phase == 1:
        return worth if spent > smallest[0] else -np.inf
    return worth if gained > smallest[1] and (phase == 0 or spent >= 0.0) else -np.inf


@njit(cache=True)
def _mark(members, falling, mark):
    for r in members:
        if r >= 0:
            falling[r] = mark


@njit(cache=True)
def _stands(before, predecessors, members, falling):
    """Whether nothing that ``members`` need is falling."""
    for r in members:
        if r < 0:
            break
        for k in range(before[r], before[r + 1]):
            if falling[predecessors[k]]:
                return False
    return True


@njit(cache=True)
def _best_step(before, predecessors, takes, drops, left, smallest, phase, falling):
    """The best step: which of the moves ``takes`` and ``drops``; (0, 0), which is to do nothing, if none is of use."""
    names, gains, worths, changes = takes
    lacking = _missing(left, changes[0], changes[0], smallest[0])
    best, best_take, best_drop = -np.inf, 0, 0
    for j in range(drops[0].shape[0]):
        _mark(drops[0][j], falling, True)
        for i in range(names.shape[0]):
            missing = _missing(left, changes[i], drops[3][j], smallest[0])
            gained, worth = gains[i] - drops[1][j], worths[i] - drops[2][j]
            spent = drops[3][j, 0] - changes[i, 0]
            score = _score(missing, lacking, gained, worth, spent, smallest, phase)
            # A move that needs what falls would leave a set that is not down-closed.
            if score > best and _stands(before, predecessors, names[i], falling):
                best, best_take, best_drop = score, i, j
        _mark(drops[0][j], falling, False)
    return best_take, best_drop


@njit(cache=True)
def _search(predecessors, successors, worth, pinned, left, smallest, spend_all, selected):
    """Change ``selected`` [R] and ``left`` [1 + K] in place, step by step."""
    (before, needed), (after, needing) = predecessors, successors
    phase, reach, falling = 0, 1, np.zeros(selected.size, np.bool_)
    for _ in range(_STEPS):
        takes = moves(before, needed, worth, pinned, selected, False, reach)
        drops = moves(after, needing, worth, pinned, selected, True, reach)
        take, drop = _best_step(before, needed, takes, drops, left, smallest, phase, falling)
        _mark(takes[0][take], selected, True)
        _mark(drops[0][drop], selected, False)
        for need in range(left.size):
            left[need] += takes[3][take, need] - drops[3][drop, need]
        if take > 0 or drop > 0:
            reach = 1
        # No single refinement helps: whole chains and subtrees are tried before the search gives up.
        elif reach == 1:
            reach = _REACH
        elif phase < 2 and spend_all and left[0] > smallest[0]:
            # Using up the budget may cost gain: from then on no step may leave more of it, or the search would circle.
            phase, reach = phase + 1, 1
        else:
            break


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

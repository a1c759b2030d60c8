"""Shares of surplus that suit each block of copies; see `hra.solvers.dag.split_flow`."""

from __future__ import annotations

import numpy as np

from hra.compiling import njit
from hra.solvers.copies.at_price import pass_on
from hra.solvers.copies.blocks import LANES, count_of, shares_of

# Lets a share that was driven to zero come back.
_FLOOR = 1e-4


@njit(cache=True, error_model="numpy")
def improve_shares(rows, gain, price, share, reach, steps, steps_alone):
    """Exponentiated-gradient steps of ``share``, in place: away from where extra surplus would reach the top.

    The bound of all copies is the sum of theirs. Its slope by a share is, over all copies that have it, the surplus of
    a refinement times the part of it that would reach the top by way of this predecessor.

    Parameters
    ----------
    rows, gain, price, reach : as in `sets_at_price`.
    steps, steps_alone : float64, of blocks with common shares, and of those whose copies have their own.
    """
    for kind in range(rows.first.size - 1):
        begin, end = rows.first[kind], rows.first[kind + 1]
        count, size, alive = (
            count_of(rows, kind),
            rows.before[end] - rows.before[begin],
            np.empty(end - begin, np.bool_),
        )
        left, reaching = np.empty((end - begin, LANES)), np.empty((end - begin, LANES))
        slope, passed = np.empty(size), np.empty(end - begin)
        for lane in range(0, count, LANES):
            block = share.first[kind] + lane // LANES
            own, stop = shares_of(rows, share, kind, block), begin + reach[block]
            width, alone = min(LANES, count - lane), own.shape[1] > 1
            for step in steps_alone if alone else steps:
                pass_on(rows, begin, stop, gain, price, own, lane, left, alive)
                if alone:
                    _shift_each(rows, begin, stop, own, width, left, alive, reaching, step)
                else:
                    _collect(rows, begin, stop, own, width, left, alive, reaching, slope, passed)
                    _shift_all(rows, begin, stop, own, alive, slope, passed, step)


@njit(cache=True, error_model="numpy")
def _collect(rows, begin, stop, share, width, left, alive, reaching, slope, passed):
    """Fill ``slope`` [E] and what each refinement passes on, ``passed`` [R]; fills ``reaching`` [R, lanes]."""
    edges, plenty = rows.before[begin], np.empty(width)
    for q in range(begin, stop):
        own, part = left[q - begin, :width], reaching[q - begin, :width]
        part[:] = 1.0 if rows.before[q] == rows.before[q + 1] and alive[q - begin] else 0.0
        if not alive[q - begin]:
            continue
        passed[q - begin] = _clamp(own, plenty)
        for k in range(rows.before[q], rows.before[q + 1]):
            slope[k - edges] = _follow(plenty, reaching[rows.needed[k] - begin], share[k - edges, 0], part)
        _keep(own, part)


@njit(cache=True, error_model="numpy")
def _shift_all(rows, begin, stop, share, alive, slope, passed, step):
    edges = rows.before[begin]
    for q in range(begin, stop):
        first, end = rows.before[q] - edges, rows.before[q + 1] - edges
        if end - first < 2 or not alive[q - begin] or passed[q - begin] <= 0.0:
            continue
        total = 0.0
        for k in range(first, end):
            share[k, 0] = (share[k, 0] + _FLOOR) * np.exp(-step * slope[k] / passed[q - begin])
            total += share[k, 0]
        for k in range(first, end):
            share[k, 0] /= total


@njit(cache=True, error_model="numpy")
def _shift_each(rows, begin, stop, share, width, left, alive, reaching, step):
    """One step of the shares [E, lanes] of each copy alone; fills ``reaching`` [R, lanes]."""
    edges, total = rows.before[begin], np.empty(width)
    for q in range(begin, stop):
        own, part = left[q - begin, :width], reaching[q - begin, :width]
        first, end = rows.before[q], rows.before[q + 1]
        part[:] = 1.0 if first == end and alive[q - begin] else 0.0
        if not alive[q - begin]:
            continue
        total[:] = 0.0
        if end - first == 1:
            _add(reaching[rows.needed[first] - begin], part)
        else:
            for k in range(first, end):
                _lean(share[k - edges], reaching[rows.needed[k] - begin], own, step, part, total)
            for k in range(first, end):
                _divide(share[k - edges], total)
        _keep(own, part)


@njit(cache=True, error_model="numpy")
def _lean(share, other, own, step, part, total):
    """Add to the ``part`` of ``own`` that reaches the top through ``other``, and move the ``share`` away from it."""
    for i in range(total.size):
        part[i] += share[i] * other[i]
        # As the exponential does, with what is vectorised.
        x = step * other[i]
        moved = (share[i] + _FLOOR) / (1.0 + x * (1.0 + 0.5 * x))
        share[i] = moved if own[i] > 0.0 else share[i]
        total[i] += share[i]


@njit(cache=True, error_model="numpy")
def _add(other, part):
    for i in range(part.size):
        part[i] += other[i]


@njit(cache=True, error_model="numpy")
def _divide(share, total):
    for i in range(total.size):
        share[i] /= total[i]


# Sums in any order, or they would be taken one after the other.
@njit(cache=True, error_model="numpy", fastmath={"reassoc"})
def _follow(plenty, other, share, part):
    slope = 0.0
    for i in range(plenty.size):
        part[i] += share * other[i]
        slope += plenty[i] * other[i]
    return slope


@njit(cache=True, error_model="numpy", fastmath={"reassoc"})
def _clamp(own, plenty):
    total = 0.0
    for i in range(own.size):
        plenty[i] = own[i] if own[i] > 0.0 else 0.0
        total += plenty[i]
    return total


@njit(cache=True, error_model="numpy")
def _keep(own, part):
    """Nothing passes where nothing is left."""
    for i in range(own.size):
        part[i] = part[i] if own[i] > 0.0 else 0.0

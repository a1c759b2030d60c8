"""Shares of surplus that suit each block of copies; see `hra.solvers.dag.split_flow`."""

from __future__ import annotations

import numpy as np

from hra.compiling import njit
from hra.solvers.copies.at_price import pass_on
from hra.solvers.copies.blocks import LANES, count_of, lanes_of, shares_of

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
        alive, room = np.empty(end - begin, np.bool_), np.empty((2, (end - begin) * LANES))
        for lane in range(0, count_of(rows, kind), LANES):
            gains, block = lanes_of(rows, kind, lane, gain), share.first[kind] + lane // LANES
            own, stop = shares_of(rows, share, kind, block), reach[block]
            left = room[0, : gains.size].reshape(gains.shape)
            reaching = room[1, : gains.size].reshape(gains.shape)
            alone = own.shape[1] > 1
            for step in steps_alone if alone else steps:
                pass_on(rows, begin, stop, gains, price, own, left, alive)
                if alone:
                    shift_each(rows, begin, stop, own, left, alive, reaching, step)
                else:
                    _shift_all(rows, begin, stop, own, left, alive, reaching, step)


@njit(cache=True, error_model="numpy")
def _shift_all(rows, begin, stop, share, left, alive, reaching, step):
    """One step of the shares [E, 1] that a block has in common; fills ``reaching`` [R, lanes]."""
    before, needed, edges = rows.before[begin:], rows.needed, rows.before[begin]
    for r in range(stop):
        _begin(reaching, r, before[r] == before[r + 1] and alive[r])
        if not alive[r]:
            continue
        passed, total, several = _plenty(left, r), 0.0, before[r + 1] - before[r] > 1
        for k in range(before[r] - edges, before[r + 1] - edges):
            old = share[k, 0]
            slope = _follow(left, reaching, r, needed[k + edges] - begin, old)
            if several and passed > 0.0:
                share[k, 0] = (old + _FLOOR) * np.exp(-step * slope / passed)
            total += share[k, 0]
        if several and passed > 0.0:
            for k in range(before[r] - edges, before[r + 1] - edges):
                share[k, 0] /= total
        _keep(left, r, reaching)


@njit(cache=True, error_model="numpy")
def shift_each(rows, begin, stop, share, left, alive, reaching, step):
    """One step of the shares [E, lanes] of each copy alone; fills ``reaching`` [R, lanes].

    ``left`` and ``alive`` are what `pass_on` has found; see there.
    """
    before, needed, edges = rows.before[begin:], rows.needed, rows.before[begin]
    total = np.empty(left.shape[1])
    for r in range(stop):
        _begin(reaching, r, before[r] == before[r + 1] and alive[r])
        if not alive[r]:
            continue
        if before[r + 1] - before[r] == 1:
            p = needed[before[r]] - begin
            for i in range(total.size):
                reaching[r, i] += reaching[p, i]
        elif before[r + 1] > before[r]:
            total[:] = 0.0
            for k in range(before[r] - edges, before[r + 1] - edges):
                _lean(share, k, reaching, r, needed[k + edges] - begin, left, step, total)
            for i in range(total.size):
                total[i] = 1.0 / total[i]
            for k in range(before[r] - edges, before[r + 1] - edges):
                for i in range(total.size):
                    share[k, i] *= total[i]
        _keep(left, r, reaching)


@njit(cache=True, error_model="numpy")
def _lean(share, k, reaching, r, p, left, step, total):
    """Add what of row ``r`` reaches the top through row ``p``, and move the share ``k`` away from it."""
    for i in range(total.size):
        old, through = share[k, i], reaching[p, i]
        reaching[r, i] += old * through
        # As the exponential does, with what is vectorised.
        x = step * through
        moved = (old + _FLOOR) / (1.0 + x * (1.0 + 0.5 * x))
        moved = moved if left[r, i] > 0.0 else old
        share[k, i] = moved
        total[i] += moved


@njit(cache=True, error_model="numpy")
def _begin(reaching, r, at_top):
    value = 1.0 if at_top else 0.0
    for i in range(reaching.shape[1]):
        reaching[r, i] = value


# Sums in any order, or they would be taken one after the other.
@njit(cache=True, error_model="numpy", fastmath={"reassoc"})
def _follow(left, reaching, r, p, share):
    """Add what of row ``r`` reaches the top through row ``p``; returns the slope of the ``share``."""
    slope = 0.0
    for i in range(left.shape[1]):
        reaching[r, i] += share * reaching[p, i]
        slope += (left[r, i] if left[r, i] > 0.0 else 0.0) * reaching[p, i]
    return slope


@njit(cache=True, error_model="numpy", fastmath={"reassoc"})
def _plenty(left, r):
    total = 0.0
    for i in range(left.shape[1]):
        total += left[r, i] if left[r, i] > 0.0 else 0.0
    return total


@njit(cache=True, error_model="numpy")
def _keep(left, r, reaching):
    """Let nothing pass where nothing is left."""
    for i in range(left.shape[1]):
        reaching[r, i] = reaching[r, i] if left[r, i] > 0.0 else 0.0

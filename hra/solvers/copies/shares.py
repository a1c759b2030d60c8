"""Shares of surplus that suit all copies of a kind together; see `hra.solvers.dag.split_flow`."""

from __future__ import annotations

import numpy as np

from hra.compiling import njit
from hra.solvers.copies.at_price import _LANES, pass_on


@njit(cache=True, error_model="numpy")
def improve_shares(rows, gain, price, share, step, every):
    """One exponentiated-gradient step of ``share`` [E], in place: away from where extra surplus would reach the top.

    The bound of all copies is the sum of theirs. Its slope by a share is, over all copies, the surplus of a refinement
    times the part of it that would reach the top by way of this predecessor.

    Parameters
    ----------
    rows, gain, price : as in `sets_at_price`.
    every : one in so many blocks of copies is looked at.
    """
    slope, passed = np.zeros(share.size), np.zeros(rows.cost.size)
    for kind in range(rows.first.size - 1):
        begin, end = rows.first[kind], rows.first[kind + 1]
        count = rows.at[end] - rows.at[begin]
        count = count // (end - begin) if end > begin else 0
        left, reaching = np.empty((end - begin, _LANES)), np.empty((end - begin, _LANES))
        for lane in range(0, count, _LANES * every):
            width = min(_LANES, count - lane)
            pass_on(rows, begin, end, gain, price, share, lane, width, left)
            _collect(rows, begin, end, share, width, left, reaching, slope, passed)
    for q in range(rows.cost.size):
        _shift(share[rows.before[q] : rows.before[q + 1]], slope[rows.before[q] : rows.before[q + 1]], passed[q], step)


@njit(cache=True, error_model="numpy")
def _collect(rows, begin, end, share, width, left, reaching, slope, passed):
    """Add to ``slope`` [E] and to what each refinement passes on, ``passed`` [Q]; fills ``reaching`` [R, lanes]."""
    for q in range(begin, end):
        own, part = left[q - begin, :width], reaching[q - begin, :width]
        is_top = rows.before[q] == rows.before[q + 1]
        part[:] = 1.0 if is_top else 0.0
        for k in range(rows.before[q], rows.before[q + 1]):
            slope[k] += _follow(own, reaching[rows.needed[k] - begin, :width], share[k], part)
        for i in range(width):
            passed[q] += own[i] if own[i] > 0.0 else 0.0
            part[i] = part[i] if own[i] > 0.0 else 0.0


@njit(cache=True, error_model="numpy")
def _follow(own, other, share, part):
    slope = 0.0
    for i in range(own.size):
        part[i] += share * other[i]
        slope += (own[i] if own[i] > 0.0 else 0.0) * other[i]
    return slope


@njit(cache=True, error_model="numpy")
def _shift(share, slope, passed, step):
    if share.size < 2 or passed <= 0.0:
        return
    total = 0.0
    for k in range(share.size):
        # The floor lets a share that was driven to zero come back.
        share[k] = (share[k] + 1e-4) * np.exp(-step * slope[k] / passed)
        total += share[k]
    for k in range(share.size):
        share[k] /= total

"""Copies within a capacity: one price, the sets at it, and what is left filled up.

The few copies whose bound is loosest get shares of their own, see `hra.solvers.copies.shares`.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from hra.compiling import njit
from hra.solvers.copies.at_price import pass_on, sets_at_price, surplus_at_price
from hra.solvers.copies.blocks import (
    LANES,
    Shares,
    all_rows,
    count_of,
    even_shares,
    in_blocks,
    in_rows,
    lanes_of,
    shares_of,
)
from hra.solvers.copies.copies import Copies, Rows
from hra.solvers.copies.fill import fill_copies
from hra.solvers.copies.search import Cleared, Search, clearing_price, highest_price, plain_guess, rough_price
from hra.solvers.copies.shares import improve_shares, shift_each

# Steps of the shares without a last step of a sequence, common ones and those of one copy alone; and after one.
_FIRST = np.array([6.0, 4.5, 3.0]), 2.0 / (1.0 + 0.1 * np.arange(8))
_NEXT = np.full(1, 3.5), np.full(2, 2.0)
# Shares are good enough that lose so much of what is missed at best; else those of the worst copies make more steps.
_GOOD = 0.01
# Filling takes what is left, of which this part of the capacity is little; even shares give a first price alone.
_LITTLE, _ROUGHLY = 1e-2, 0.05
# Copies of a kind at a time; of what all lose to their shares, these lose most.
_SHORTEST = 16


@njit(cache=True, error_model="numpy")
def improve_worst(rows, gain, price, share, reach, selected, steps):
    """Steps of the shares of a few copies that have their own: of those that lose most to them.

    Parameters
    ----------
    rows, gain, price, share, reach, selected : as `sets_at_price` has left them at the price.
    steps : float64, as ``steps_alone`` of `improve_shares`.
    """
    for kind in range(rows.first.size - 1):
        begin, end = rows.first[kind], rows.first[kind + 1]
        worst = np.argsort(-_lost(rows, kind, gain, price, share, reach, selected))[:_SHORTEST]
        size, edges = worst.size, rows.before[end] - rows.before[begin]
        if size < 2:
            continue
        gains, own = np.empty((end - begin, size)), np.empty((edges, size))
        left, reaching, alive = np.empty_like(gains), np.empty_like(gains), np.empty(end - begin, np.bool_)
        for i in range(size):
            lane, at = worst[i] // LANES * LANES, worst[i] % LANES
            _copy(lanes_of(rows, kind, lane, gain), at, gains, i)
            _copy(shares_of(rows, share, kind, share.first[kind] + lane // LANES), at, own, i)
        for step in steps:
            pass_on(rows, begin, end - begin, gains, price, own, left, alive)
            shift_each(rows, begin, end - begin, own, left, alive, reaching, step)
        for i in range(size):
            block = share.first[kind] + worst[i] // LANES
            _copy(own, i, shares_of(rows, share, kind, block), worst[i] % LANES)


@njit(cache=True)
def _copy(values, i, result, k):
    """Column ``i`` to column ``k``; assigned slices would take seconds to compile."""
    for r in range(values.shape[0]):
        result[r, k] = values[r, i]


@njit(cache=True, error_model="numpy")
def _lost(rows, kind, gain, price, share, reach, selected):
    """What the bound of each copy with shares of its own exceeds the worth of its set by, the first copies' [n]."""
    begin, end = rows.first[kind], rows.first[kind + 1]
    result, known = np.zeros(count_of(rows, kind)), 0
    alive, room = np.empty(end - begin, np.bool_), np.empty((end - begin) * LANES)
    for lane in range(0, result.size, LANES):
        block = share.first[kind] + lane // LANES
        own = shares_of(rows, share, kind, block)
        gains, taken = lanes_of(rows, kind, lane, gain), lanes_of(rows, kind, lane, selected)
        if own.shape[1] == 1:
            break
        left, known = room[: gains.size].reshape(gains.shape), lane + gains.shape[1]
        pass_on(rows, begin, reach[block], gains, price, own, left, alive)
        for r in range(reach[block]):
            paid, at_top = price * rows.cost[begin + r], rows.before[begin + r] == rows.before[begin + r + 1]
            for i in range(left.shape[1]):
                result[lane + i] -= gains[r, i] - paid if taken[r, i] else 0.0
                result[lane + i] += left[r, i] if at_top and left[r, i] > 0.0 else 0.0
    return result[:known]


@dataclass(frozen=True, eq=False)
class Shared:
    """What all copies together receive.

    Attributes
    ----------
    selected : bool, of all lanes (`Copies.parts` takes them apart); down-closed for every copy, within the capacity.
    price : gain per unit that proves the bound; ``share``, of the rows' predecessors, belongs to it.
    """

    selected: np.ndarray
    price: float
    share: Shares


def share_out(
    copies: Copies,
    gain: np.ndarray,
    capacity: float,
    *,
    guess: float | None = None,
    share: Shares | None = None,
    fill: bool = True,
    spend_all: bool = False,
) -> Shared:
    """Choose refinements of all copies within a capacity.

    Surplus is split over predecessors in the same way for blocks of copies that lie side by side: the bound is that
    much looser than that of a graph alone. The first copies of each kind, which should be those that need most, have
    shares of their own (examples/lab/docs/decisions.md).

    Parameters
    ----------
    gain : float64 >= 0, of all lanes.
    capacity : in units, see `Copies.capacity`.
    guess : price per unit that the last step of a sequence ended with.
    share : shares to begin with, as of the last step; overwritten. Even ones by default.
    fill, spend_all : as ``finish`` and ``spend_all`` of `hra.Hull`.
    """
    rows, is_next = copies.rows, share is not None
    parts, gains = even_shares(copies) if share is None else share, in_blocks(rows, gain, np.empty(gain.size))
    if capacity < rows.cost @ np.diff(rows.at):
        if not guess:
            plain, most = plain_guess(rows, gain, capacity), highest_price(rows, float(gain.sum()))
            guess = rough_price(Search(rows, gains, parts, capacity, _ROUGHLY), plain, most)
        found = _clear(rows, gains, parts, capacity, guess, is_next)
    else:
        found = _all_that_gains(rows, gains, parts)
    if fill:
        surplus = np.empty(gain.size)
        surplus_at_price(rows, gains, found.price, parts, found.reach, surplus)
        fill_copies(rows, gains, surplus, found.price, capacity - found.spent, spend_all, found.selected)
    return Shared(in_rows(rows, found.selected, np.empty(gain.size, np.bool_)), found.bound_price, parts)


def _all_that_gains(rows: Rows, gain: np.ndarray, share: Shares) -> Cleared:
    """The best sets where the capacity is enough for everything."""
    selected, reach = np.empty(gain.size, np.bool_), all_rows(rows, share)
    spent, _, bound = sets_at_price(rows, gain, 0.0, share, reach, selected)
    return Cleared(selected, 0.0, spent, bound, 0.0, reach)


def _clear(rows: Rows, gain: np.ndarray, share: Shares, capacity: float, guess: float, is_next: bool) -> Cleared:
    """Find the price, and improve ``share`` in place near it: a little from step to step, more without a last one."""
    everything, reach = float(gain.sum()), all_rows(rows, share)
    most = highest_price(rows, everything)
    guess = min(guess or most, most)
    improve_shares(rows, gain, guess, share, reach, *(_NEXT if is_next else _FIRST))
    search = Search(rows, gain, share, capacity, _LITTLE)
    found = clearing_price(search, guess, most)
    # Where all that gains fits, no shares are better.
    if found.price == 0.0 or _is_good(search, everything):
        return found
    # At the price of the end: shares that suit another one lose more here.
    improve_worst(rows, gain, search.price, share, search.best.reach, search.tried, _FIRST[1])
    return clearing_price(Search(rows, gain, share, capacity, _LITTLE), search.price, most)


def _is_good(search: Search, everything: float) -> bool:
    """Whether shares lose little at the last price, beside what is missed at best of ``everything``."""
    return search.lost <= _GOOD * (everything - search.best.bound)

"""Copies within a capacity: one price, the sets at it, and what is left filled up."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from hra.solvers.copies.at_price import sets_at_price, surplus_at_price
from hra.solvers.copies.blocks import Shares, all_rows, even_shares
from hra.solvers.copies.copies import Copies, Rows
from hra.solvers.copies.fill import fill_copies
from hra.solvers.copies.lanes import in_blocks, in_rows
from hra.solvers.copies.price import FIRST_STEP, clearing_price, highest_price, plain_guess
from hra.solvers.copies.search import Cleared, Search
from hra.solvers.copies.shares import improve_shares
from hra.solvers.copies.worst import improve_worst

# Steps of the shares without a last step of a sequence, common ones and those of one copy alone; and after one.
_FIRST = np.array([6.0, 5.0, 4.0, 3.0]), 2.0 / (1.0 + 0.1 * np.arange(12))
_NEXT = np.full(1, 3.5), np.full(2, 2.0)
# Shares are good enough that lose so much of what is missed at best; else those of the worst copies make so many steps,
# and once more.
_GOOD, _WORST, _TIMES = 0.008, 2.0 / (1.0 + 0.1 * np.arange(8)), 2
# Filling takes what is left, of which this part of the capacity is little; even shares give a first price alone.
_LITTLE, _ROUGHLY = 1e-2, 0.05


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
        guess = guess or _rough_price(rows, gain, gains, parts, capacity)
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


def _rough_price(rows: Rows, gain: np.ndarray, gains: np.ndarray, share: Shares, capacity: float) -> float:
    """A price from even shares; ``gain`` lies row after row, ``gains`` in blocks."""
    most, plain = highest_price(rows, float(gain.sum())), plain_guess(rows, gain, capacity)
    return clearing_price(Search(rows, gains, share, capacity, _ROUGHLY), plain, most, FIRST_STEP).bound_price


def _clear(rows: Rows, gain: np.ndarray, share: Shares, capacity: float, guess: float, is_next: bool) -> Cleared:
    """Find the price, and improve ``share`` in place near it: a little from step to step, more without a last one."""
    everything, reach = float(gain.sum()), all_rows(rows, share)
    most = highest_price(rows, everything)
    guess = min(guess or most, most)
    improve_shares(rows, gain, guess, share, reach, *(_NEXT if is_next else _FIRST))
    search = Search(rows, gain, share, capacity, _LITTLE)
    for _ in range(_TIMES):
        search.at(guess)
        if _is_good(search, everything):
            # Elsewhere shares may be worse.
            clearing_price(search, guess, most)
            if _is_good(search, everything):
                return search.best
        guess = search.price
        improve_worst(rows, gain, guess, share, search.best.reach, search.tried, _WORST)
        search = Search(rows, gain, share, capacity, _LITTLE)
    return clearing_price(search, guess, most)


def _is_good(search: Search, everything: float) -> bool:
    """Whether shares lose little at the last price, beside what is missed at best of ``everything``."""
    return search.lost <= _GOOD * (everything - search.best.bound)

"""Copies within a capacity: one price, the sets at it, and what is left filled up."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from hra.solvers.copies.at_price import sets_at_price
from hra.solvers.copies.blocks import Shares, all_rows, even_shares
from hra.solvers.copies.copies import Copies
from hra.solvers.copies.fill import fill_copies
from hra.solvers.copies.price import Cleared, clearing_price, highest_price
from hra.solvers.copies.shares import improve_shares
from hra.solvers.copies.states import gain_of

# Steps of the shares without a last step of a sequence, common ones and those of one copy alone; after one; and more.
_FIRST = np.array([6.0, 5.0, 4.0, 3.0]), 2.0 / (1.0 + 0.1 * np.arange(12))
_NEXT = np.zeros(0), np.ones(1)
_MORE = np.array([3.0, 2.0]), np.full(6, 1.0)
# Shares are good enough that lose so much of what is missed at best; else more steps are made, so many times.
_GOOD, _TIMES = 0.007, 3
# Even shares give a first price; which part of the capacity it leaves does not matter.
_ROUGHLY = 0.05


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
    shares of their own (docs/decisions.md).

    Parameters
    ----------
    gain : float64 >= 0, of all lanes.
    capacity : in units, see `Copies.capacity`.
    guess : price per unit that the last step of a sequence ended with.
    share : shares to begin with, as of the last step; overwritten. Even ones by default.
    fill, spend_all : as ``finish`` and ``spend_all`` of `hra.Hull`.
    """
    rows, is_next = copies.rows, share is not None
    parts = even_shares(copies) if share is None else share
    selected, surplus = np.empty(gain.size, np.bool_), np.empty(gain.size)
    found = Cleared(selected, 0.0, 0.0, 0.0, 0.0, all_rows(rows, parts))
    if capacity < rows.cost @ np.diff(rows.at):
        found = _clear(copies, gain, parts, capacity, guess, is_next)
        selected = found.selected
    spent, _ = sets_at_price(rows, gain, found.price, parts, found.reach, selected, surplus)
    if fill:
        fill_copies(rows, gain, surplus, found.price, capacity - spent, spend_all, selected)
    return Shared(selected, found.bound_price, parts)


def _clear(
    copies: Copies, gain: np.ndarray, share: Shares, capacity: float, guess: float | None, is_next: bool
) -> Cleared:
    """Find the price, and improve ``share`` in place near it: a little from step to step, more without a last one."""
    rows, everything, times = copies.rows, float(gain.sum()), 0
    steps, most = _NEXT if is_next else _FIRST, highest_price(rows, everything)
    if not guess:
        guess = clearing_price(rows, gain, share, capacity, None, most, _ROUGHLY).bound_price
    while True:
        improve_shares(rows, gain, guess, share, all_rows(rows, share), *steps)
        found, times = clearing_price(rows, gain, share, capacity, guess, most), times + 1
        # What is left is filled up at about the price.
        gained = gain_of(gain, found.selected) + found.price * (capacity - found.spent)
        if found.bound - gained <= _GOOD * (everything - found.bound) or times == _TIMES:
            return found
        guess, steps = found.bound_price, _MORE

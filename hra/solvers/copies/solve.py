"""Copies within a capacity: one price, the sets at it, and what is left filled up."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from hra.solvers.copies.at_price import sets_at_price
from hra.solvers.copies.copies import Copies
from hra.solvers.copies.fill import fill_copies
from hra.solvers.copies.price import Cleared, clearing_price
from hra.solvers.copies.shares import improve_shares
from hra.solvers.dag.split_flow import even_shares

# Steps of the shares without a last step of a sequence; after one, which a part of the copies takes.
_FIRST_STEPS, _NEXT_STEP, _NEXT_EVERY = (6.0, 5.0, 4.0, 3.0), 1.0, 4


@dataclass(frozen=True, eq=False)
class Shared:
    """What all copies together receive.

    Attributes
    ----------
    selected : bool, of all lanes (`Copies.parts` takes them apart); down-closed for every copy, within the capacity.
    price : gain per unit that proves the bound; ``share`` float64 [E], of the rows' predecessors, belongs to it.
    """

    selected: np.ndarray
    price: float
    share: np.ndarray


def share_out(
    copies: Copies,
    gain: np.ndarray,
    capacity: float,
    *,
    guess: float | None = None,
    share: np.ndarray | None = None,
    fill: bool = True,
    spend_all: bool = False,
) -> Shared:
    """Choose refinements of all copies within a capacity.

    Surplus is split over predecessors in the same way for all copies of a kind: the bound is that much looser than
    that of a graph alone, by parts in a thousand of what remains for cluster meshes (docs/decisions.md).

    Parameters
    ----------
    gain : float64 >= 0, of all lanes.
    capacity : in units, see `Copies.capacity`.
    guess, share : price per unit and shares [E] that the last step of a sequence ended with, over the same kinds.
    fill, spend_all : as ``finish`` and ``spend_all`` of `hra.Hull`.
    """
    rows = copies.rows
    parts = even_shares(rows.before) if share is None else share.copy()
    selected, surplus = np.empty(gain.size, np.bool_), np.empty(gain.size)
    spent, _ = sets_at_price(rows, gain, 0.0, parts, selected, surplus)
    found = Cleared(selected, 0.0, 0.0, 0.0)
    if spent > capacity:
        found = _clear(copies, gain, parts, capacity, guess)
        selected = found.selected
        spent, _ = sets_at_price(rows, gain, found.price, parts, selected, surplus)
    if fill:
        fill_copies(rows, gain, surplus, found.price, capacity - spent, spend_all, selected)
    return Shared(selected, found.bound_price, parts)


def _clear(copies: Copies, gain: np.ndarray, share: np.ndarray, capacity: float, guess: float | None) -> Cleared:
    """Find the price, and improve ``share`` in place near it: a little from step to step, more without a last one."""
    if not guess:
        guess = clearing_price(copies.rows, gain, share, capacity, None).bound_price
        for step in _FIRST_STEPS:
            improve_shares(copies.rows, gain, guess, share, step, 1)
    else:
        improve_shares(copies.rows, gain, guess, share, _NEXT_STEP, _NEXT_EVERY)
    return clearing_price(copies.rows, gain, share, capacity, guess)

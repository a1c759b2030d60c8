"""Copies within a capacity: one price, the sets at it, and what is left filled up."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from hra.solvers.copies.at_price import sets_at_price
from hra.solvers.copies.copies import Copies
from hra.solvers.copies.fill import fill_copies
from hra.solvers.copies.price import Cleared, clearing_price
from hra.solvers.dag.split_flow import even_shares


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
    fill: bool = True,
    spend_all: bool = False,
) -> Shared:
    """Choose refinements of all copies within a capacity.

    Surplus is split evenly over predecessors, for all copies alike: the bound is that much looser than that of a graph
    alone, by parts in a thousand of what remains for cluster meshes (docs/decisions.md).

    Parameters
    ----------
    gain : float64 >= 0, of all lanes.
    capacity : in units, see `Copies.capacity`.
    guess : a price per unit, such as that of the last step of a sequence.
    fill, spend_all : as ``finish`` and ``spend_all`` of `hra.Hull`.
    """
    rows, share = copies.rows, even_shares(copies.rows.before)
    selected, surplus = np.empty(gain.size, np.bool_), np.empty(gain.size)
    spent, _ = sets_at_price(rows, gain, 0.0, share, selected, surplus)
    found = Cleared(selected, 0.0, 0.0, 0.0)
    if spent > capacity:
        found = clearing_price(rows, gain, share, capacity, guess)
        selected = found.selected
        spent, _ = sets_at_price(rows, gain, found.price, share, selected, surplus)
    if fill:
        fill_copies(rows, gain, surplus, found.price, capacity - spent, spend_all, selected)
    return Shared(selected, found.bound_price, share)

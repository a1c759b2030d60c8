"""Prices that are tried for all copies together, and what the best of them gave."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from hra.solvers.copies.at_price import sets_at_price
from hra.solvers.copies.blocks import Shares, all_rows
from hra.solvers.copies.copies import Rows

_EQUAL = 1e-4  # prices this close are one


@dataclass(frozen=True, eq=False)
class Cleared:
    """Sets within the capacity, and the best bound that was met.

    Attributes
    ----------
    selected : bool, of all lanes; ``price`` per unit, at which they are the sets of their copies; they cost ``spent``.
    bound_price : the price of the least ``bound``; no choice within the capacity gains more.
    reach : int64 [blocks], rows of each block beyond which nothing is in surplus at that price.
    """

    selected: np.ndarray
    price: float
    spent: float
    bound: float
    bound_price: float
    reach: np.ndarray


@dataclass(eq=False)
class Search:
    """Prices tried so far: sets at ``low`` cost too much, those at ``high`` fit.

    Attributes
    ----------
    gain : float64 >= 0, of all lanes in blocks; ``share`` : see `sets_at_price`.
    little : which part of the capacity may be left.
    price, tried, lost : the last one, the sets at it, and how far they are from their bound.
    """

    rows: Rows
    gain: np.ndarray
    share: Shares
    capacity: float
    little: float
    best: Cleared = field(init=False)
    tried: np.ndarray = field(init=False)
    price: float = np.inf
    lost: float = np.inf
    low: tuple[float, float] = (0.0, np.inf)
    high: tuple[float, float] = (np.inf, 0.0)
    reach: tuple[float, np.ndarray] = (np.inf, np.empty(0, np.int64))

    def __post_init__(self) -> None:
        self.tried = np.zeros(self.gain.size, np.bool_)
        self.best = Cleared(self.tried, np.inf, 0.0, np.inf, 0.0, np.empty(0, np.int64))

    def at(self, price: float) -> bool:
        """Try a price; whether its sets fit."""
        selected = np.empty(self.gain.size, np.bool_)
        # What is in surplus at no copy of a block is not at any higher price either.
        reach = all_rows(self.rows, self.share) if price < self.reach[0] else self.reach[1].copy()
        spent, worth, most = sets_at_price(self.rows, self.gain, price, self.share, reach, selected)
        if price < self.reach[0]:
            self.reach = price, reach
        bound, fits = most + price * self.capacity, spent <= self.capacity
        self.price, self.tried, self.lost = price, selected, most - worth
        least = min((self.best.bound, self.best.bound_price), (bound, price))
        kept = (selected, price, spent) if fits else (self.best.selected, self.best.price, self.best.spent)
        self.best = Cleared(*kept, *least, self.reach[1])
        if fits:
            self.high = price, spent
        else:
            self.low = price, spent
        return fits

    @property
    def done(self) -> bool:
        """Whether filling can do the rest."""
        little = self.capacity - self.high[1] <= self.little * self.capacity
        return self.high[0] < np.inf and (little or self.high[0] - self.low[0] <= _EQUAL * self.high[0])

    @property
    def aim(self) -> float:
        """What to spend, so that filling can do the rest: half of what is little below the capacity."""
        return (1.0 - 0.5 * self.little) * self.capacity

    def between(self, halve: bool) -> float:
        """A price between both ends: where the cost would be just done on a straight line of logarithms."""
        (low, much), (high, little) = self.low, self.high
        part = 0.5 if halve else (much - self.aim) / (much - little)
        return float(low * (high / low) ** min(max(part, 0.02), 0.98))

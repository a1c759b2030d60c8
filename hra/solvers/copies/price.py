"""The price at which all copies together just use up the capacity."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from hra.solvers.copies.at_price import sets_at_price
from hra.solvers.copies.blocks import Shares, all_rows
from hra.solvers.copies.copies import Rows
from hra.solvers.selection import select_threshold

# The first step away from a guess that comes from the last frame or from plain ratios; steps that fail are squared.
_LAST_STEP, FIRST_STEP = 1.02, 1.5
# Filling takes what is left, of which this part of the capacity is little; prices this close are one.
_LITTLE, _EQUAL, _STEPS = 1e-2, 1e-4, 60
# After so many prices that were too high everything that gains is tried.
_DOUBTS = 2
# Prices below this are none.
_LEAST = 1e-300
_SAMPLE = 8_192  # refinements that make the first guess


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
class _Search:
    """Prices tried so far: sets at ``low`` cost too much, those at ``high`` fit."""

    rows: Rows
    gain: np.ndarray
    share: Shares
    capacity: float
    little: float
    best: Cleared
    low: tuple[float, float] = (0.0, np.inf)
    high: tuple[float, float] = (np.inf, 0.0)
    reach: tuple[float, np.ndarray] = (np.inf, np.empty(0, np.int64))

    def at(self, price: float) -> bool:
        """Try a price; whether its sets fit."""
        selected = np.empty(self.gain.size, np.bool_)
        # What is in surplus at no copy of a block is not at any higher price either.
        reach = all_rows(self.rows, self.share) if price < self.reach[0] else self.reach[1].copy()
        spent, worth = sets_at_price(self.rows, self.gain, price, self.share, reach, selected)
        if price < self.reach[0]:
            self.reach = price, reach
        bound, fits = worth + price * self.capacity, spent <= self.capacity
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

    def between(self, halve: bool) -> float:
        """A price between both ends: where the cost would meet the capacity on a straight line of logarithms."""
        (low, much), (high, little) = self.low, self.high
        part = 0.5 if halve else (much - self.capacity) / (much - little)
        return float(low * (high / low) ** min(max(part, 0.02), 0.98))


def clearing_price(
    rows: Rows,
    gain: np.ndarray,
    share: Shares,
    capacity: float,
    guess: float,
    most: float,
    *,
    step: float = _LAST_STEP,
    little: float = _LITTLE,
) -> Cleared:
    """The least price, nearly, at which the sets of all copies fit into the capacity.

    Parameters
    ----------
    gain : float64 >= 0, of all lanes in blocks; not everything that gains fits.
    share : see `sets_at_price`.
    guess : a price per unit > 0, such as that of the last step of a sequence.
    most : see `highest_price`.
    step : the first one away from the guess, a factor.
    little : which part of the capacity may be left.
    """
    nothing = Cleared(np.zeros(gain.size, np.bool_), np.inf, 0.0, np.inf, 0.0, np.empty(0, np.int64))
    search = _Search(rows, gain, share, capacity, little, nothing)
    price, tried = min(guess, most), 1
    fits = search.at(price)
    while not search.done and (np.isinf(search.high[0]) or search.low[0] == 0.0):
        if fits and (price <= _LEAST or (tried == _DOUBTS and search.at(0.0))):
            break
        price, step, tried = min(max(price / step, _LEAST) if fits else price * step, most), step * step, tried + 1
        fits = search.at(price)
    for count in range(_STEPS):
        if search.done or search.low[0] == 0.0:
            break
        search.at(search.between(count % 3 == 2))
    return search.best


def highest_price(rows: Rows, everything: float) -> float:
    """A price at which nothing that costs anything is worth it, if all that there is gains ``everything``."""
    paid = rows.cost[rows.cost > 0]
    return float(max(2.0 * everything / paid.min(), _LEAST))


def plain_guess(rows: Rows, gain: np.ndarray, capacity: float) -> float:
    """The price at which refinements would be taken if none needed another, from a sample.

    ``gain`` is row after row, as of `Copies.parts`.
    """
    stride = gain.size // _SAMPLE | 1  # odd, for lanes whose pattern repeats in powers of two
    cost = np.repeat(rows.cost, np.diff(rows.at))[::stride]
    ratio = np.divide(gain[::stride], cost, out=np.zeros(cost.size), where=cost > 0)
    guess = select_threshold(ratio, cost, capacity / stride)
    return float(guess) if guess > 0 else float(ratio.max(initial=0.0) or 1.0)

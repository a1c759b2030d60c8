"""Prices that are tried for all copies together, up to the one at which they just use up the capacity."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from hra.solvers.copies.at_price import sets_at_price
from hra.solvers.copies.blocks import Shares, all_rows
from hra.solvers.copies.copies import Rows
from hra.solvers.selection import select_threshold

_EQUAL = 1e-4  # prices this close are one
# The first step away from a guess: at least from the last frame's price, and from plain ratios. Steps that fail are
# squared.
_LEAST_STEP, _FIRST_STEP = 1.002, 1.5
_STEPS = 60
# After this many prices that were too high everything that gains is tried.
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


def clearing_price(search: Search, guess: float, most: float, step: float | None = None) -> Cleared:
    """The least price, nearly, at which the sets of all copies fit into the capacity.

    Parameters
    ----------
    search : not everything that gains fits.
    guess : a price per unit > 0; it may have been tried.
    most : see `highest_price`.
    step : the first one away from the guess, a factor; by default a short one, as after the last step of a sequence.
    """
    price, tried = min(guess, most), 1
    fits = search.high[0] == price or (search.low[0] != price and search.at(price))
    step = _near(search, fits) if step is None else step
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


def rough_price(search: Search, guess: float, most: float) -> float:
    """A price that is good enough to improve shares at; where the guess was near nothing more is tried.

    ``guess`` and ``most`` are those of `clearing_price`.
    """
    price = min(guess, most)
    fits = search.at(price)
    step = 1.0 if search.done else _near(search, fits)
    if step < _FIRST_STEP:
        return price / step if fits else price * step
    return clearing_price(search, price, most, _FIRST_STEP).bound_price


def _near(search: Search, fits: bool) -> float:
    """The step that should end the search: costs of cluster meshes fall with about the third root of the price."""
    spent = max((search.high if fits else search.low)[1], 0.5 * search.capacity)
    ratio = min(spent / search.aim, search.aim / spent) if search.aim > 0.0 else 0.0
    return float(min(max(max(ratio, 0.5) ** -3.0, _LEAST_STEP), _FIRST_STEP))


def highest_price(rows: Rows, everything: float) -> float:
    """A price at which nothing that costs anything is worth it, if all that there is gains ``everything``."""
    paid = rows.cost[rows.cost > 0]
    return float(max(2.0 * everything / paid.min(), _LEAST))


def plain_guess(rows: Rows, gain: np.ndarray, capacity: float) -> float:
    """The price at which refinements would be taken if none needed another, from a sample.

    ``gain`` is row after row, as of `Copies.parts`.
    """
    stride = gain.size // _SAMPLE | 1  # odd, for lanes whose pattern repeats in powers of two
    cost = rows.cost[np.searchsorted(rows.at, np.arange(0, gain.size, stride), side="right") - 1]
    ratio = np.divide(gain[::stride], cost, out=np.zeros(cost.size), where=cost > 0)
    guess = select_threshold(ratio, cost, capacity / stride)
    return float(guess) if guess > 0 else float(ratio.max(initial=0.0) or 1.0)

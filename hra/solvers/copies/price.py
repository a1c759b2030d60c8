"""The price at which all copies together just use up the capacity."""

from __future__ import annotations

import numpy as np

from hra.solvers.copies.copies import Rows
from hra.solvers.copies.search import Cleared, Search
from hra.solvers.selection import select_threshold

# The first step away from a guess: at least from the last frame's price, and from plain ratios. Steps that fail are
# squared.
_LEAST_STEP, FIRST_STEP = 1.002, 1.5
_STEPS = 60
# After so many prices that were too high everything that gains is tried.
_DOUBTS = 2
# Prices below this are none.
_LEAST = 1e-300
_SAMPLE = 8_192  # refinements that make the first guess


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


def _near(search: Search, fits: bool) -> float:
    """The step that should end the search: costs of cluster meshes fall with about the root of the price."""
    spent = max((search.high if fits else search.low)[1], 0.5 * search.capacity)
    ratio = min(spent / search.aim, search.aim / spent) if search.aim > 0.0 else 0.0
    return float(min(max(max(ratio, 0.5) ** -2.0, _LEAST_STEP), FIRST_STEP))


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

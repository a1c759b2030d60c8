"""Two sets around the capacity, and the chord between them: where the next price comes from, and when to stop."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from hra.model.problem import Problem
from hra.model.sets import total

# Distances of both bounds of the relaxation when it is solved, and of a set that is as good as the best. Gaps are
# quoted against the gain and against what remains to be gained: distances are relative to whichever is less.
_SOLVED, _CLOSE_ENOUGH = 1e-5, 1e-4


@dataclass(eq=False)
class Chord:
    """The best sets known, as points of a plane with axes cost and gain.

    The chord runs from a set within the capacity to one beyond it. Its slope is the next price; a set that is worth
    more at that price lies above the chord and replaces one of its ends (Dantzig and Wolfe 1960, for one coupling
    constraint). At the capacity the chord is a lower bound of the relaxation.

    Attributes
    ----------
    low, high : (cost, gain) of the ends.
    everything : the gain of all refinements.
    selected : bool [R], the set of most gain within the capacity, and ``most``, its gain.
    bound : no set within the capacity gains more; found at ``bound_price``, proven by ``bound_share`` [E].
    """

    problem: Problem
    low: tuple[float, float]
    high: tuple[float, float]
    everything: float
    selected: np.ndarray
    most: float = 0.0
    bound: float = np.inf
    bound_price: float = 0.0
    bound_share: np.ndarray | None = None

    @classmethod
    def up_to(cls, problem: Problem, useful: np.ndarray) -> Chord:
        """From nothing to all that is ``useful`` [R], which costs too much."""
        cost, gain = total(problem.cost, useful), total(problem.gain, useful)
        return cls(problem, (0.0, 0.0), (cost, gain), gain, np.zeros(useful.size, np.bool_))

    @property
    def price(self) -> float:
        """Slope: gain per cost unit."""
        return (self.high[1] - self.low[1]) / (self.high[0] - self.low[0])

    def worth_at(self, price: float) -> float:
        """What the lower end is worth; where ``price`` is the slope, the upper end and all between them as well."""
        return self.low[1] - price * self.low[0]

    @property
    def at_capacity(self) -> float:
        """A lower bound of the relaxation."""
        # The relaxation may mix sets: the mixture of both ends that costs the capacity gains what the chord does
        # there.
        return self.worth_at(self.price) + self.price * self.problem.capacity

    @property
    def scale(self) -> float:
        """What distances are relative to."""
        return min(self.at_capacity, self.everything - self.at_capacity)

    @property
    def tolerance(self) -> float:
        """Distance of both bounds of the relaxation at which it counts as solved."""
        return _SOLVED * self.scale

    @property
    def solved(self) -> bool:
        """Whether both bounds of the relaxation agree."""
        return self.bound - self.at_capacity <= self.tolerance

    @property
    def settled(self) -> bool:
        """Whether the bound is close to what a set within the capacity gains."""
        return self.solved and self.bound - self.most <= _CLOSE_ENOUGH * self.scale

    def add(self, price: float, worth: float, share: np.ndarray, selected: np.ndarray) -> bool:
        """Note the set [R] found at a price, and an upper bound on the ``worth`` of all; whether it moved an end.

        ``share`` [E] is the split of surplus that proves the bound.
        """
        capacity = self.problem.capacity
        cost, gain = total(self.problem.cost, selected), total(self.problem.gain, selected)
        # Weak duality: at any price >= 0 a set within the capacity gains at most the best worth and what the capacity
        # is worth.
        if worth + price * capacity < self.bound:
            self.bound, self.bound_price, self.bound_share = worth + price * capacity, price, share.copy()
        if cost <= capacity and gain > self.most:
            self.selected, self.most = selected.copy(), gain
        # An end that is found again is worth what the chord is, whatever rounding says.
        is_new = (cost, gain) not in (self.low, self.high)
        above = is_new and gain - price * cost > self.worth_at(price)
        # A point above the chord in place of the end on its side of the capacity: the chord rises there.
        if above and cost <= capacity:
            self.low = cost, gain
        elif above:
            self.high = cost, gain
        return above

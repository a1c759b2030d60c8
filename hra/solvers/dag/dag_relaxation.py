"""The relaxation of the budget on DAGs: a set, a price and a valid bound.

A chord between two sets around the capacity suggests prices (see `Chord`). The sets come from a few cheap sweeps first
(see `split_flow`); where these do not close in, from maximum flows (see `max_closure`), each on what the last ones left
undecided: the best sets at falling prices are nested.

Two sets around the capacity, and the chord between them: where the next price comes from, and when to stop.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from hra.model.problem import Problem
from hra.model.sets import take_shrinking, take_with_predecessors, total
from hra.solvers.dag.max_closure import max_closure
from hra.solvers.dag.split_flow import better_set, even_shares, surplus_bound

# Sweeps before flows take over, and flows.
_SWEEPS, _FLOWS = 40, 50
# Refinements and edges that all flows together may visit: half a second or so. Where that is too little, as on grids of
# more than some 50,000 refinements, the bound is valid, but not the tightest.
_WORK = 4e7
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


def dag_relaxation(problem: Problem) -> tuple[np.ndarray, float, np.ndarray, float, None, np.ndarray | None]:
    """Solve the relaxation closely, or for as long as is reasonable (see `Chord.tolerance`).

    Returns
    -------
    selected : bool [R], down-closed and within the capacity.
    price : gain per unit cost.
    priority : float64 [R], gain per cost unit of each refinement with what it opens up.
    bound : no set within the capacity gains more, but for rounding.
    candidates : None, all refinements may be.
    share : float64 [E], the split of surplus that proves the bound, None where everything that gains is selected.
    """
    order, everything, useful = problem.hierarchy.predecessors, float(problem.gain.sum()), problem.gain > 0
    take_with_predecessors(*order, useful)
    if problem.hierarchy.shrinks:
        take_shrinking(*order, problem.cost, useful)
    if total(problem.cost, useful) <= problem.capacity:
        return useful, 0.0, problem.ratio, everything, None, None
    chord, share = Chord.up_to(problem, useful), even_shares(order[0])
    _sweep(chord, share)
    if not chord.solved:
        _flow(chord, share.copy())
    # Shares of sweeps even where flows gave the bound: those of a flow depend on how refinements are numbered.
    surplus = np.empty_like(problem.gain)
    surplus_bound(order, problem.gain, problem.cost, chord.bound_price, share, surplus)
    with np.errstate(over="ignore"):  # inf where a free refinement gains more than 1e108
        priority = chord.bound_price + surplus / problem.slope_cost
    # Rounding may leave what gains nothing a little under 0, where it would be no candidate at all.
    priority = np.maximum(priority, 0.0)
    return chord.selected, chord.bound_price, priority, min(chord.bound, everything), None, chord.bound_share


def _sweep(chord: Chord, share: np.ndarray) -> None:
    """Close in by sweeps, which improve ``share`` [E]."""
    problem, selected = chord.problem, np.empty_like(chord.selected)
    given = (problem.hierarchy.predecessors, problem.gain, problem.cost)
    # The highest price first: it yields what is free, and a bound where nothing else can be afforded.
    price, sweeps = price_range(problem)[1], _SWEEPS
    while sweeps > 0 and not chord.solved:
        known, tolerance = chord.worth_at(price), chord.tolerance
        worth, made = better_set(*given, price, share, sweeps, known, tolerance, selected)
        chord.add(price, worth, share, selected)
        sweeps -= made
        price = chord.price


def _flow(chord: Chord, share: np.ndarray) -> None:
    """Close in by maximum flows, which begin with ``share`` [E], until no set lies above the chord."""
    problem = chord.problem
    order, gain, cost = problem.hierarchy.predecessors, problem.gain, problem.cost
    surplus, work = np.empty_like(gain), _WORK
    taken, undecided = np.zeros(gain.size, np.bool_), np.arange(gain.size)
    for _ in range(_FLOWS):
        price, selected = chord.price, taken.copy()
        found = max_closure(order, (gain - price * cost)[undecided], undecided, share, work)
        best, work = found.selected, work - found.work
        selected[undecided[best]] = True
        above = chord.add(price, surplus_bound(order, gain, cost, price, share, surplus), share, selected)
        if chord.settled or not above or work <= 0:
            break
        if not found.is_best:
            continue
        # What is taken here is taken at all lower prices, what is not at none that is higher.
        fits = total(cost, selected) <= problem.capacity
        taken, undecided = (selected, undecided[~best]) if fits else (taken, undecided[best])


def price_range(problem: Problem) -> tuple[float, float]:
    """Prices between which all sets of the relaxation change.

    Below the first even the least gain pays for everything; above the second nothing that costs is worth it, whatever
    it opens up. (1, 1) where no refinement gains or none costs anything.
    """
    gaining, paid = problem.gain > 0, problem.cost > 0
    if not gaining.any() or not paid.any():
        return 1.0, 1.0
    low = problem.gain[gaining].min() / problem.cost[paid].sum()
    return float(low), float(problem.gain.sum() / problem.cost[paid].min())

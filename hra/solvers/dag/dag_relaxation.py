"""The relaxation of the budget on DAGs: a set, a price and a valid bound.

A chord between two sets around the capacity suggests prices (see `Chord`). The sets come from a few cheap sweeps first
(see `split_flow`); where these do not close in, from maximum flows (see `max_closure`), each on what the last ones left
undecided: the best sets at falling prices are nested. What cannot pay at a price that is too low is left out of both.

Two sets around the capacity, and the chord between them: where the next price comes from, and when to stop.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from hra.model.arrays import frozen
from hra.model.problem import Problem
from hra.model.sets import take_shrinking, take_with_predecessors, total
from hra.solvers.dag.max_closure import edges_among, hopeful, max_closure
from hra.solvers.dag.split_flow import better_set, closure, even_shares, surplus_bound

# Sweeps before flows take over, and flows; sweeps after them where no set is close to the bound, so that what fills the
# rest of the budget follows good shares.
_SWEEPS, _FLOWS, _MORE = 6, 50, 32
# Refinements from which on leaving some out saves more than it takes.
_MANY = 4096
# Refinements and edges that all flows together may visit: half a second or so. Where that is too little, as on grids of
# more than some 50,000 refinements, the bound is valid, but not the tightest.
_WORK = 4e7
# Distances of both bounds of the relaxation when it is solved, of a set that is as good as the best, and of one that is
# far from it. Gaps are quoted against the gain and against what remains to be gained: distances are relative to
# whichever is less.
_SOLVED, _CLOSE_ENOUGH, _FAR = 1e-5, 1e-4, 1e-2


class Part(NamedTuple):
    """Refinements of a problem with all that they need, of which the best sets are sought.

    Attributes
    ----------
    order, gain, cost : as of a problem, for these refinements [K] alone.
    among : int [K], their numbers there, ascending; edge : int [E], those of the edges between them.
    """

    order: tuple[np.ndarray, np.ndarray]
    gain: np.ndarray
    cost: np.ndarray
    among: np.ndarray
    edge: np.ndarray

    def of(self, chosen: np.ndarray) -> Part:
        """The refinements at these places, int [L]."""
        before, inner, edge = edges_among(*self.order, chosen)
        # What is read-only in a problem is here, too: for other kinds of arrays all solvers would be compiled again.
        order, cost = (frozen(before), frozen(inner)), frozen(self.cost[chosen])
        return Part(order, self.gain[chosen], cost, self.among[chosen], self.edge[edge])


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
        """Slope: gain per cost unit; 0 before two sets stand around a capacity below 0, as of what shrank in a pool."""
        width = self.high[0] - self.low[0]
        return (self.high[1] - self.low[1]) / width if width > 0 else 0.0

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

    def settled_by(self, bound: float) -> bool:
        """Whether a bound agrees with the chord, and is close to what a set within the capacity gains."""
        return bound - self.at_capacity <= self.tolerance and bound - self.most <= _CLOSE_ENOUGH * self.scale

    def add(self, part: Part, price: float, selected: np.ndarray) -> tuple[bool, float]:
        """Note the set [K] found at a price: whether it moved an end, and the bound if no set is worth more there."""
        capacity = self.problem.capacity
        cost, gain = total(part.cost, selected), total(part.gain, selected)
        if cost <= capacity and gain > self.most:
            self.selected, self.most = np.zeros_like(self.selected), gain
            self.selected[part.among[selected]] = True
        # An end that is found again is worth what the chord is, whatever rounding says.
        is_new = (cost, gain) not in (self.low, self.high)
        above = is_new and gain - price * cost > self.worth_at(price)
        # A point above the chord in place of the end on its side of the capacity: the chord rises there.
        if above and cost <= capacity:
            self.low = cost, gain
        elif above:
            self.high = cost, gain
        return above, gain - price * cost + price * capacity

    def prove(self, price: float, worth: float, share: np.ndarray) -> None:
        """Note an upper bound on the ``worth`` of all sets at a price, which the split ``share`` [E] proves."""
        # Weak duality: at any price >= 0 a set within the capacity gains at most the best worth and what the capacity
        # is worth.
        if worth + price * self.problem.capacity < self.bound:
            self.bound = worth + price * self.problem.capacity
            self.bound_price, self.bound_share = price, share.copy()


def dag_relaxation(problem: Problem) -> tuple[np.ndarray, float, np.ndarray, float, None, np.ndarray | None]:
    """Solve the relaxation closely, or for as long as is reasonable (see `Chord.tolerance`).

    Returns
    -------
    selected : bool [R], down-closed and within the capacity.
    price : gain per unit cost.
    priority : float64 [R], gain per cost unit of each refinement with what it opens up.
    bound : no set within the capacity gains more, up to rounding.
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
    whole = Part(order, problem.gain, problem.cost, np.arange(useful.size), np.arange(share.size))
    part, split = _sweep(chord, whole, share)
    if not chord.solved:
        _flow(chord, part, split.copy())
    if not chord.solved:
        _close_in(chord, part, split, _MORE)
    price, surplus = chord.bound_price, np.empty_like(part.gain)
    if chord.bound - chord.most > _FAR * chord.scale:
        closure(*part[:3], price, split, _MORE, np.empty(part.gain.size, np.bool_))
        chord.prove(price, surplus_bound(*part[:3], price, split, surplus), split)
    if part is not whole:
        share[part.edge] = split
    proof, surplus = share.copy(), np.empty_like(problem.gain)
    if chord.bound_share is not None:  # else every bound overflowed, and any split is as good
        proof[part.edge] = chord.bound_share
    bound = surplus_bound(*whole[:3], price, proof, surplus) + price * problem.capacity
    # Shares of sweeps even where flows gave the bound: those of a flow depend on how refinements are numbered.
    surplus_bound(*whole[:3], price, share, surplus)
    with np.errstate(over="ignore"):  # inf where a free refinement gains more than 1e108
        priority = price + surplus / problem.slope_cost
    # Rounding may leave what gains nothing a little under 0, where it would be no candidate at all.
    priority = np.maximum(priority, 0.0)
    return chord.selected, price, priority, min(bound, everything), None, proof


def _sweep(chord: Chord, whole: Part, share: np.ndarray) -> tuple[Part, np.ndarray]:
    """Close in by sweeps, which improve ``share`` [E]; the part that is left, and its shares."""
    # The highest price first: it yields what is free, and a bound where nothing else can be afforded.
    sweeps, too_low = _close_in(chord, whole, share, _SWEEPS, price_range(chord.problem)[1], _MANY)
    if too_low is None:
        return whole, share
    # What cannot pay at a price that is too low cannot at a higher one.
    part = whole.of(hopeful(*whole.order, whole.among, whole.gain - too_low * whole.cost, share))
    share, chord.bound = share[part.edge], np.inf
    _close_in(chord, part, share, sweeps)
    return part, share


def _close_in(
    chord: Chord, part: Part, share: np.ndarray, sweeps: int, price: float | None = None, many: float = np.inf
) -> tuple[int, float | None]:
    """Sweep at the chord's slopes, from ``price`` on; the sweeps that are left, and the last price if it was too low.

    Of ``many`` refinements and more, none of which costs less than nothing, it ends at the first price that was.
    """
    selected, capacity = np.empty(part.gain.size, np.bool_), chord.problem.capacity
    may_end = selected.size >= many and not chord.problem.hierarchy.shrinks
    price = chord.price if price is None else price
    while sweeps > 0 and not chord.solved:
        known, tolerance = chord.worth_at(price), chord.tolerance
        worth, made = better_set(*part[:3], price, share, sweeps, known, tolerance, selected)
        chord.add(part, price, selected)
        chord.prove(price, worth, share)
        sweeps -= made
        if may_end and total(part.cost, selected) > capacity:
            return sweeps, price
        price = chord.price
    return sweeps, None


def _flow(chord: Chord, part: Part, share: np.ndarray) -> None:
    """Close in by maximum flows, which begin with ``share`` [E], until no set lies above the chord."""
    order, gain, cost = part[:3]
    surplus, work = np.empty_like(gain), _WORK
    taken, undecided = np.zeros(gain.size, np.bool_), np.arange(gain.size)
    for left in reversed(range(_FLOWS)):
        price, selected = chord.price, taken.copy()
        with np.errstate(over="ignore"):
            worth = gain[undecided] - price * cost[undecided]
        if not np.isfinite(worth).all():  # flows of infinities leave shares that are no numbers, which prove nothing
            break
        found = max_closure(order, worth, undecided, share, work)
        best, work = found.selected, work - found.work
        selected[undecided[best]] = True
        above, bound = chord.add(part, price, selected)
        last = not above or work <= 0 or not left or chord.settled_by(min(bound, chord.bound))
        # A proof takes as long as many flows on what is still undecided: what a best set promises does until the end.
        if last or not found.is_best:
            chord.prove(price, surplus_bound(order, gain, cost, price, share, surplus), share)
        if last:
            break
        if not found.is_best:
            continue
        # What is taken here is taken at all lower prices, what is not at none that is higher.
        fits = total(cost, selected) <= chord.problem.capacity
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

"""Sequences without flicker: hysteresis, and a hard limit on what may change in one step."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np

from hra.compiling import njit
from hra.errors import HraError, check_kind
from hra.model.arrays import is_number
from hra.model.problem import Problem
from hra.model.sets import take_with_predecessors, total
from hra.model.solution import Solution
from hra.traversals.base import Traversal, is_whole
from hra.traversals.hull import Hull

# Places of a hierarchy that change by themselves under a threshold; each is what follows one of the first refinements.
_PLACES = 512
_GOLDEN = (5**0.5 - 1) / 2
# What places that change pull along may cost this part of what is there, or they do without: pictures would jump.
_MORE = 1 / 16


@dataclass(frozen=True)
class Coherent(Traversal):
    """Any traversal, held close to the last step of a sequence.

    The budget and what is pinned come first, then the limit on changes, then quality. While what is there fits, no step
    changes more than the limit allows. Where it no longer fits, the least gain per cost is dropped first until it does,
    even if that takes more changes than allowed, or more than another choice would need. What is pinned is taken in any
    case, and what lacks a predecessor since the siblings' order changed is mended. Without a previous allocation it is
    the plain traversal.

    With a `Threshold` a place is refined when its error is above tau, then at once until it is below ``tau / (1 +
    hysteresis)``, as far as other places need not change for it, or only a little; it stays until it is below that
    again, and changes once where the threshold alone changes it step by step. The first allocation lets places begin at
    different errors between both, so that they do not change together. So more is drawn than the threshold needs, as
    far as the budget allows; no error is above tau.

    Parameters
    ----------
    traversal : chooses where to go.
    hysteresis : refinements that are there count ``1 + hysteresis`` times their gain, of a `Threshold` their error: a
        change must be worth it.
    max_churn : at most this many refinements are taken or dropped in one step, as far as said above; None for any
        number.

    Examples
    --------
    >>> import hra
    >>> pixels, traversal = hra.Hierarchy.flat([1, 1, 1]), hra.Coherent(hysteresis=0.2)
    >>> first = hra.solve(pixels, 1, gains=[1.0, 0.9, 0.0], traversal=traversal)
    >>> second = hra.solve(pixels, 1, gains=[1.0, 1.1, 0.0], traversal=traversal, previous=first)
    >>> third = hra.solve(pixels, 1, gains=[1.0, 1.3, 0.0], traversal=traversal, previous=second)
    >>> second.cut, third.cut, third.churn
    (array([0]), array([1]), 2)
    """

    traversal: Traversal = Hull()  # noqa: RUF009 (a frozen dataclass)
    hysteresis: float = 0.1
    max_churn: int | None = None
    # Refinements that are joined would count as one change: the traversal within joins them, where it has to.
    any_cost: ClassVar[bool] = True

    def __post_init__(self) -> None:
        check_kind("traversal", self.traversal, Traversal, "write Coherent(hra.Hull(), hysteresis=0.1)")
        if not is_number(self.hysteresis) or not 0 <= self.hysteresis < np.inf:
            raise HraError(f"hysteresis must be >= 0, got {self.hysteresis!r}", where="Coherent")
        if self.max_churn is not None and not (is_whole(self.max_churn) and self.max_churn >= 0):
            raise HraError(f"max_churn must be an integer >= 0 or None, got {self.max_churn!r}", where="Coherent")

    def select(self, problem: Problem) -> Solution:
        """The traversal's choice for gains in favour of what is there, approached within ``max_churn`` changes."""
        previous = problem.previous
        if previous is None:
            target = self.traversal.solve(problem)
            return replace(target, selected=_held(problem, target, self.hysteresis)) if target.tau else target
        biased = replace(problem, gain=problem.gain * np.where(previous, 1 + self.hysteresis, 1.0))
        target = self.traversal.solve(biased)
        selected = _held(biased, target, self.hysteresis) if target.tau else target.selected
        if self.max_churn is not None:
            selected = _approach(biased, previous, selected, self.max_churn)
        # What bounds the biased gains is not a bound on the true ones, but its price and shares prove one.
        return Solution(selected, target.price, target.tau, target.share)


def _held(problem: Problem, target: Solution, hysteresis: float) -> np.ndarray:
    """The ``target`` of a threshold with what is there, and all of each place that changes, down to the lower error.

    Where that does not fit, with what is there; or else the target alone.
    """
    order, previous, tau = problem.hierarchy.predecessors, problem.previous, target.tau or 0.0
    place = np.arange(problem.peak.size)
    _inherit(*order, place)
    worth = problem.peak * (1 + hysteresis) > tau
    if previous is None:
        # Multiples of the golden ratio spread any number of places evenly (Knuth, volume 3, section 6.4).
        wanted = [problem.peak * (1 + hysteresis) ** (place * _GOLDEN % 1) > tau]
    else:
        changing = np.zeros(place.size, np.bool_)
        changing[place[target.selected & ~previous]] = True
        kept, more = worth & previous, worth & (previous | changing[place])
        there, whole = target.selected | kept, target.selected | more
        take_with_predecessors(*order, whole)
        if total(problem.cost, whole) > (1 + _MORE) * total(problem.cost, there):
            # Most of it comes before what they want, in places that need no change.
            more = target.selected | more
            _drop_open(*order, more)
        wanted = [more, kept]
    for more in wanted:
        selected = target.selected | more
        take_with_predecessors(*order, selected)
        if total(problem.cost, selected) <= problem.capacity:
            return selected
    return target.selected


@njit(cache=True)
def _inherit(offsets, predecessors, place):
    """Give what comes after the first refinements the place [R] of one that it follows: neighbours share a place."""
    for r in range(_PLACES, place.size):
        count = offsets[r + 1] - offsets[r]
        if count:
            # Any of them in turn: by the last one alone, a few places would take over.
            place[r] = place[predecessors[offsets[r] + r % count]]


def _approach(problem: Problem, previous: np.ndarray, target: np.ndarray, changes: int) -> np.ndarray:
    """The set reached from ``previous`` on the way to ``target`` in at most ``changes`` steps, most valuable first."""
    hierarchy, selected = problem.hierarchy, _nearest_closed(problem.hierarchy.predecessors, previous)
    changes -= int(np.count_nonzero(selected != previous))
    if problem.pinned is not None:
        selected, target = selected | problem.pinned, target | problem.pinned
    rank = problem.ratio.copy()
    _fall(*hierarchy.predecessors, rank)
    order = np.lexsort((np.arange(rank.size), -rank))
    back = order[::-1]  # chosen from after it is turned, what is removed has no gaps: of one kind, compiled once
    additions, removals = order[(target & ~selected)[order]], back[(selected & ~target)[back]]
    left = problem.capacity - total(problem.cost, selected)
    left = _move(*hierarchy.predecessors, problem.cost, additions, removals, left, changes, selected)
    # Where what would make room are refinements that cost less than nothing, it may take more changes than allowed, and
    # the budget comes first.
    return selected if left >= 0 else target


def _nearest_closed(order: tuple[np.ndarray, np.ndarray], previous: np.ndarray) -> np.ndarray:
    """The down-closed set with the fewer changes of two: what has all before it, or all and what it needs."""
    kept, filled = previous.copy(), previous.copy()
    _drop_open(*order, kept)
    take_with_predecessors(*order, filled)
    return kept if np.count_nonzero(previous & ~kept) <= np.count_nonzero(filled & ~previous) else filled


@njit(cache=True)
def _drop_open(offsets, predecessors, selected):
    """Leave out of ``selected`` [R] what comes after something that is not in it."""
    for r in range(selected.size):
        for k in range(offsets[r], offsets[r + 1]):
            selected[r] = selected[r] and selected[predecessors[k]]


@njit(cache=True)
def _fall(offsets, predecessors, rank):
    """Lower every rank to the least of its predecessors', so that sorting by rank keeps the partial order."""
    for r in range(rank.size):
        for k in range(offsets[r], offsets[r + 1]):
            rank[r] = min(rank[r], rank[predecessors[k]])


@njit(cache=True)
def _move(offsets, predecessors, cost, additions, removals, left, changes, selected):
    """Drop what does not fit, then add from the front of ``additions``, dropping from ``removals`` to make room.

    Returns what is left of the capacity, less than 0 where dropping was not enough.
    """
    gone = 0
    while left < 0.0 and gone < removals.size:
        selected[removals[gone]] = False
        left += cost[removals[gone]]
        gone += 1
        changes -= 1
    for r in additions:
        ready = True
        for k in range(offsets[r], offsets[r + 1]):
            ready = ready and selected[predecessors[k]]
        room, needed = left, 0
        while room < cost[r] and gone + needed < removals.size:
            room += cost[removals[gone + needed]]
            needed += 1
        if not ready or room < cost[r] or needed + 1 > changes:
            continue
        for _ in range(needed):
            selected[removals[gone]] = False
            gone += 1
        selected[r] = True
        left = room - cost[r]
        changes -= needed + 1
    return left

"""Minimum shares of the cut for single levels: so much of the budget goes to the coarsest, so much to the finest."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar

import numpy as np

from hra.errors import HraError, wrong_kind
from hra.model.arrays import is_number
from hra.model.precise import ceiling, precise_total
from hra.model.problem import Problem
from hra.model.sets import total
from hra.model.solution import Solution
from hra.solvers.duals import certify
from hra.solvers.level_shares.dual import Closure, Dual, closures_of, least_bound
from hra.solvers.level_shares.enumeration import first_found
from hra.solvers.level_shares.needs import Needs
from hra.solvers.level_shares.refusal import is_impossible, refusal
from hra.solvers.level_shares.search import mend_shares
from hra.traversals.base import Traversal, is_whole
from hra.traversals.hull import Hull

# Sets that the search starts from at most, and the relative gap below which it stops.
_STARTS, _CLOSE_ENOUGH = 4, 1e-4


@dataclass(frozen=True)
class LevelShares(Traversal):
    """The most gain of which every level has at least its share: the answer of `Hull`, if that does not meet them.

    Every minimum gets a price of its own beside that of the budget (Everett 1963); the prices of the least bound come
    from column generation, and the sets on the way are mended by local search until all minimums are met. The bound
    holds for all sets that meet them. ``LevelShares({3: 0.1})`` keeps a tenth of the budget for level 3.

    Parameters
    ----------
    shares : level -> share of the budget, 0 .. 1, that active nodes of the level must cost at least. Of a budget that
        exceeds full detail, of what full detail costs.
    least : level -> cost of its active nodes at least, in the hierarchy's cost unit; with a share too, the larger one.
    level : name of the node attribute that says which level a node is of; None for the depth below the base (0).
    spend_all : also take refinements that gain nothing while they fit, so that reachable counts are met to the unit.

    Examples
    --------
    >>> import hra
    >>> pixels = hra.Hierarchy.flat([1, 1, 1, 1], attributes={"level": [0, 0, 1, 1]})
    >>> hra.solve(pixels, 2, gains=[9.0, 8.0, 2.0, 1.0], traversal=hra.LevelShares({1: 0.5})).cut
    array([0, 2])
    """

    shares: Mapping[int, float] = field(default_factory=dict)
    least: Mapping[int, float] = field(default_factory=dict)
    level: str | None = "level"
    spend_all: bool = False
    any_cost: ClassVar[bool] = True

    def __post_init__(self) -> None:
        if not isinstance(self.spend_all, (bool, np.bool_)):
            raise wrong_kind("spend_all", self.spend_all, bool, "use spend_all=True or spend_all=False")
        if not isinstance(self.level, (str, type(None))):
            raise wrong_kind("level", self.level, str, "name a node attribute, or use None for the depth")
        _check("shares", self.shares, 1.0)
        _check("least", self.least, np.finfo(np.float64).max)
        if sum(self.shares.values()) > 1 + 1e-9:
            what = f"the shares add up to {sum(self.shares.values()):.6g}"
            raise HraError(what, where="LevelShares.shares", fix="they are parts of one budget: at most 1")

    def select(self, problem: Problem) -> Solution:
        """A set that keeps the budget and all minimums, with a bound for such sets.

        Raises
        ------
        InfeasibleShares : no set does, or none was found; the message says which, and what is possible.
        HierarchyError : the nodes have no attribute ``level``.
        ArrayError : it is not one integer per node.
        """
        minimums = (self.level, self.shares, self.least)
        needs = loose = Needs.of(problem, *minimums)
        if not problem.hierarchy.units.exact:
            loose = Needs.of(problem, *minimums, loose=True)
        plain = Hull(spend_all=self.spend_all).solve(problem)
        if needs.met_by(plain.selected):
            return plain
        best = closures_of(problem.hierarchy)
        dual = least_bound(best, problem.gain, loose, _penalty(problem))
        selected = self._best_mended(problem, needs, dual, [*dual.sets, plain.selected])
        if selected is None:
            selected = self._mend(problem, needs, dual, self._any_set(problem, needs, loose, best))
        # The minimums only make the best set worse: what bounds all sets bounds those that meet them, too.
        proven = certify(problem, selected, plain.price or 0.0, plain.share).shortfall
        gained = precise_total(problem.gain, selected)
        short = max(ceiling((dual.bound, -gained[0], -gained[1])), 0.0)
        return Solution(selected, float(dual.prices[0]), shortfall=min(short, proven), restricted=True)

    def _mend(self, problem: Problem, needs: Needs, dual: Dual, start: np.ndarray) -> np.ndarray:
        return mend_shares(problem, needs, problem.gain + needs.change @ dual.prices, start, spend_all=self.spend_all)

    def _best_mended(self, problem: Problem, needs: Needs, dual: Dual, sets: list[np.ndarray]) -> np.ndarray | None:
        """The best of what local search makes of the most promising ``sets``; None if it met the needs from none."""
        best, best_rank = None, (np.inf, np.inf)
        for start in _starts(problem, needs, dual, sets):
            selected = self._mend(problem, needs, dual, start)
            if not needs.met_by(selected):
                continue
            unused, gain = float(needs.left(selected)[0]) if self.spend_all else 0.0, total(problem.gain, selected)
            if (unused, -gain) < best_rank:
                best, best_rank = selected, (unused, -gain)
            if unused <= 0 and gain >= dual.bound * (1 - _CLOSE_ENOUGH):
                break
        return best

    def _any_set(self, problem: Problem, needs: Needs, loose: Needs, best: Closure) -> np.ndarray:
        """A set that meets all needs, whatever it gains; that there is none is said of the ``loose`` ones."""
        no_gain = replace(problem, gain=np.zeros_like(problem.gain))
        possible = least_bound(best, no_gain.gain, loose, 1.0)
        if is_impossible(loose, possible):
            raise refusal(problem, loose, best, possible, proven=True)
        selected = self._best_mended(no_gain, needs, possible, possible.sets)
        if selected is not None:
            return selected
        selected, finished = first_found(problem, needs)
        if selected is None:
            raise refusal(problem, loose, best, possible, proven=finished and needs is loose)
        return selected


def _starts(problem: Problem, needs: Needs, dual: Dual, sets: list[np.ndarray]) -> list[np.ndarray]:
    """The sets that lose least of the bound if all that they lack and all that they leave is paid at its price."""
    lost = []
    for selected in sets:
        left = needs.left(selected)
        lost.append(float(dual.prices @ (np.abs(left) - left)) - total(problem.gain, selected))
    return [sets[i] for i in np.argsort(lost, kind="stable")[:_STARTS].tolist()]


def _penalty(problem: Problem) -> float:
    """A price at which no gain is worth the least shortage that whole refinements can make."""
    paid = problem.cost[problem.cost > 0]
    return 10.0 * max(float(problem.gain.sum()), 1e-300) / float(paid.min(initial=1.0))


def _check(name: str, minimums: Any, most: float) -> None:
    where = f"LevelShares.{name}"
    if not isinstance(minimums, Mapping):
        what = f"{name} must map levels to numbers, got {type(minimums).__name__}"
        raise HraError(what, where=where, fix="pass a dict such as {0: 0.25, 3: 0.1}")
    for level, value in minimums.items():
        if not is_whole(level):
            raise HraError(f"a level is an integer, got {level!r}", where=where)
        if not is_number(value) or not 0 <= value <= most:
            limit = "a number >= 0" if most > 1 else "a share from 0 to 1"
            raise HraError(f"a minimum must be {limit}, got {value!r}", where=f"{where}[{level}]")

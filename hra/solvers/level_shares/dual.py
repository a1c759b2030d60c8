"""The Lagrangian dual of several needs at once: one price per need, by column generation.

At prices p >= 0 every refinement is worth gain + p . change, and no set that meets all needs gains more than the
maximum closure of these values + p . slack (weak duality, for any p). The least such bound is found by the method of
Dantzig and Wolfe (1960), which is Kelley's cutting planes (1960) seen from the primal side: the sets met so far are the
columns of a small linear program, whose dual prices ask for the next set.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from hra.compiling import njit
from hra.model.hierarchy import Hierarchy
from hra.model.precise import ulps
from hra.solvers.dag.split_flow import closure, even_shares
from hra.solvers.forest.pava import relaxed_gain
from hra.solvers.level_shares.needs import Needs

# Sets asked for at most; a relative distance between bound and linear program that is close enough; pivots per set.
_SETS, _CLOSED, _PIVOTS = 100, 1e-6, 30
# Sweeps per price on a DAG; shares of surplus are kept from price to price.
_SWEEPS = 300

# Values [R] to the most that a down-closed set is worth, or more, and a good set [R].
Closure = Callable[[np.ndarray], tuple[float, np.ndarray]]


@dataclass(frozen=True, eq=False)
class Dual:
    """The least bound that was found.

    Attributes
    ----------
    prices : float64 [1 + K], >= 0, gain per cost unit: of the budget and of each level's need.
    bound : no set that meets all needs gains more; rounded up.
    sets : bool [S, R], down-closed sets met on the way.
    """

    prices: np.ndarray
    bound: float
    sets: list[np.ndarray]


def closures_of(hierarchy: Hierarchy) -> Closure:
    """Maximum closures of one hierarchy: exact on forests, a set and a bound from split surplus on DAGs."""
    order = hierarchy.predecessors
    share = even_shares(order[0])

    def of_forest(value: np.ndarray) -> tuple[float, np.ndarray]:
        worth = np.empty(value.size)
        most = relaxed_gain(hierarchy.first_child, value, hierarchy.unit_cost, 0.0, worth)
        return most, _worth_taking(hierarchy.parent, worth)

    def of_dag(value: np.ndarray) -> tuple[float, np.ndarray]:
        selected = np.zeros(value.size, np.bool_)
        return closure(order, value, hierarchy.unit_cost, 0.0, share, _SWEEPS, selected), selected

    return of_dag if hierarchy.parent is None else of_forest


@njit(cache=True)
def _worth_taking(parent, worth):
    """The down-closed set bool [R] of what is worth something together with all before it."""
    selected = np.empty(parent.size, np.bool_)
    for r in range(parent.size):
        selected[r] = worth[r] > 0.0 and (parent[r] < 0 or selected[parent[r]])
    return selected


def least_bound(best: Closure, gain: np.ndarray, needs: Needs, penalty: float) -> Dual:
    """Prices up to ``penalty`` that make the bound small, and the sets that they ask for."""
    master = _Master(needs.slack, penalty)
    prices, bound, sets = np.zeros(needs.slack.size), np.inf, []
    for _ in range(_SETS):
        trial, target = master.prices()
        worth = gain + needs.change @ trial
        most, selected = best(worth)
        # Weak duality: a bound at any prices, so that the search may end anywhere.
        value = most + float(trial @ needs.slack) + _rounding(gain, needs, trial)
        if value < bound:
            prices, bound = trial, value
        # The program over the sets met so far reaches at most what that over all sets does: where it comes to the
        # bound, no further set lowers it.
        if bound - target <= _CLOSED * abs(bound):
            break
        sets.append(selected)
        if not master.add(float(gain[selected].sum()), needs.left(selected)):
            break
    return Dual(prices, bound, sets)


def _rounding(gain: np.ndarray, needs: Needs, prices: np.ndarray) -> float:
    """What rounding can take off the bound at these prices; sweeps on graphs add up as many terms as refinements."""
    magnitude = float(gain.sum() + (np.abs(needs.change) @ prices).sum() + np.abs(needs.slack) @ prices)
    return ulps(4 * gain.size + 4 * prices.size, magnitude)


class _Master:
    """Shares of the sets met so far that gain most together and meet all needs on average; what is missing is fined.

    A revised simplex whose rows are the needs and the sum of the shares, kept as an explicit inverse: there are only a
    few needs. Columns come in this order: excess of each need, shortage of each need, sets.
    """

    def __init__(self, slack: np.ndarray, penalty: float) -> None:
        size = slack.size
        unit = np.eye(size + 1)[:, :size]
        self._columns = np.hstack([-unit, unit, np.r_[slack, 1.0][:, None]])
        self._gain = np.r_[np.zeros(size), np.full(size, -penalty), 0.0]
        # The empty set alone: what it has too much is excess, what it lacks is shortage.
        self._basis = np.r_[np.where(slack >= 0, 0, size) + np.arange(size), 2 * size]
        self._invert()

    def prices(self) -> tuple[np.ndarray, float]:
        """Dual prices of the needs, cut to what rounding may not break, and the gain that the shares reach."""
        dual = self._gain[self._basis] @ self._inverse
        return np.maximum(-dual[:-1], 0.0), float(self._gain[self._basis] @ self._share)

    def add(self, gain: float, left: np.ndarray) -> bool:
        """Offer a set with what it leaves of the needs; False if it changes nothing."""
        self._columns = np.hstack([self._columns, np.r_[left, 1.0][:, None]])
        self._gain = np.r_[self._gain, gain]
        moved = False
        for _ in range(_PIVOTS):
            if not self._pivot():
                break
            moved = True
        self._invert()
        return moved

    def _pivot(self) -> bool:
        """Let the column that pays most enter the basis; False if none pays."""
        dual = self._gain[self._basis] @ self._inverse
        reduced = self._gain - dual @ self._columns
        # Reduced gains: what a column brings beyond the prices of what it uses. Those of the basis are 0 except for
        # rounding.
        reduced[self._basis] = 0.0
        entering = int(np.argmax(reduced))
        if reduced[entering] <= 1e-12 * np.abs(self._gain[self._basis]).max(initial=1e-300):
            return False
        step = self._inverse @ self._columns[:, entering]
        # The ratio test: the share that falls to zero first leaves, so that none becomes negative.
        falling = step > 1e-12 * np.abs(step).max()
        ratio = np.where(falling, self._share / np.where(falling, step, 1.0), np.inf)
        leaving = int(np.argmin(ratio))
        if not np.isfinite(ratio[leaving]):
            return False
        left, self._basis[leaving] = self._basis[leaving], entering
        if not self._invert():
            # Needs of 2**52 units beside shares of 1: what the step says of the column is rounding. Without it the
            # prices are no worse than before, and bound as well.
            self._basis[leaving] = left
            self._invert()
            return False
        return True

    def _invert(self) -> bool:
        """Invert the basis; False, and nothing changed, where rounding leaves it singular."""
        try:
            inverse = np.linalg.inv(self._columns[:, self._basis])
        except np.linalg.LinAlgError:
            return False
        if not np.isfinite(inverse).all():
            return False
        self._inverse, self._share = inverse, np.maximum(inverse[:, -1], 0.0)
        return True

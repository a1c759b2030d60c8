"""What each of many copies received.

What a pool of all these members would hold is made only on demand: the union of all with its certificate, and
for each copy its problem and its allocation.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import partial
from itertools import pairwise
from typing import Any

import numpy as np

from hra.allocating.allocation import Allocation, ratio
from hra.caching import cached_property
from hra.errors import HraError
from hra.model.hierarchy import Hierarchy
from hra.model.metrics import ErrorMetric
from hra.model.problem import Problem, refinement_peak_of
from hra.model.solution import Solution
from hra.model.units import rescale
from hra.pooling.bids import Bid, bid_of
from hra.pooling.union import edge_order, join_problems, union
from hra.solvers.copies.blocks import Shares, shares_of_copy
from hra.solvers.copies.copies import Copies
from hra.solvers.copies.shortfall import shortfall_of_copies
from hra.solvers.copies.solve import Shared
from hra.solvers.copies.states import are_down_closed, count_changes, counts_of, cuts_of


@dataclass(frozen=True, eq=False)
class Kind:
    """Copies of one hierarchy that one metric judges.

    Attributes
    ----------
    contexts : one for each of I copies.
    previous : bool [R, I], what the copies' last step took, or None outside of a sequence.
    """

    hierarchy: Hierarchy
    metric: ErrorMetric
    contexts: Sequence[Any]
    previous: np.ndarray | None = None


def problem_of(kind: Kind, gain: np.ndarray, least_error: np.ndarray, i: int) -> Problem:
    """The problem of one copy of a ``kind``, with an infinite budget."""
    metric, context = kind.metric, kind.contexts[i]
    peak = partial(refinement_peak_of, kind.hierarchy, metric, context)
    previous = None if kind.previous is None else np.ascontiguousarray(kind.previous[:, i])
    own, left = np.ascontiguousarray(gain[:, i]), float(least_error[i])
    return Problem(
        kind.hierarchy, own, left, np.inf, metric.unit, metric.additive, peak, previous=previous, metric=metric
    )


def cuts_each(kind: Kind, selected: np.ndarray) -> list[np.ndarray]:
    """Ids of the active nodes of each copy of a ``kind``, ascending."""
    ends, nodes = cuts_of(kind.hierarchy.added_by, kind.hierarchy.removed_by, selected)
    return [nodes[begin:end] for begin, end in pairwise(ends.tolist())]


def lane_shares(copies: Copies, share: Shares) -> list[np.ndarray]:
    """How each copy splits surplus, float64 [E] each, kind by kind."""
    return [shares_of_copy(copies.rows, share, kind, i) for kind, n in enumerate(copies.counts) for i in range(n)]


def join_copies(
    problems: Sequence[Problem],
    taken: Sequence[np.ndarray],
    prices: tuple[float, Sequence[np.ndarray]],
    budget: float,
    seconds: float,
    contexts: tuple[Any, ...],
) -> Allocation:
    """The allocation over the union of some copies.

    Parameters
    ----------
    taken : bool [R], of each; ``prices`` : per unit, and the shares [E] of each that belong to it.
    """
    hierarchies = [problem.hierarchy for problem in problems]
    whole, places = union(hierarchies)
    problem = join_problems(whole, problems, places, budget)
    selected = np.empty(len(whole), np.bool_)
    selected[np.concatenate(places)] = np.concatenate(taken)
    price = rescale(prices[0], hierarchies[0].units.size, whole.units.size)
    share = None if whole.parent is not None else np.concatenate(prices[1])[edge_order(hierarchies, places)]
    return Allocation(problem, Solution(selected, price, share=share), seconds, contexts)


@dataclass(frozen=True, eq=False)
class CopiesAllocation:
    """What each copy received. `whole` and `members`, as of any pool, are made when they are first read.

    Attributes
    ----------
    kinds : what was shared out, see `allocate_copies`.
    order : int [M], which copy each member is, counted through all kinds.
    copies, gain, shared : the numbers of all lanes, as `hra.solvers.copies` has them.
    least_error : float64 [I] for each kind, error that remains at full detail.
    budget : in cost units; seconds : metric and solution together, without compilation.
    """

    kinds: tuple[Kind, ...]
    order: np.ndarray
    copies: Copies
    gain: np.ndarray
    least_error: tuple[np.ndarray, ...]
    shared: Shared
    budget: float
    seconds: float

    def __post_init__(self) -> None:
        self.shared.selected.flags.writeable = False  # before views of it are kept
        if not are_down_closed(self.copies.rows, self.shared.selected):
            raise HraError("a refinement was taken without its predecessors", fix="report this as a bug")
        if not self.cost <= self.budget:
            raise HraError(f"{self.cost} were spent of {self.budget}", fix="report this as a bug")

    @cached_property
    def selected(self) -> tuple[np.ndarray, ...]:
        """Refinements taken, bool [R, I] for each kind."""
        return tuple(self.copies.parts(self.shared.selected))

    @cached_property
    def cost(self) -> float:
        """Cost of all cuts, exact."""
        kinds = zip(self.copies.hierarchies, self.selected, strict=True)
        spent = sum(float(hierarchy.unit_cost @ counts_of(taken)) for hierarchy, taken in kinds)
        return self.copies.hierarchies[0].units.cost(self.copies.base_units + spent)

    @cached_property
    def price(self) -> float:
        """Lambda: the largest gain per cost unit that the budget does not serve in full; 0 if it serves all."""
        return rescale(self.shared.price, self.copies.hierarchies[0].units.size, Fraction(1))

    @cached_property
    def bids(self) -> tuple[Bid, ...]:
        """Per member, what its last unit gained and what the next one would."""
        return tuple(bid_of(member) for member in self.members)

    @cached_property
    def residual(self) -> float:
        """Error that remains, in the metric's unit."""
        missed = np.where(self.shared.selected, 0.0, self.gain)
        return float(sum(part.sum() for part in self.least_error) + missed.sum())

    @cached_property
    def shortfall(self) -> float:
        """No choice within the budget gains more than so much more; never rounded down."""
        capacity = self.copies.capacity(self.budget)
        return shortfall_of_copies(self.copies, self.gain, self.shared, capacity)

    @property
    def residual_gap(self) -> float:
        """Shortfall / least possible residual; 0 / 0 = 0, inf if only the latter is 0."""
        return ratio(self.shortfall, max(self.residual - self.shortfall, 0.0))

    @cached_property
    def churn(self) -> int | None:
        """Number of refinements that changed since the last step of a sequence; None outside a sequence."""
        before = [kind.previous for kind in self.kinds]
        pairs = [(then, now) for then, now in zip(before, self.selected, strict=True) if then is not None]
        return sum(count_changes(then, now) for then, now in pairs) if len(pairs) == len(before) else None

    @cached_property
    def cuts(self) -> tuple[np.ndarray, ...]:
        """Ids of the active nodes of each member, ascending, int64 [K]."""
        return tuple(
            self._in_order([cut for kind in zip(self.kinds, self.selected, strict=True) for cut in cuts_each(*kind)])
        )

    @cached_property
    def members(self) -> tuple[Allocation, ...]:
        """One allocation per member, whose budget is what the pool gave to it."""
        given = zip(
            self._problems,
            self._taken,
            self._in_order([context for kind in self.kinds for context in kind.contexts]),
            strict=True,
        )
        price = self.shared.price
        return tuple(
            Allocation(replace(own, budget=own.hierarchy.cost_of(taken)), Solution(taken, price), self.seconds, context)
            for own, taken, context in given
        )

    @cached_property
    def whole(self) -> Allocation:
        """The allocation over the union of all copies; its gap certifies the split as well."""
        prices = self.shared.price, self._in_order(lane_shares(self.copies, self.shared.share))
        contexts = tuple(member.context for member in self.members)
        return join_copies(self._problems, self._taken, prices, self.budget, self.seconds, contexts)

    @cached_property
    def _problems(self) -> list[Problem]:
        """One problem per member, with an infinite budget."""
        given = zip(self.kinds, self.copies.parts(self.gain), self.least_error, strict=True)
        return self._in_order([problem_of(*of_kind, i) for of_kind in given for i in range(len(of_kind[0].contexts))])

    @cached_property
    def _taken(self) -> list[np.ndarray]:
        return self._in_order([np.ascontiguousarray(lane) for taken in self.selected for lane in taken.T])

    def _in_order(self, values: list[Any]) -> list[Any]:
        """One value per copy, as one per member."""
        return [values[place] for place in self.order.tolist()]

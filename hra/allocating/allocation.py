"""The result of an allocation: what was chosen, what it costs and gains, and how far from the best it can be."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal

import numpy as np

from hra.errors import HraError
from hra.model.budget import exact_number
from hra.model.hierarchy import Hierarchy
from hra.model.metrics import ErrorMetric
from hra.model.problem import Problem
from hra.model.sets import total
from hra.solvers.relaxation import relaxation
from hra.traversals.base import Solution

Status = Literal["optimal", "certified", "heuristic"]


@dataclass(frozen=True, eq=False, repr=False)
class Allocation:
    """A down-closed set of refinements within the budget.

    Attributes
    ----------
    selected : bool [R], refinements taken, in the hierarchy's level order.
    cost, budget : in the hierarchy's ``cost_unit``; ``cost <= budget`` always.
    gain, base_error : in the metric's ``unit``.
    multiplier : lambda (gain per cost unit) or tau (error) of the traversal, None if it has none.
    seconds : metric and traversal together.
    """

    problem: Problem
    solution: Solution
    seconds: float
    context: Any = None

    def __post_init__(self) -> None:
        hierarchy, selected = self.hierarchy, self.selected
        if selected.shape != (len(hierarchy),) or selected.dtype != np.bool_:
            raise HraError("a traversal must return one bool per refinement", where=f"{selected.dtype}{selected.shape}")
        if not hierarchy.is_valid(selected):
            raise HraError("the traversal took a refinement without its predecessors", fix="report this as a bug")
        # Fractional costs round differently in every order of summation.
        slack = 0.0 if hierarchy.whole_costs else 1e-12 * hierarchy.total_cost
        if self.cost > self.budget + slack:
            raise HraError(
                f"the traversal spent {exact_number(self.cost)} of {exact_number(self.budget)}",
                fix="report this as a bug",
            )
        selected.flags.writeable = False

    @property
    def hierarchy(self) -> Hierarchy:
        """The hierarchy whose refinements were chosen."""
        return self.problem.hierarchy

    @property
    def selected(self) -> np.ndarray:
        """Refinements taken, bool [R]."""
        return self.solution.selected

    @property
    def budget(self) -> float:
        """The budget that was given, in cost units."""
        return self.problem.budget

    @property
    def metric(self) -> ErrorMetric | None:
        """The metric that the refinements were chosen by; None for the whole of a pool."""
        return self.problem.metric

    @property
    def multiplier(self) -> float | None:
        """Lambda or tau of the traversal."""
        return self.solution.multiplier

    @cached_property
    def cut(self) -> np.ndarray:
        """Ids of the active nodes, ascending, int64 [K]."""
        return np.flatnonzero(self.hierarchy.active_nodes(self.selected))

    @cached_property
    def cost(self) -> float:
        """Cost of the cut: the base and what was taken."""
        return self.hierarchy.base_cost + total(self.hierarchy.cost, self.selected)

    @property
    def utilisation(self) -> float:
        """Share of the budget that was spent; 0 for an infinite one, 1 for an empty one."""
        return self.cost / self.budget if self.budget else 1.0

    @cached_property
    def gain(self) -> float:
        """Error removed, in the metric's unit."""
        return total(self.problem.gain, self.selected)

    @property
    def base_error(self) -> float:
        """Error before any refinement."""
        return self.problem.base_error

    @property
    def residual(self) -> float:
        """Error that remains."""
        return max(self.base_error - self.gain, 0.0)

    @cached_property
    def max_error(self) -> float:
        """Largest error of the max objective among what was not refined; 0 at full detail."""
        return float(self.problem.peak[~self.selected].max(initial=0.0))

    @property
    def churn(self) -> int | None:
        """Number of refinements that changed since the last step of a sequence; None outside a sequence."""
        previous = self.problem.previous
        return None if previous is None else int(np.count_nonzero(previous != self.selected))

    @cached_property
    def upper_bound(self) -> float:
        """No choice within the budget gains more. Computed on first use where the traversal does not give one."""
        bound = self.solution.upper_bound
        bound = relaxation(self.problem).upper_bound if bound is None else bound
        return max(bound, self.gain)

    @property
    def gap(self) -> float:
        """(upper bound - gain) / upper bound; 0 / 0 = 0."""
        return _ratio(self.upper_bound - self.gain, self.upper_bound)

    @property
    def residual_gap(self) -> float:
        """(residual - least possible residual) / least possible residual; 0 / 0 = 0, inf if only the latter is 0."""
        return residual_gap(self.residual, self.base_error, self.upper_bound)

    @property
    def status(self) -> Status:
        """How good the answer is known to be: exactly optimal, certified by its gap, or heuristic (non-additive)."""
        if not self.problem.additive:
            return "heuristic"
        return "optimal" if self.gap <= 1e-12 else "certified"

    def __repr__(self) -> str:
        unit = self.hierarchy.cost_unit
        spent = f"{self.cost:,.12g} of {self.budget:,.12g} {unit}, residual {self.residual:.3g} {self.problem.unit}"
        if self.status == "heuristic":
            return f"{spent}, not certified: the metric's gains do not add up"
        if self.status == "optimal":
            return f"{spent}, the best possible"
        gap, residual_gap = _percent(self.gap), _percent(self.residual_gap)
        return f"{spent}, within {gap} % of the best possible gain ({residual_gap} % of the residual)"


def residual_gap(residual: float, base_error: float, upper_bound: float) -> float:
    """(residual - least possible residual) / least possible residual; 0 / 0 = 0, inf if only the latter is 0."""
    least = max(base_error - upper_bound, 0.0)
    return _ratio(residual - least, least)


def _ratio(part: float, whole: float) -> float:
    if part <= 0:
        return 0.0
    return part / whole if whole > 0 else float("inf")


def _percent(share: float) -> str:
    return f"{100 * share:.2g}" if share < 0.1 else f"{100 * share:.0f}"

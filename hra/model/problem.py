"""One allocation problem: what every traversal gets to see; and budgets, checked before anything is computed."""

from __future__ import annotations

import math
import sys
from collections.abc import Callable
from dataclasses import dataclass, replace
from decimal import Decimal
from fractions import Fraction
from functools import partial
from typing import Any

import numpy as np

from hra.caching import cached_property
from hra.errors import (
    BudgetTooSmall,
    HierarchyError,
    HraError,
    InvalidBudget,
    MetricError,
    warn,
    wrong_kind,
)
from hra.model.arrays import ReadOnlyArrays, is_number, mask, to_numpy
from hra.model.gains import gains_from_errors, gains_from_values, peak_errors, peak_values
from hra.model.hierarchy import Hierarchy, divisible
from hra.model.metrics import ErrorMetric, returned
from hra.model.precise import precise_total
from hra.model.sets import attainable, first_unusable, take_with_predecessors, total
from hra.model.short_repr import ShortRepr
from hra.model.units import exactly

# Gains may add up to this much: prices and bounds of larger ones could overflow.
LARGEST_TOTAL = 1e307
# Refinements of which exact sums say whether the budget covers them, each in the time of a pass over all nodes.
_DOUBTFUL = 64


@dataclass(frozen=True, eq=False, repr=False)
class Problem(ReadOnlyArrays, ShortRepr):
    """Maximise the gain of a down-closed set of refinements whose cost fits the capacity.

    Attributes
    ----------
    gain : float64 [R], >= 0, in ``unit``.
    least_error : float, error that remains at full detail, in ``unit``.
    budget : float, in the hierarchy's cost unit; covers at least the base.
    additive : whether gains of different refinements add up; if not, no certificate is given.
    refinement_peak : evaluates `peak`, which only the max objective needs.
    least_peak : (`peak`, what was selected) -> what the largest error is at least, where the domain measures; or None.
    pinned : bool [R] or None, down-closed; refinements that are always taken. They count as base: no cost, no gain.
    previous : bool [R] or None, what the last step of a sequence took; not down-closed where siblings have come in
        another order since.
    price : gain per unit cost that the last step ended at, or None; a guess that makes the next step faster.
    strict : where costs have no common unit: whether they are rounded up, so that every set within the capacity is
        within the budget, or down, so that every set within the budget is within the capacity.
    metric : what was evaluated, None where gains came from elsewhere or from several members of a pool.

    Examples
    --------
    >>> import hra
    >>> class Blur(hra.ErrorMetric):
    ...     def evaluate(self, hierarchy, context):
    ...         return context
    >>> tree = hra.Hierarchy.tree([-1, 0, 0, 1, 1], [1, 1, 1, 1, 1])
    >>> problem = hra.Problem.of(tree, Blur(), [8.0, 5.0, 1.0, 0.5, 0.5], budget=2)
    >>> problem.gain.tolist(), problem.cost.tolist(), problem.capacity
    ([2.0, 4.0], [1.0, 1.0], 1.0)
    >>> problem.base_error, problem.least_error
    (8.0, 2.0)
    """

    hierarchy: Hierarchy
    gain: np.ndarray
    least_error: float
    budget: float
    unit: str
    additive: bool
    refinement_peak: Callable[[], np.ndarray]
    pinned: np.ndarray | None = None
    previous: np.ndarray | None = None
    price: float | None = None
    strict: bool = False
    metric: ErrorMetric | None = None
    least_peak: Callable[[np.ndarray, np.ndarray], float] | None = None

    def __post_init__(self) -> None:
        if type(self.gain) is not np.ndarray or self.gain.dtype != np.float64:  # as a problem_for of one's own gives
            gain = to_numpy(self.gain)
            if gain.dtype.kind not in "iuf":
                what = f"gains are numbers, got {gain.dtype}"
                raise MetricError(what, where="Problem.gain", fix="return one gain per refinement, float64 [R]")
            object.__setattr__(self, "gain", gain.astype(np.float64))

    @classmethod
    def of(cls, hierarchy: Hierarchy, metric: ErrorMetric, context: Any, budget: float) -> Problem:
        """Evaluate ``metric`` on ``hierarchy`` in ``context``.

        Raises
        ------
        MetricError : the metric returns another length, NaN, infinite or (for errors) negative values.
        HraError : something else in the place of the hierarchy or the metric.
        """
        for name, given, kind in (("hierarchy", hierarchy, Hierarchy), ("metric", metric, ErrorMetric)):
            if not isinstance(given, kind):
                raise wrong_kind(name, given, kind, "call hra.Problem.of(hierarchy, metric, context, budget)")
        if metric.kind not in ("error", "gain"):
            what = f"a metric's kind is 'error' or 'gain', got {metric.kind!r}"
            raise MetricError(what, where=type(metric).__name__, fix="state one of the two")
        check_facts(metric.unit, metric.additive, type(metric).__name__)
        value = _node_values(metric.evaluate(hierarchy, context), hierarchy, metric)
        if metric.kind == "gain":
            gain, least_error = gains_from_values(hierarchy, _clip_negative(value)), 0.0
        else:
            inherited = metric.inherited(hierarchy, context)
            if inherited is not None:
                inherited = _node_values(inherited, hierarchy, metric)
            gain, least_error = gains_from_errors(hierarchy, value, inherited)

        peak = partial(refinement_peak_of, hierarchy, metric, context)
        return cls(hierarchy, gain, least_error, budget, metric.unit, metric.additive, peak, metric=metric)

    @cached_property
    def base_error(self) -> float:
        """Error before any refinement is taken, in ``unit``."""
        high, low, _ = precise_total(self.gain, np.ones(self.gain.size, np.bool_))
        return math.fsum((self.least_error, high, low))

    @cached_property
    def capacity(self) -> float:
        """What may be spent on refinements, a whole number of units; see `Hierarchy.capacity`."""
        return self.hierarchy.capacity(self.budget, self._pinned_units, strict=self.strict)

    @cached_property
    def cost(self) -> np.ndarray:
        """Cost of each refinement in whole units [R], see `Hierarchy.unit_cost`; 0 for what is pinned."""
        cost = self.hierarchy.unit_cost_high if self.strict else self.hierarchy.unit_cost
        if self.pinned is None:
            return cost
        free = np.where(self.pinned, 0.0, cost)
        free.flags.writeable = False  # as the other costs: solvers are compiled for one kind of array
        return free

    @cached_property
    def _pinned_units(self) -> float:
        if self.pinned is None:
            return 0.0
        cost = self.hierarchy.unit_cost_high if self.strict else self.hierarchy.unit_cost
        return total(cost, self.pinned)

    @cached_property
    def attainable_gain(self) -> np.ndarray:
        """The gain of each refinement [R], but 0 for what no set within the capacity contains: no bound needs it."""
        hierarchy, order = self.hierarchy, self.hierarchy.predecessors
        gain = attainable(*order, self.gain, self.cost, self.capacity)
        if not hierarchy.units.exact and not hierarchy.shrinks and hierarchy.parent is not None:
            # Costs are rounded down: for a few that they leave in doubt, those of the nodes are summed up.
            strict = replace(self, strict=True)
            sure = attainable(*order, self.gain, strict.cost, strict.capacity)
            for r in np.flatnonzero(sure < gain)[:_DOUBTFUL].tolist():
                needed = np.zeros(gain.size, np.bool_) if self.pinned is None else self.pinned.copy()
                needed[r] = True
                take_with_predecessors(*order, needed)
                gain[r] *= hierarchy.cost_of(needed) <= self.budget
        return gain

    @cached_property
    def slope_cost(self) -> np.ndarray:
        """Costs to divide by [R], see `Hierarchy.slope_cost`."""
        plain = self.pinned is None and not self.strict
        return self.hierarchy.slope_cost if plain else divisible(self.cost)

    @cached_property
    def is_unlimited(self) -> bool:
        """Whether every set is within the capacity."""
        return self.capacity >= self.hierarchy.capacity(math.inf, self._pinned_units, strict=self.strict)

    @cached_property
    def ratio(self) -> np.ndarray:
        """Gain per cost [R]; very large where a refinement is free, inf where it gains more than 1e108."""
        with np.errstate(over="ignore"):
            return self.gain / self.slope_cost

    def check(self) -> None:
        """Raise unless the gains are ones that bounds hold for, and all else is what it is said to be.

        Raises
        ------
        MetricError : a gain or the error that remains is negative or no number, or a sum of them overflows; a unit is
            no text, a flag no bool.
        InvalidBudget : the budget is no number >= 0.
        ArrayError : what is pinned or was taken before is not bool [R].
        HierarchyError : what is pinned lacks a predecessor.
        HraError : the hierarchy is none.
        """
        if not isinstance(self.hierarchy, Hierarchy):
            raise wrong_kind("Problem.hierarchy", self.hierarchy, Hierarchy, "return hra.Problem.of(hierarchy, ...)")
        check_facts(self.unit, self.additive, "Problem")
        check_number(self.budget)
        left = self.least_error
        if (type(left) is not float and not is_number(left)) or left < 0:
            what = f"the error that remains at full detail is {left!r}"
            raise MetricError(what, where="Problem.least_error", fix="give a number >= 0")
        self._check_marks()
        size = int(self.hierarchy.level_offsets[-1])
        if self.gain.shape != (size,):
            what = f"gains of shape {self.gain.shape} for {size} refinements"
            raise MetricError(what, where="Problem.gain", fix="return one gain per refinement")
        r = first_unusable(self.gain, 0.0)
        if r >= 0:
            fix = "gains are finite and >= 0: return errors, which are repaired where not monotone, or clip them"
            raise MetricError(f"the gain of refinement {r} is {self.gain[r]}", where="Problem.gain", fix=fix)
        everything = total(self.gain, np.ones(self.gain.size, np.bool_))
        if not everything <= LARGEST_TOTAL:
            what = f"the gains add up to {everything}, which is too large to compute with"
            raise MetricError(
                what, where="Problem.gain", fix=f"scale the metric: all gains to at most {LARGEST_TOTAL:g}"
            )
        if not math.isfinite(self.least_error + everything):
            what = f"the errors that remain add up to {self.least_error}, which is too large to compute with"
            raise MetricError(
                what, where="Problem.least_error", fix=f"scale the metric: all errors to at most {LARGEST_TOTAL:g}"
            )

    def _check_marks(self) -> None:
        """Raise unless what is pinned, and what was taken before, is marked by one bool per refinement."""
        for name in ("pinned", "previous"):
            if (marks := getattr(self, name)) is not None:
                if not isinstance(marks, np.ndarray):
                    raise wrong_kind(f"Problem.{name}", marks, np.ndarray, "pass a bool array [R]")
                mask(f"Problem.{name}", marks, len(self.hierarchy))
        if self.pinned is not None and not self.hierarchy.is_valid(self.pinned):
            fix = "pin all that it builds on, too, as allocate(..., pinned=nodes) does"
            raise HierarchyError("what is pinned lacks a predecessor", where="Problem.pinned", fix=fix)

    @cached_property
    def peak(self) -> np.ndarray:
        """Error [R] that remains while a refinement is not taken, for the max objective."""
        return self.refinement_peak()


def checked_problem(problem: Any, allocator: str) -> Problem:
    """What `problem_for` of an ``allocator`` returned, checked: it may be code of users.

    Raises
    ------
    HraError : no problem; what `Problem.check` raises.
    """
    if not isinstance(problem, Problem):
        fix = f"return an hra.Problem from {allocator}.problem_for"
        raise wrong_kind("what problem_for returns", problem, Problem, fix)
    problem.check()
    return problem


def check_facts(unit: Any, additive: Any, where: str) -> None:
    """Raise unless a metric's unit is text, and whether it is additive a bool: any text would claim a certificate.

    Raises
    ------
    MetricError : one is something else.
    """
    if not isinstance(unit, str):
        raise MetricError(
            f"the unit of errors is text, got {unit!r}", where=f"{where}.unit", fix="such as unit = 'px2'"
        )
    if type(additive) is not bool:
        fix = "say additive = False where errors of disjoint regions do not add up"
        raise MetricError(f"additive is True or False, got {additive!r}", where=f"{where}.additive", fix=fix)


def refinement_peak_of(hierarchy: Hierarchy, metric: ErrorMetric, context: Any) -> np.ndarray:
    """The metric's peak values as one error per refinement [R]."""
    peak = _node_values(metric.peak(hierarchy, context), hierarchy, metric)
    if metric.kind == "gain":
        return peak_values(hierarchy, np.maximum(peak, 0.0))
    inherited = metric.inherited_peak(hierarchy, context)
    return peak_errors(hierarchy, peak, None if inherited is None else _node_values(inherited, hierarchy, metric))


def _node_values(values: Any, hierarchy: Hierarchy, metric: ErrorMetric) -> np.ndarray:
    """The metric's values as float64 [N], checked."""
    array = values if type(values) is np.ndarray else returned(metric, values)
    name, size = type(metric).__name__, hierarchy.node_cost.size
    said = f"the {metric.kind}s are" if name.startswith("_") else f"{name} returned"
    if array.shape != (size,) or array.dtype.kind not in "iufb":
        raise MetricError(f"{said} {array.dtype} of shape {array.shape}, expected one number per node ({size})")
    vector = array.astype(np.float64, copy=False)  # nothing below writes to it
    node = first_unusable(vector, -sys.float_info.max if metric.kind == "gain" else 0.0)
    if node >= 0:
        what = f"{said} {vector[node]}"
        raise MetricError(what, where=f"node {node}", fix="errors are finite and >= 0, gains are finite")
    return vector


def _clip_negative(value: np.ndarray) -> np.ndarray:
    """A negative gain means that the node is not worth taking: it counts as zero, with a warning."""
    negative = int(np.count_nonzero(value < 0))
    if negative:
        message = f"{negative} negative gains count as zero; shift the scores if their order matters"
        warn(message)
    return np.maximum(value, 0.0)


def check_budget(budget: Any, hierarchy: Hierarchy) -> float:
    """``budget`` as a float that covers the hierarchy's base; ``inf`` means full detail, fractions are allowed.

    Raises
    ------
    InvalidBudget : not a number, a bool, NaN or negative.
    BudgetTooSmall : less than the base costs; the message states the minimum.
    """
    value = check_number(budget)
    check_covered(value, hierarchy.base_cost, hierarchy.cost_unit, fits=value >= hierarchy.base_cost)
    return value


def check_number(budget: Any) -> float:
    """``budget`` as a float >= 0: numbers of Python and NumPy, fractions, decimals, and arrays of no dimension.

    What no float stands for is rounded down, as 1/3; 0.1 stands for a tenth.

    Raises
    ------
    InvalidBudget : not a number, a bool, NaN or negative.
    """
    number: Any = budget.item() if getattr(budget, "ndim", None) == 0 else budget
    if isinstance(number, (bool, np.bool_)) or not isinstance(
        number, (int, float, np.integer, np.floating, Fraction, Decimal)
    ):
        kind = type(budget).__name__
        raise InvalidBudget(f"a budget must be a number, got {kind}", where="budget", fix="pass an int or a float")
    try:
        value = float(number)
    except OverflowError:  # an integer beyond all floats
        value = math.inf if number > 0 else -math.inf
    except ValueError:  # a signalling NaN
        value = math.nan
    if math.isnan(value) or value < 0:
        raise InvalidBudget(f"a budget cannot be {value}", where="budget", fix="pass a number >= 0")
    if isinstance(number, (Fraction, Decimal)) and math.isfinite(value):
        exact, counted = Fraction(number), (exactly(value), Fraction(value))
        if exact not in counted and max(counted) > exact:
            value = math.nextafter(value, 0.0)
    return value


def check_covered(budget: float, least: float, unit: str, *, fits: bool) -> None:
    """Raise unless the budget ``fits``: ``least`` is the least budget that covers the coarsest level.

    Raises
    ------
    BudgetTooSmall : the message states ``least``.
    """
    if not fits:
        minimum = exact_number(least)
        raise BudgetTooSmall(
            f"{exact_number(budget)} {unit} do not cover the coarsest level, which costs {minimum} {unit}",
            where="budget",
            fix=f"use at least {minimum} {unit}",
        )


def exact_number(value: float) -> str:
    """``value`` with all its digits, so that it can be typed in again."""
    return str(int(value)) if math.isfinite(value) and value == int(value) else repr(float(value))


def no_problem(value: Any) -> HraError:
    """The error for what is no `Problem`: hierarchies and allocations are passed by mistake."""
    return wrong_kind("problem", value, Problem, "pass the argument of Traversal.select, or Allocation.problem")

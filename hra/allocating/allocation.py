"""The result of an allocation: what was chosen, what it costs and gains, and how far from the best it can be."""

from __future__ import annotations

import math
import os
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any, Literal

import numpy as np

from hra.caching import cached_property
from hra.errors import HraError
from hra.files.limits import DEFAULT, Limits
from hra.model.hierarchy import Hierarchy
from hra.model.metrics import ErrorMetric
from hra.model.precise import ceiling, precise_total
from hra.model.problem import Problem, exact_number
from hra.model.short_repr import html_table
from hra.model.solution import Solution, no_bools
from hra.model.units import rescale
from hra.solvers.duals import Certificate, certify, shortfall_of
from hra.traversals.hull import Hull

Status = Literal["optimal", "certified", "heuristic"]
# Gaps up to this are none.
_OPTIMAL = 1e-12
# What else helps where a set breaks the contract of traversals.
_OR_A_BUG = "as hra.complete does; if the traversal is one of hra's own, report this as a bug"


@dataclass(frozen=True, eq=False, repr=False)
class Allocation:
    """A down-closed set of refinements within the budget.

    Files (`save`) and pickles hold all of it but the context and the metric, which
    `HierarchicalResourceAllocator.adopt` gives back.

    Attributes
    ----------
    selected : bool [R], refinements taken, in the hierarchy's level order.
    cost, budget : in the hierarchy's ``cost_unit``; ``cost <= budget`` always, in exact arithmetic.
    gain, base_error : in the metric's ``unit``.
    price : lambda, the gain per cost unit above which all is taken, None if the traversal has none. What was taken
        last may have gained more.
    tau : error that the traversal accepts everywhere, None if it has none.
    seconds : metric and traversal together, without compilation.

    Examples
    --------
    >>> import hra
    >>> pieces = hra.Hierarchy.flat([3, 2, 2], cost_unit="tokens")
    >>> allocation = hra.solve(pieces, budget=4, gains=[6.0, 3.0, 2.5])
    >>> allocation
    3 of 4 tokens, residual 5.5 error, within 20 % of the best possible gain (38 % of the residual)
    >>> allocation.cut, allocation.cost, allocation.gain, allocation.residual, allocation.gap
    (array([0]), 3.0, 6.0, 5.5, 0.2)
    """

    problem: Problem
    solution: Solution
    seconds: float
    context: Any = None

    def __post_init__(self) -> None:
        hierarchy, selected = self.hierarchy, self.selected
        if type(selected) is not np.ndarray or selected.dtype != np.bool_ or selected.shape != (len(hierarchy),):
            raise no_bools(selected, len(hierarchy), "Solution.selected")
        if not hierarchy.is_valid(selected):
            what = "the traversal took a refinement without its predecessors"
            raise HraError(what, where="Solution.selected", fix=f"take all that it builds on first, {_OR_A_BUG}")
        if self.cost > self.budget:
            what = f"the traversal spent {exact_number(self.cost)} of {exact_number(self.budget)}"
            raise HraError(what, where="Solution.selected", fix=f"spend at most problem.capacity, {_OR_A_BUG}")
        # The traversal may use its arrays again, and what an allocation states must not change.
        given = {"selected": selected, "share": self.solution.share}
        kept = {name: array.copy() for name, array in given.items() if array is not None and array.flags.writeable}
        for array in kept.values():
            array.flags.writeable = False
        if kept:
            object.__setattr__(self, "solution", replace(self.solution, **kept))

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
    def price(self) -> float | None:
        """Lambda of the traversal: gain per cost unit."""
        price = self.solution.price
        return None if price is None else rescale(price, self.hierarchy.units.size, Fraction(1))

    @property
    def tau(self) -> float | None:
        """Error that the traversal accepts everywhere, in the unit of the metric's `peak`."""
        return self.solution.tau

    @cached_property
    def cut(self) -> np.ndarray:
        """Ids of the active nodes, ascending, int64 [K]."""
        return np.flatnonzero(self.hierarchy.active_nodes(self.selected))

    @cached_property
    def cost(self) -> float:
        """Cost of the cut: the base and what was taken."""
        return self.hierarchy.cost_of(self.selected)

    @property
    def utilisation(self) -> float:
        """Share of the budget that was spent; 0 for an infinite one, 1 for an empty one."""
        return self.cost / self.budget if self.budget else 1.0

    @cached_property
    def gain(self) -> float:
        """Error removed, in the metric's unit."""
        return self._gain[0]

    @cached_property
    def _gain(self) -> tuple[float, float, float]:
        """The gain as a sum of two doubles, and what they may miss."""
        return precise_total(self.problem.gain, self.selected)

    @property
    def base_error(self) -> float:
        """Error before any refinement."""
        return self.problem.base_error

    @cached_property
    def residual(self) -> float:
        """Error that remains: that of full detail, and the gain of all that was not taken."""
        return math.fsum(self._residual)

    @cached_property
    def _residual(self) -> tuple[float, float, float]:
        """The residual as a sum of three doubles."""
        high, low, _ = precise_total(self.problem.gain, ~self.selected)
        return self.problem.least_error, high, low

    @cached_property
    def max_error(self) -> float:
        """Largest error of the max objective among what was not refined; 0 at full detail."""
        return float(self.problem.peak[~self.selected].max(initial=0.0))

    @cached_property
    def least_max_error(self) -> float | None:
        """What the largest error is at least, as measured on first use; None where nothing measures it.

        Of meshes in memory it is how far vertices of the source are from the cut. `max_error` is not below it if the
        metric bounds errors, and may be if it estimates them.
        """
        least = self.problem.least_peak
        return None if least is None else least(self.problem.peak, self.selected)

    @property
    def churn(self) -> int | None:
        """Number of refinements that changed since the last step of a sequence; None outside a sequence."""
        previous = self.problem.previous
        return None if previous is None else int(np.count_nonzero(previous != self.selected))

    @cached_property
    def certificate(self) -> Certificate:
        """The price, and on graphs the flows, that prove a bound to everyone (see `hra.verify`); made on first use.

        From the traversal's own price where it has one, else from that of `Hull`; printing the allocation is a use.
        What a search has ruled out beyond that is part of `shortfall`, but not of the certificate.
        """
        solution = self.solution if self._priced else Hull(finish="none").solve(self.problem)
        return certify(self.problem, self.selected, solution.price or 0.0, solution.share)

    @cached_property
    def shortfall(self) -> float:
        """No choice within the budget gains more than so much more, in the metric's unit; never rounded down."""
        stated = self.solution.shortfall is not None or self.solution.upper_bound is not None
        return shortfall_of(self.problem, self.solution) if stated else self.certificate.shortfall

    @cached_property
    def upper_bound(self) -> float:
        """No choice within the budget gains more: the gain and the shortfall, never rounded down."""
        return ceiling((*self._gain, self.shortfall))

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the allocation with all that proves it to ``path``; see `hra.allocating.allocation_file`.

        Raises
        ------
        FileError : the folder is missing or not writable, or the disk is full.
        """
        from hra.allocating.allocation_file import save

        save(self, path)

    @classmethod
    def load(cls, path: str | os.PathLike[str], *, limits: Limits = DEFAULT) -> Allocation:
        """The allocation that `save` wrote to ``path``; `hra.verify` checks what it states.

        Raises
        ------
        FileError : missing, damaged, of another format or of a later version.
        LimitExceeded : larger than ``limits`` (`hra.files.limits.Limits`) allow, before memory is taken.
        """
        from hra.allocating.allocation_file import load

        return load(cls, path, limits)

    def __reduce__(self) -> tuple[Any, ...]:
        # As in a file: small, whatever image it was made for, and without what other processes cannot have.
        from hra.allocating.allocation_file import pack

        return _unpickle, (type(self), pack(self))

    def __deepcopy__(self, memo: Any) -> Allocation:
        # Nothing of it ever changes, and a pickle would lose the context.
        return self

    @property
    def gap(self) -> float:
        """Shortfall / upper bound; 0 / 0 = 0."""
        return ratio(self.shortfall, self.upper_bound)

    @property
    def residual_gap(self) -> float:
        """Shortfall / the least residual that the bound allows; 0 / 0 = 0, inf if only the latter is 0."""
        return ratio(self.shortfall, self.least_residual)

    @property
    def least_residual(self) -> float:
        """Error that remains at least, whatever is chosen within the budget: a bound that no choice need reach."""
        return max(math.fsum((*self._residual, -self.shortfall)), 0.0)

    @property
    def status(self) -> Status:
        """How good the answer is known to be: optimal, certified by its gap, or heuristic (gains do not add up).

        Optimal means that no choice gains more by over a part in 1e12 of all that can be gained, nor leaves less error
        by over a part in 1e12 of what remains at least: both gaps are at most 1e-12.
        """
        if not self.problem.additive:
            return "heuristic"
        return "optimal" if max(self.residual_gap, self.gap) <= _OPTIMAL else "certified"

    @property
    def proof(self) -> dict[str, Any]:
        """Gap, residual gap and status for a record; gaps are None where gains do not add up: nothing is claimed."""
        certain = self.status != "heuristic"
        return {
            "gap": self.gap if certain else None,
            "residual_gap": self.residual_gap if certain else None,
            "status": self.status,
        }

    def __repr__(self) -> str:
        unit = self.hierarchy.cost_unit
        limit = f" of {self.budget:,.12g} {unit}" if math.isfinite(self.budget) else f" {unit}, no budget"
        spent = f"{self.cost:,.12g}{limit}, residual {self.residual:.3g} {self.problem.unit}"
        if self.tau is not None and self.least_max_error is not None:
            least, most = self.least_max_error, self.max_error
            found = f"{least:.3g} to {most:.3g}" if least <= most else f"at least {least:.3g}, estimated {most:.3g}"
            spent = f"{spent}, largest error {found}"
        if not self.problem.additive:
            return f"{spent}, no bound: the metric's gains do not add up"
        if self.status == "optimal":
            return f"{spent}, the best possible"
        bound = f"{spent}, within {_percent(self.gap)} % of the best possible gain"
        # What a residual that may be 0 is exceeded by has no percentage.
        return bound if math.isinf(self.residual_gap) else f"{bound} ({_percent(self.residual_gap)} % of the residual)"

    def _repr_html_(self) -> str:
        unit, error = self.hierarchy.cost_unit, self.problem.unit
        limit = f" of {self.budget:,.12g}" if math.isfinite(self.budget) else ", no budget"
        facts = {
            f"cost, {unit}": f"{self.cost:,.12g}{limit}",
            "nodes": f"{self.cut.size:,}",
            f"residual, {error}": f"{self.residual:.4g} of {self.base_error:.4g}",
            "answer": repr(self).partition(f" {error}, ")[2],
            "seconds": f"{self.seconds:.3g}",
        }
        return html_table(facts.items())

    @property
    def _priced(self) -> bool:
        """Whether the solution comes with what proves a bound; on graphs a price without shares proves little."""
        on_graph = self.hierarchy.parent is None
        return self.solution.price is not None and not (
            on_graph and self.solution.price > 0 and self.solution.share is None
        )


def _unpickle(kind: type[Allocation], content: bytes) -> Allocation:
    from hra.allocating.allocation_file import unpack

    return unpack(kind, content, "pickle")


def ratio(part: float, whole: float) -> float:
    """``part / whole``; 0 / 0 = 0, inf if only ``whole`` is 0."""
    if part <= 0:
        return 0.0
    return part / whole if whole > 0 else math.inf


def _percent(share: float) -> str:
    return f"{100 * share:.2g}" if share < 0.1 else f"{100 * share:.0f}"

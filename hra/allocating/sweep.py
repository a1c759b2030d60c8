"""Several traversals at several budgets, on one problem: what each leaves, and how long each takes to choose."""

from __future__ import annotations

import math
import statistics
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, fields, is_dataclass
from typing import TYPE_CHECKING, Any

from hra.allocating.allocation import Allocation, ratio
from hra.allocating.allocator import HierarchicalResourceAllocator
from hra.compiling import Stopwatch
from hra.errors import HraError
from hra.model.problem import Problem
from hra.model.solution import Solution
from hra.traversals.base import Traversal
from hra.traversals.best_first import BestFirst
from hra.traversals.exact import Exact
from hra.traversals.hull import Hull
from hra.traversals.threshold import Threshold

if TYPE_CHECKING:
    import os

# What streamers run, beside what the library proposes.
_USUAL: tuple[Traversal, ...] = (Exact(), Hull(), BestFirst(), BestFirst(by="error"), Threshold())


@dataclass(frozen=True)
class SweepRow:
    """One traversal at one budget.

    Attributes
    ----------
    traversal : its name; budget, cost : in the hierarchy's cost unit.
    gain, residual : in the metric's unit; max_error : in that of its `peak`, pixels for meshes.
    gap : share of the best possible gain that is missed at most, by the tightest bound that any traversal of the sweep
        proved at this budget; NaN where gains do not add up, or nothing was proved of all choices.
    seconds : to choose, without the metric and without compilation; the median of all rounds.
    refused : why the traversal does not serve the problem, "" if it does; all numbers are then NaN.
    """

    traversal: str
    budget: float
    cost: float = math.nan
    gain: float = math.nan
    residual: float = math.nan
    max_error: float = math.nan
    gap: float = math.nan
    seconds: float = math.nan
    refused: str = ""


@dataclass(frozen=True)
class Sweep:
    """Rows of a sweep, budget by budget.

    Attributes
    ----------
    rows : in the order of budgets, then of traversals.
    cost_unit, error_unit : of the budgets and costs, and of gains and residuals.

    Examples
    --------
    >>> import hra
    >>> tree = hra.Hierarchy.tree([-1, 0, 0, 1, 1, 2, 2], [1] * 7)
    >>> class Given(hra.ErrorMetric):
    ...     def evaluate(self, hierarchy, context):
    ...         return context
    >>> class Nodes(hra.HierarchicalResourceAllocator):
    ...     def realize(self, allocation):
    ...         return allocation.cut
    >>> allocator = Nodes(tree, Given(), hra.Hull())
    >>> found = hra.sweep(allocator, [8.0, 4.0, 3.0, 1.0, 1.0, 0.5, 0.5], [2, 3], [hra.Hull(), hra.BestFirst()])
    >>> isinstance(found, hra.Sweep), found.to_dict()["residual"]
    (True, [7.0, 7.0, 5.0, 5.0])
    """

    rows: tuple[SweepRow, ...]
    cost_unit: str
    error_unit: str

    def __len__(self) -> int:
        return len(self.rows)

    def __repr__(self) -> str:
        budgets, names = {row.budget for row in self.rows}, {row.traversal for row in self.rows}
        return f"Sweep({len(names)} traversals at {len(budgets)} budgets)"

    def __str__(self) -> str:
        from hra.allocating.sweep_views import text

        return text(self)

    def _repr_html_(self) -> str:
        from hra.allocating.sweep_views import html

        return html(self)

    def to_dict(self) -> dict[str, list[Any]]:
        """The columns by name, all of one length: ``pandas.DataFrame(sweep.to_dict())`` is a data frame of them."""
        records = [asdict(row) for row in self.rows]
        return {field.name: [record[field.name] for record in records] for field in fields(SweepRow)}

    def plot(self, path: str | os.PathLike[str] | None = None, measure: str = "residual") -> Any:
        """Each traversal's ``measure`` against the budget, as a Matplotlib figure; also a PNG if there is a ``path``.

        Parameters
        ----------
        measure : "residual", "max_error", "gain", "gap", "seconds" or "cost".

        Raises
        ------
        HraError : another measure.
        FileError : the file cannot be written, or is not a PNG.
        MissingExtra : Matplotlib is not installed.
        """
        from hra.allocating.sweep_views import plot

        return plot(self, path, measure)


def sweep(
    allocator: HierarchicalResourceAllocator,
    context: Any,
    budgets: Iterable[float],
    traversals: Sequence[Traversal] | Mapping[str, Traversal] = _USUAL,
    *,
    repeat: int = 3,
) -> Sweep:
    """Compare traversals at several budgets on the problem that an allocator makes of a context.

    Parameters
    ----------
    context : what the allocator's metric reads; it is evaluated once for each budget, for all traversals.
    budgets : each at least the cost of the coarsest level, in the hierarchy's cost unit.
    traversals : to compare, by names of their own or by their `repr`; the allocator's own is not asked.
    repeat : how often each chooses; the median time counts.

    Raises
    ------
    InvalidBudget, BudgetTooSmall, MetricError : see `HierarchicalResourceAllocator.allocate`.
    HraError : no budget, no traversal, or something else in their place.

    Examples
    --------
    >>> import hra
    >>> from hra.domains import meshes
    >>> skull = meshes.build(hra.samples.path("skull.ply"))
    >>> camera = hra.Camera.orbit(skull.bounds, azimuth=30, up=(0, 0, 1))
    >>> rules = {"ours": hra.Exact(), "greedy": hra.BestFirst()}
    >>> found = hra.sweep(meshes.MeshAllocator(skull), camera, [2_000, 10_000], rules)
    >>> found
    Sweep(2 traversals at 2 budgets)
    >>> figure = found.plot("sweep.png")
    """
    named, limits = _name_all(traversals), list(budgets)
    _check(allocator, limits, repeat)
    problems = [allocator.problem(context, limit) for limit in limits]
    rows = tuple(row for problem in problems for row in _at_budget(problem, named, repeat))
    return Sweep(rows, problems[0].hierarchy.cost_unit, problems[0].unit)


def _name_all(traversals: Sequence[Traversal] | Mapping[str, Traversal]) -> dict[str, Traversal]:
    named = dict(traversals) if isinstance(traversals, Mapping) else {_name(one): one for one in traversals}
    wrong = next((one for one in named.values() if not isinstance(one, Traversal)), None)
    if wrong is not None or not named:
        what = f"{wrong!r} is not a traversal" if named else "no traversals were given"
        raise HraError(what, where="sweep: traversals", fix="pass traversals such as [hra.Hull(), hra.BestFirst()]")
    return named


def _name(traversal: Any) -> str:
    """Its `repr` without what it is by default."""
    if not is_dataclass(traversal):
        return repr(traversal)
    options = [(field.name, getattr(traversal, field.name), field.default) for field in fields(traversal)]
    changed = ", ".join(f"{name}={value!r}" for name, value, usual in options if value != usual)
    return f"{type(traversal).__name__}({changed})"


def _check(allocator: Any, budgets: list[float], repeat: int) -> None:
    if not isinstance(allocator, HierarchicalResourceAllocator):
        what = f"the first argument is a {type(allocator).__name__}, no allocator"
        raise HraError(what, where="sweep", fix="call hra.sweep(allocator, context, budgets, traversals)")
    if not budgets or isinstance(repeat, bool) or not isinstance(repeat, int) or repeat < 1:
        what = "no budgets were given" if not budgets else f"{repeat!r} is not a number of rounds"
        raise HraError(what, where="sweep", fix="pass budgets such as [1_000, 10_000], and repeat >= 1")


def _at_budget(problem: Problem, traversals: Mapping[str, Traversal], repeat: int) -> list[SweepRow]:
    made = {name: _choose(problem, traversal, repeat) for name, traversal in traversals.items()}
    found = [one[0] for one in made.values() if not isinstance(one, HraError)]
    # Bounds that hold for choices which keep further rules say nothing of all others.
    bounds = [one.upper_bound for one in found if problem.additive and not one.solution.restricted]
    return [_row(name, problem.budget, one, min(bounds, default=math.nan)) for name, one in made.items()]


def _choose(problem: Problem, traversal: Traversal, repeat: int) -> tuple[Allocation, float] | HraError:
    """The allocation and the seconds that choosing took, or why there is none."""
    try:
        timed = [_timed(problem, traversal) for _ in range(repeat)]
    except HraError as error:
        return error
    seconds = statistics.median(seconds for _, seconds in timed)
    return Allocation(problem, timed[0][0], seconds), seconds


def _timed(problem: Problem, traversal: Traversal) -> tuple[Solution, float]:
    watch = Stopwatch()
    solution = traversal.solve(problem)
    return solution, watch.wall


def _row(name: str, budget: float, made: tuple[Allocation, float] | HraError, best: float) -> SweepRow:
    if isinstance(made, HraError):
        return SweepRow(name, budget, refused=made.what)
    allocation, seconds = made
    left = allocation.gain, allocation.residual, allocation.max_error
    gap = math.nan if math.isnan(best) else ratio(best - allocation.gain, best)
    if not allocation.solution.restricted:  # its own gap knows differences that two rounded numbers have lost
        gap = min(gap, allocation.gap)
    return SweepRow(name, budget, allocation.cost, *left, gap, seconds)

"""Several traversals at several budgets, on one problem: what each leaves, and how long each takes to choose.

A sweep shows itself as text, as HTML and as a picture.
"""

from __future__ import annotations

import io
import math
import statistics
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, fields, is_dataclass
from typing import TYPE_CHECKING, Any

from hra.allocating.allocation import Allocation, ratio
from hra.allocating.allocator import HierarchicalResourceAllocator
from hra.compiling import Stopwatch
from hra.errors import FileError, HraError, check_choice, needs, wrong_kind
from hra.files.atomic_write import write_atomically
from hra.files.local_files import local_path
from hra.model.arrays import POSITIVE, whole_in
from hra.model.problem import Problem
from hra.model.short_repr import html_table
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
# A gap of rounding.
_NOTHING = 1e-12
_MEASURES = ("residual", "max_error", "gain", "gap", "seconds", "cost")
# Distinct for most kinds of colour vision (Okabe and Ito 2008), and by their markers where lines lie on each other.
_COLORS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#000000")
_MARKERS = "os^Dvx*"


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
        return text(self)

    def _repr_html_(self) -> str:
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
    usual = (("budgets", budgets, "[1_000, 10_000]"), ("traversals", traversals, "[hra.Hull(), hra.BestFirst()]"))
    for name, value, example in usual:
        if not isinstance(value, Iterable) or getattr(value, "ndim", 1) == 0:
            raise wrong_kind(name, value, list, f"pass {name} such as {example}")
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
        what = f"the first argument is a {type(allocator).__name__}, not an allocator"
        raise HraError(what, where="sweep", fix="call hra.sweep(allocator, context, budgets, traversals)")
    if not budgets:
        raise HraError("no budgets were given", where="sweep", fix="pass budgets such as [1_000, 10_000]")
    whole_in("repeat", repeat, POSITIVE)


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


def text(sweep: Sweep) -> str:
    """A table in plain text."""
    rows = [_titles(sweep), *(_cells(row) for row in sweep.rows)]
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    lines = (
        "  ".join(cell.ljust(width) if number == 0 else cell.rjust(width) for number, (cell, width) in enumerate(pairs))
        for pairs in (zip(row, widths, strict=True) for row in rows)
    )
    return "\n".join(line.rstrip() for line in lines)


def html(sweep: Sweep) -> str:
    """A table as notebooks show it."""
    return html_table(map(_cells, sweep.rows), _titles(sweep))


def _titles(sweep: Sweep) -> list[str]:
    unit, error = sweep.cost_unit, sweep.error_unit
    return ["traversal", f"budget, {unit}", "cost", f"residual, {error}", "largest error", "gap", "ms"]


def _cells(row: SweepRow) -> list[str]:
    if row.refused:
        return [row.traversal, f"{row.budget:,.6g}", "refused", "", "", "", ""]
    numbers = [f"{row.cost:,.12g}", f"{row.residual:.4g}", f"{row.max_error:.4g}"]
    gap = "-" if math.isnan(row.gap) else f"{100 * row.gap:.3g} %" if row.gap > _NOTHING else "0 %"
    return [row.traversal, f"{row.budget:,.12g}", *numbers, gap, f"{1000 * row.seconds:.3g}"]


def plot(sweep: Sweep, path: Any, measure: str) -> Any:
    """See `Sweep.plot`."""
    check_choice("measure", measure, _MEASURES)
    if path is not None and local_path(path).suffix.lower() != ".png":
        raise FileError("the plot is written as PNG", where=str(path)[:500], fix="use a name that ends in .png")
    figure = _figure(sweep, measure)
    if path is not None:
        stream = io.BytesIO()
        figure.savefig(stream, format="png", dpi=120)
        write_atomically(path, stream.getvalue())
    return figure


def _figure(sweep: Sweep, measure: str) -> Any:
    with needs("matplotlib", "viz"):
        from matplotlib.figure import Figure
    figure = Figure(figsize=(7, 4.5), layout="constrained")
    axes = figure.subplots()
    for number, name in enumerate(dict.fromkeys(row.traversal for row in sweep.rows)):
        points = [(row.budget, getattr(row, measure)) for row in sweep.rows if row.traversal == name]
        points = sorted(point for point in points if math.isfinite(point[0]) and math.isfinite(point[1]))
        look = {"color": _COLORS[number % len(_COLORS)], "marker": _MARKERS[number % len(_MARKERS)], "markersize": 5}
        axes.plot(*zip(*points, strict=True) if points else ([], []), label=name, alpha=0.85, **look)
    _scale(axes, sweep, measure)
    units = {
        "gap": "gap to the best possible",
        "seconds": "seconds to choose",
        "cost": f"cost, {sweep.cost_unit}",
        "max_error": "largest error that remains",  # in the unit of the metric's peak, which has no name
    }
    axes.set_xlabel(f"budget, {sweep.cost_unit}")
    axes.set_ylabel(units.get(measure, f"{measure}, {sweep.error_unit}"))
    axes.grid(alpha=0.3)
    axes.legend(frameon=False)
    return figure


def _scale(axes: Any, sweep: Sweep, measure: str) -> None:
    """Logarithmic where numbers differ by much, which budgets and residuals do."""
    budgets = [row.budget for row in sweep.rows if 0 < row.budget < math.inf]
    values = [abs(getattr(row, measure)) for row in sweep.rows if not row.refused]
    if budgets and max(budgets) > 8 * min(budgets):
        axes.set_xscale("log")
    if values and min(values) > 0 and max(values) > 8 * min(values):
        axes.set_yscale("log")

"""A sweep to look at: as text, as HTML and as a picture."""

from __future__ import annotations

import io
import math
from typing import TYPE_CHECKING, Any

from hra.errors import FileError, HraError, MissingExtra
from hra.files.atomic_write import write_atomically
from hra.files.local_files import local_path
from hra.model.html_table import html_table

if TYPE_CHECKING:
    from hra.allocating.sweep import Sweep, SweepRow

# A gap of rounding.
_NOTHING = 1e-12
_MEASURES = ("residual", "max_error", "gain", "gap", "seconds", "cost")
# Distinct for most kinds of colour vision (Okabe and Ito 2008), and by their markers where lines lie on each other.
_COLORS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#000000")
_MARKERS = "os^Dvx*"


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
    if measure not in _MEASURES:
        raise HraError(f"the measure {measure!r} is unknown", where="measure", fix=f"use {', '.join(_MEASURES)}")
    if path is not None and local_path(path).suffix.lower() != ".png":
        raise FileError("the plot is written as PNG", where=str(path)[:500], fix="use a name that ends in .png")
    figure = _figure(sweep, measure)
    if path is not None:
        stream = io.BytesIO()
        figure.savefig(stream, format="png", dpi=120)
        write_atomically(path, stream.getvalue())
    return figure


def _figure(sweep: Sweep, measure: str) -> Any:
    try:
        from matplotlib.figure import Figure
    except ImportError as error:
        raise MissingExtra.of("matplotlib", "viz") from error
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

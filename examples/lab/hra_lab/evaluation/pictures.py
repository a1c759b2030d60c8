"""Losses as box plots. Needs matplotlib."""

from __future__ import annotations

import io
from collections.abc import Sequence
from typing import Any

from matplotlib.axes import Axes
from matplotlib.figure import Figure

_OURS, _THEIRS = "#0072B2", "#D55E00"
# Percent below which the axis is linear, so that 0 has a place on it.
_LINEAR = 0.1
_TICKS = (0, 0.1, 1, 10, 100, 10_000, 1_000_000)


def box_plots(rows: Sequence[dict[str, Any]], measure: str, label: str, ours: Sequence[str]) -> Figure:
    """One panel per budget, one box per rule: quartiles, the whole range as whiskers, the mean as a dot.

    Parameters
    ----------
    rows : of one kind of data, as `hra_lab.evaluation.core.run` returns them.
    measure : "gain_lost" or "residual_excess".
    ours : rules that get a colour of their own.
    """
    budgets = list(dict.fromkeys(row["budget"] for row in rows))
    figure = Figure(figsize=(3.1 * len(budgets) + 1.2, 3.4), layout="constrained")
    panels = figure.subplots(1, len(budgets), sharey=True, sharex=True, squeeze=False)[0]
    for axes, budget in zip(panels, budgets, strict=True):
        _panel(axes, [row for row in rows if row["budget"] == budget], measure, ours)
        axes.set_title(budget, fontsize=9)
    most = 100 * max(row[measure]["worst"] for row in rows)
    panels[0].set(xlim=(-_LINEAR / 5, 1.5 * max(most, _LINEAR)))
    panels[0].invert_yaxis()
    figure.supxlabel(label, fontsize=9)
    return figure


def _panel(axes: Axes, rows: Sequence[dict[str, Any]], measure: str, ours: Sequence[str]) -> None:
    percents = [[100 * value for value in row[measure]["all"]] for row in rows]
    places = range(1, len(rows) + 1)
    boxes = axes.boxplot(percents, orientation="horizontal", whis=(0, 100), widths=0.6, patch_artist=True)
    for row, box, middle in zip(rows, boxes["boxes"], boxes["medians"], strict=True):
        colour = _OURS if row["rule"] in ours else _THEIRS
        box.set(facecolor=colour, edgecolor=colour, alpha=0.5)
        middle.set_color("black")
    means = [100 * row[measure]["mean"] for row in rows]
    axes.plot(means, places, "o", color="black", markersize=3, linestyle="none")
    axes.set_yticks(places, [row["rule"] for row in rows], fontsize=8)
    axes.set_xscale("symlog", linthresh=_LINEAR)
    axes.set_xticks(_TICKS, [f"{tick:,}" for tick in _TICKS])
    axes.tick_params(axis="x", labelsize=7)
    axes.grid(axis="x", alpha=0.3)


def png(figure: Figure) -> bytes:
    """The figure as PNG bytes, the same for the same figure."""
    buffer = io.BytesIO()
    figure.savefig(buffer, format="png", dpi=100, facecolor="white", metadata={"Software": None})
    return buffer.getvalue()

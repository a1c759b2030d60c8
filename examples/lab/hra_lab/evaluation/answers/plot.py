"""Scores against tokens. Needs matplotlib."""

from __future__ import annotations

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from hra_lab.bootstrap import mean_of
from hra_lab.evaluation.answers.methods import DOWN, GRID, GUIDED, ORACLE
from hra_lab.evaluation.answers.run import FULL
from hra_lab.evaluation.answers.table import Curves

_COLOURS = ("#000000", "#0072B2", "#56B4E9", "#CC79A7", "#882255", "#AA4499", "#E69F00", "#999999", "#D55E00")
_DASHED = (ORACLE,)
_WIDE = (GUIDED, GRID, DOWN)


def curves_figure(measures: dict[str, Curves]) -> Figure:
    """One panel per measure: mean score by tokens, with 95 % intervals of the three that are compared."""
    figure = Figure(figsize=(4.4 * len(measures) + 1.6, 3.9), layout="constrained")
    panels = figure.subplots(1, len(measures), sharey=True, squeeze=False)[0]
    for axes, (measure, curves) in zip(panels, measures.items(), strict=True):
        _panel(axes, curves)
        axes.set_title(measure, fontsize=9)
    panels[0].set_ylabel("mean score, %")
    handles, labels = panels[0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside right center", fontsize=8, frameon=False)
    figure.supxlabel("tokens", fontsize=9)
    return figure


def _panel(axes: Axes, curves: Curves) -> None:
    axes.axhline(100 * mean_of(curves[FULL]["0"]).value, color="#009E73", linewidth=1, linestyle=":", label=FULL)
    shown = [method for method in curves if method != FULL]
    budgets = [int(budget) for budget in curves[shown[0]]]
    for method, colour in zip(shown, _COLOURS, strict=True):
        found = [mean_of(scores) for scores in curves[method].values()]
        line = "--" if method in _DASHED else "-"
        means = [100 * one.value for one in found]
        axes.plot(budgets, means, line, color=colour, marker="o", markersize=3, linewidth=1.3, label=method)
        if method in _WIDE:
            axes.fill_between(
                budgets, [100 * i.low for i in found], [100 * i.high for i in found], color=colour, alpha=0.15
            )
    axes.set(xscale="log", ylim=(-3, 103))
    axes.set_xticks(budgets, [str(budget) for budget in budgets], fontsize=8)
    axes.minorticks_off()
    axes.grid(alpha=0.3)

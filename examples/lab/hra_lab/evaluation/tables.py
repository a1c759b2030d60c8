"""Losses as Markdown tables."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

# Percent that sums in another order may differ by.
_ROUNDING = 1e-9


def loss_table(rows: Sequence[dict[str, Any]], measure: str) -> str:
    """Mean and worst loss of every rule (down) at every budget (across), in percent.

    Parameters
    ----------
    rows : of one kind of data, as `hra_lab.evaluation.core.run` returns them.
    measure : "gain_lost" or "residual_excess".
    """
    budgets = list(dict.fromkeys(row["budget"] for row in rows))
    cells = {(row["rule"], row["budget"]): row[measure] for row in rows}
    lines = [
        _line(["rule", *(f"{budget}: mean" if part == 0 else "worst" for budget in budgets for part in range(2))]),
        _line(["---", *["---:"] * (2 * len(budgets))]),
    ]
    for rule in dict.fromkeys(row["rule"] for row in rows):
        values = [cells[rule, budget][part] for budget in budgets for part in ("mean", "worst")]
        lines.append(_line([rule, *map(percent, values)]))
    return "\n".join(lines)


def percent(share: float) -> str:
    """Two significant digits, whole numbers from 10 on; 0 is no more than rounding."""
    value = 100 * share
    if value < 0.0005:
        return "< 0.001" if value > _ROUNDING else "0"
    return f"{value:,.0f}" if value >= 10 else f"{value:.2g}"


def _line(cells: Iterable[str]) -> str:
    return "| " + " | ".join(cells) + " |"

"""The tests of examples/lab/docs/hypotheses.md, in its order, from the record of answers."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from hra_lab.evidence.canvas import KINDS
from hra_lab.evidence.experiment import MAIN, unpacked
from hra_lab.evidence.statistics import Difference, holm, paired

Answers = Callable[..., np.ndarray]
MARGIN = 1.0
"""Points by which log-polar may lie below the grid."""


def answers_of(
    record: dict[str, Any], method: str, budget: int, relevance: str = "oracle", shown: str = "all"
) -> np.ndarray:
    """Whether each reader answers right about a cell, bool [readers, canvases, kinds]."""
    key = {"method": method, "budget": budget, "relevance": relevance, "shown": shown}
    row = next(row for row in record["rows"] if key.items() <= row.items())
    return unpacked(row["right"], record["canvases"])


def outcomes(record: dict[str, Any]) -> list[tuple[str, Difference, float]]:
    """What each hypothesis says, the difference in points with its interval, and Holm's p."""

    def mean(method: str, kind: str, budget: int = MAIN, relevance: str = "oracle") -> np.ndarray:
        return answers_of(record, method, budget, relevance)[..., KINDS.index(kind)].mean(axis=0)

    pyramid = mean("pyramid", "target")
    grid = mean("grid", "target")
    blind = {method: mean(method, "target", relevance="none") for method in ("downsample", "uniform-grid", "random")}
    differences = {
        "1a pyramid - downsample, target": pyramid - blind["downsample"],
        "1b pyramid - grid, target": pyramid - grid,
        "1c pyramid - uniform grid, target": pyramid - blind["uniform-grid"],
        "1d pyramid - random, target": pyramid - blind["random"],
        "2 scales x relevance, target": (pyramid - mean("pyramid", "target", relevance="uniform"))
        - (grid - mean("grid", "target", relevance="uniform")),
        f"3 log-polar 10 - grid 17 + {MARGIN:.0f} point, target": mean("log-polar", "target", 10)
        - mean("grid", "target", 17)
        + MARGIN / 100,
        "4a pyramid - downsample, secondary": mean("pyramid", "secondary")
        - mean("downsample", "secondary", relevance="none"),
        "4b pyramid - downsample, periphery": mean("pyramid", "periphery")
        - mean("downsample", "periphery", relevance="none"),
    }
    found = [paired(values) for values in differences.values()]
    adjusted = holm([one.p for one in found])
    return list(zip(differences, found, adjusted, strict=True))


def curve(record: dict[str, Any], method: str, relevance: str, kind: str, budgets: tuple[int, ...]) -> np.ndarray:
    """Percent of right answers at each budget."""
    column = KINDS.index(kind)
    return np.array([100 * answers_of(record, method, b, relevance)[..., column].mean() for b in budgets])


def tokens_for(share: float, budgets: tuple[int, ...], shares: np.ndarray) -> float | None:
    """Tokens at which a curve, its ups and downs ironed out, reaches ``share``: linear in between; None beyond it."""
    rising = np.maximum.accumulate(shares)
    if share > rising[-1]:
        return None
    if share <= rising[0]:
        return float(budgets[0])
    i = int(np.searchsorted(rising, share))
    part = (share - rising[i - 1]) / (rising[i] - rising[i - 1])
    return float(budgets[i - 1] + part * (budgets[i] - budgets[i - 1]))

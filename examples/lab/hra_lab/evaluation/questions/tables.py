"""What is shown of answers, and what can be read of them, as Markdown tables."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from hra_lab.evaluation.questions import reading, showing

Row = Mapping[str, Any]


def read_table(rows: Sequence[Row], chosen: Callable[[Row], bool] = lambda row: True) -> str:
    """Share of the answers that OCR reads, one line per method."""
    methods = [method for method in dict.fromkeys(row["method"] for row in rows) if method != reading.FULL]
    lines = ["| chosen by | " + " | ".join(f"{budget} tokens" for budget in reading.BUDGETS) + " |"]
    lines.append("| --- |" + " ---: |" * len(reading.BUDGETS))
    for method in methods:
        cells = [_percent(read_share(filter(chosen, rows), method, budget)) for budget in reading.BUDGETS]
        lines.append(f"| {method} | " + " | ".join(cells) + " |")
    return "\n".join(lines)


def read_share(rows: Any, method: str, budget: int | None) -> float:
    """Share of the pages whose answer was read; NaN without any."""
    read = [row["read"] for row in rows if row["method"] == method and row["budget"] == budget]
    return float(np.mean(read)) if read else float("nan")


def shown_table(rows: Sequence[Row]) -> str:
    """Mean share of the answer's box at full detail, one line per preset and relevance."""
    lines = ["| preset | relevance | " + " | ".join(map(str, showing.BUDGETS)) + " | questions |"]
    lines.append("| --- | --- |" + " ---: |" * (len(showing.BUDGETS) + 1))
    for preset, relevance in dict.fromkeys((row["preset"], row["relevance"]) for row in rows):
        here = [row for row in rows if (row["preset"], row["relevance"]) == (preset, relevance)]
        cells = [_mean([row["share"] for row in here if row["budget"] == budget]) for budget in showing.BUDGETS]
        count = len(here) // len(showing.BUDGETS)
        lines.append(f"| `{preset}` | {relevance} | " + " | ".join(cells) + f" | {count} |")
    return "\n".join(lines)


def _mean(shares: Sequence[float | None]) -> str:
    """A dash where some question's budget was refused."""
    return "-" if None in shares or not shares else _percent(float(np.mean([share or 0 for share in shares])))


def _percent(share: float) -> str:
    return "-" if np.isnan(share) else f"{share:.0%}"

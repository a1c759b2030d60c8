"""What token methods give back, cover and cost, as Markdown tables."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from hra_lab.evaluation.token_methods.run import BASELINE

Rows = Sequence[Mapping[str, Any]]


def groups_of(rows: Rows) -> dict[str, list[Any]]:
    """Rows by group, in order: large images first, then the same with a base, then small ones."""
    names = sorted(
        dict.fromkeys(row["group"] for row in rows), key=lambda name: (name.startswith("small"), "," in name)
    )
    return {name: [row for row in rows if row["group"] == name] for name in names}


def method_table(rows: Rows) -> str:
    """One line per method, means over the images of ``rows``, in the order of what they gain over down-sampling.

    Parameters
    ----------
    rows : of one group of images, as `hra_lab.evaluation.token_methods.run.run` returns them.
    """
    of = {name: [row for row in rows if row["method"] == name] for name in dict.fromkeys(row["method"] for row in rows)}
    baseline = baseline_psnr(rows)
    lines = ["| " + " | ".join(["method", *_COLUMNS, "better than down-sampling"]) + " |"]
    lines.append("| --- |" + " ---: |" * (len(_COLUMNS) + 1))
    for name in sorted(of, key=lambda name: -ahead_of(baseline, of[name])):
        wins = sum(row["psnr_db"] > baseline[row["source"]] for row in of[name])
        cells = [f"`{name}`", *(cell(of[name], baseline) for cell in _COLUMNS.values())]
        lines.append("| " + " | ".join([*cells, f"{wins} of {len(of[name])}"]) + " |")
    return "\n".join(lines)


def _mean(rows: Rows, key: str) -> float:
    return float(np.mean([row[key] for row in rows]))


def baseline_psnr(rows: Rows) -> dict[str, float]:
    """PSNR of down-sampling by image."""
    return {row["source"]: row["psnr_db"] for row in rows if row["method"] == BASELINE}


def ahead_of(baseline: Mapping[str, float], rows: Rows) -> float:
    """Mean PSNR of ``rows`` less that of the baseline on the same images, dB; 0 where both show an image exactly."""
    pairs = [(row["psnr_db"], baseline[row["source"]]) for row in rows]
    return float(np.mean([0.0 if own == other else own - other for own, other in pairs]))


def _residual_gap(rows: Rows, baseline: Mapping[str, float]) -> str:
    """The worst one; nothing where gains do not add up."""
    gaps = [row["residual_gap"] for row in rows]
    return "-" if None in gaps else f"{max(gaps):.1e}" if max(gaps) > 1e-9 else "0"


_COLUMNS: Mapping[str, Callable[[Rows, Mapping[str, float]], str]] = {
    "PSNR, dB": lambda rows, _: f"{_mean(rows, 'psnr_db'):.2f}",
    "over down-sampling": lambda rows, baseline: f"{ahead_of(baseline, rows):+.2f}",
    "SSIM": lambda rows, _: f"{_mean(rows, 'ssim'):.3f}",
    "shown": lambda rows, _: f"{np.mean([row['coverage']['area'] for row in rows]):.0%}",
    "empty cells": lambda rows, _: f"{_mean(rows, 'empty_cells'):.0f}",
    "gain": lambda rows, _: f"{_mean(rows, 'gain'):.3f}",
    "redundancy": lambda rows, _: f"{_mean(rows, 'redundancy'):.2f}",
    "residual gap": _residual_gap,
    "ms": lambda rows, _: f"{np.median([row['total_ms'] for row in rows]):.0f}",
    "to select": lambda rows, _: f"{np.median([row['select_ms'] for row in rows]):.1f}",
}

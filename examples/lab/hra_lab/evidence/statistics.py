"""Intervals and tests of differences that are paired by canvas."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from hra_lab.bootstrap import Interval, around, resampled

_DRAWS = 10_000


@dataclass(frozen=True)
class Difference(Interval):
    """A mean difference in points: its value, its 95 % interval, and a two-sided p."""

    p: float


def paired(differences: np.ndarray) -> Difference:
    """Bootstrap of the mean of ``differences`` [canvases], each a canvas's mean over readers (clusters are canvases).

    p is twice the smaller share of means on either side of 0, never less than 2 / 10,001.
    """
    means = 100 * resampled(differences, _DRAWS)
    found = around(float(100 * differences.mean()), means)
    tail = min((means <= 0).sum(), (means >= 0).sum())
    return Difference(found.value, found.low, found.high, min(1.0, 2 * (1 + tail) / (1 + _DRAWS)))


def holm(values: Sequence[float]) -> list[float]:
    """Each p adjusted for so many tests (S. Holm, "A simple sequentially rejective multiple test procedure", 1979)."""
    adjusted, highest = [0.0] * len(values), 0.0
    for rank, i in enumerate(np.argsort(values)):
        highest = max(highest, min(1.0, (len(values) - rank) * values[i]))
        adjusted[i] = highest
    return adjusted

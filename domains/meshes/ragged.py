"""Runs of different lengths in one flat array, as offsets and values."""

from __future__ import annotations

import numpy as np


def run_offsets(sizes: np.ndarray) -> np.ndarray:
    """Where consecutive runs of these ``sizes`` [n] begin and end, int64 [n + 1]."""
    offsets = np.zeros(len(sizes) + 1, np.int64)
    np.cumsum(sizes, out=offsets[1:])
    return offsets


def take_runs(values: np.ndarray, offsets: np.ndarray, rows: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The runs ``rows`` of ``values``, one after the other, and their offsets."""
    out_offsets = run_offsets(np.diff(offsets)[rows])
    runs = zip(offsets[rows].tolist(), offsets[rows + 1].tolist(), strict=True)
    return np.concatenate([values[:0], *(values[begin:end] for begin, end in runs)]), out_offsets

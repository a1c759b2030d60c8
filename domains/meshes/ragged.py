"""Runs of different lengths in one flat array, as offsets and values."""

from __future__ import annotations

import numpy as np
from numba import njit


def run_offsets(sizes: np.ndarray) -> np.ndarray:
    """Where consecutive runs of these ``sizes`` [n] begin and end, int64 [n + 1]."""
    offsets = np.zeros(len(sizes) + 1, np.int64)
    np.cumsum(sizes, out=offsets[1:])
    return offsets


def take_runs(values: np.ndarray, offsets: np.ndarray, rows: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The runs ``rows`` of ``values``, one after the other, and their offsets."""
    out_offsets = run_offsets(np.diff(offsets)[rows])
    out = np.empty(out_offsets[-1], values.dtype)
    _copy_runs(values, offsets, rows, out, out_offsets)
    return out, out_offsets


@njit(cache=True)
def _copy_runs(values, offsets, rows, out, out_offsets):
    for k in range(rows.size):
        begin = offsets[rows[k]]
        for i in range(out_offsets[k + 1] - out_offsets[k]):
            out[out_offsets[k] + i] = values[begin + i]

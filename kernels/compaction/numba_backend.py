"""Threshold cuts and compaction as serial loops."""

from __future__ import annotations

import numpy as np

from hra.compiling import njit


def threshold_cut(parent: np.ndarray, error: np.ndarray, tolerance: np.ndarray) -> np.ndarray:
    """See :func:`hra.kernels.compaction.threshold_cut`."""
    drawn = np.empty(error.shape, np.bool_)
    _threshold_cut(parent, error, tolerance, drawn)
    return drawn


def compact(flags: np.ndarray) -> np.ndarray:
    """See :func:`hra.kernels.compaction.compact`."""
    indices = np.empty(np.count_nonzero(flags) + 1, np.int32)
    _compact(flags, indices)
    return indices[:-1]


@njit(cache=True, nogil=True)
def _threshold_cut(parent, error, tolerance, drawn):
    for b in range(len(error)):
        limit = tolerance[b]
        for v in range(parent.size):
            above = parent[v]
            # Both tests in any case: a branch that cannot be predicted takes longer than a read.
            drawn[b, v] = (error[b, v] <= limit) & ((above < 0) | (error[b, max(above, 0)] > limit))


@njit(cache=True, nogil=True)
def _compact(flags, indices):
    count = 0
    for i in range(flags.size):
        indices[count] = i  # written in any case: a branch that cannot be predicted takes five times longer
        count += flags[i]

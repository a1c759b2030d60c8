"""The plain reference of threshold cuts and compaction."""

from __future__ import annotations

import numpy as np


def threshold_cut(parent: np.ndarray, error: np.ndarray, tolerance: np.ndarray) -> np.ndarray:
    """See :func:`hra.kernels.compaction.threshold_cut`."""
    limit = tolerance[:, None]
    too_coarse = np.concatenate([error > limit, np.ones_like(limit, np.bool_)], axis=1)  # -1 reads the True at the end
    return (error <= limit) & too_coarse[:, parent]


def compact(flags: np.ndarray) -> np.ndarray:
    """See :func:`hra.kernels.compaction.compact`."""
    return np.flatnonzero(flags).astype(np.int32)

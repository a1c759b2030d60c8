"""Points with weights in boxes of at most so much weight each."""

from __future__ import annotations

import numpy as np


def weighted_parts(points: np.ndarray, weights: np.ndarray, most: int, share: float | None = None) -> np.ndarray:
    """The box of each point, numbered along a walk through space; a k-d tree over weights.

    Parameters
    ----------
    points : [n, d]; weights : int [n], > 0.
    most : weight of a box, but for single points that weigh more.
    share : of the weight that the first side of every border gets, so that borders lie elsewhere than at other shares;
        by default such that boxes are full.

    Returns
    -------
    int64 [n], numbers without gaps.

    Examples
    --------
    >>> import numpy as np
    >>> from hra.kernels.chunking import weighted_parts
    >>> weighted_parts(np.array([[0.0], [9.0], [1.0], [8.0]]), np.array([2, 2, 2, 2]), 4).tolist()
    [0, 1, 0, 1]
    """
    result, count = np.zeros(len(points), np.int64), 0
    waiting = [np.arange(len(points))] if len(points) else []
    while waiting:
        rows = waiting.pop()
        total = int(weights[rows].sum())
        if total <= most or len(rows) == 1:
            result[rows] = count
            count += 1
            continue
        own = points[rows]
        axis = int(np.argmax(own.max(axis=0) - own.min(axis=0)))
        rows = rows[np.argsort(own[:, axis], kind="stable")]
        boxes = -(-total // most)
        first = boxes // 2 / boxes if share is None else share
        reached = np.cumsum(weights[rows])
        cut = int(np.clip(np.searchsorted(reached, first * total, "right"), 1, len(rows) - 1))
        waiting += [rows[cut:], rows[:cut]]
    return result

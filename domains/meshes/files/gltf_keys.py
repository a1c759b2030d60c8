"""Keys of animations without those that change nothing, exactly (glTF 2.0, section 3.11).

A key between two of the same value says nothing under LINEAR, nor does one that repeats the key before it under STEP.
The first and the last key stay: they say how long an animation takes.
"""

from __future__ import annotations

import numpy as np


def needed_keys(values: np.ndarray, count: int, interpolation: str) -> np.ndarray:
    """The numbers of the keys that make the same animation, int64, rising.

    Parameters
    ----------
    values : [count * m, k], m rows for each of ``count`` keys; compared bit by bit.
    interpolation : "LINEAR", "STEP" or "CUBICSPLINE", whose tangents make every key count.
    """
    if interpolation not in ("LINEAR", "STEP") or count < 3 or len(values) % count:
        return np.arange(count)
    rows = np.ascontiguousarray(values).view(np.uint8).reshape(count, -1)
    as_before = (rows[1:] == rows[:-1]).all(axis=1)
    idle = as_before[:-1] & (as_before[1:] | (interpolation == "STEP"))
    return np.flatnonzero(~np.concatenate([[False], idle, [False]]))

"""The keys that an animation needs: those that make the same one, or one that looks the same.

Source: Khronos, glTF 2.0 specification, section 3.11 and appendix C (interpolation).
"""

from __future__ import annotations

import numpy as np

# Between two keys at most this many are left out, so that long animations take time in proportion to their length.
_LONGEST = 64
# Values from a track's start that are this share of its tolerance are as large as rounding.
_ROUNDING = 1 / 64


def needed_keys(values: np.ndarray, count: int, interpolation: str) -> np.ndarray:
    """The numbers of the keys that make the same animation exactly, int64, rising (glTF 2.0, section 3.11).

    A key between two of the same value says nothing under LINEAR, nor does one that repeats the key before it under
    STEP. The first and the last key stay: they say how long an animation takes.

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


def enough_keys(times: np.ndarray, values: np.ndarray, path: str, tolerance: float) -> np.ndarray:
    """The numbers of the keys of a LINEAR track that lead past all others within a tolerance, int64, rising.

    Parameters
    ----------
    times : [n], rising; values : float [n, k]; path : "rotation", "translation" or "scale".
    tolerance : of rotations, in components of quaternions; of others a share of how far they move.
    """
    points, moments, turns = values.astype(np.float64), times.astype(np.float64), path == "rotation"
    most = tolerance
    if not turns:
        most *= float(np.ptp(points, axis=0).max() + _ROUNDING * np.abs(points).max())
    kept, count = [0], len(points)
    while kept[-1] < count - 1:
        first = kept[-1]
        last = first + 1
        for end in range(first + 2, min(first + _LONGEST, count - 1) + 1):
            share = ((moments[first + 1 : end] - moments[first]) / (moments[end] - moments[first]))[:, None]
            found = _between(points[first], points[end], share, turns)
            if not np.abs(found - points[first + 1 : end]).max() <= most:
                break
            last = end
        kept.append(last)
    return np.array(kept)


def _between(first: np.ndarray, last: np.ndarray, share: np.ndarray, turns: bool) -> np.ndarray:
    """Values [n, k] at ``share`` [n, 1] of the way: along a line, or along the shorter arc of unit quaternions."""
    if not turns:
        return first + (last - first) * share
    cosine = float(first @ last)
    angle = np.arccos(min(abs(cosine), 1.0))
    if np.sin(angle) < 1e-9:
        return first + (np.copysign(1.0, cosine) * last - first) * share
    weights = np.sin((1 - share) * angle), np.copysign(1.0, cosine) * np.sin(share * angle)
    return (weights[0] * first + weights[1] * last) / np.sin(angle)

"""The keys that an animation needs: those that make the same one, or one that looks the same.

Source: Khronos, glTF 2.0 specification, section 3.11 and appendix C (interpolation).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from hra.domains.meshes.files.gltf_extensions import changes_by_pointers
from hra.domains.meshes.files.gltf_nodes import REST

if TYPE_CHECKING:
    from hra.domains.meshes.files.gltf_accessors import Accessors

_FLOAT = 5126
# Between two keys at most this many are left out, so that long animations take time in proportion to their length.
_LONGEST = 64
# Values from a track's start that are this share of its tolerance are as large as rounding.
_ROUNDING = 1 / 64
# Cosines of half of the angle between two keys this near to 0 are a half turn, whose way the last digits decide: the
# shorter arc changes sides with the sign. It is more than any rounding moves them.
_HALF_TURN = 2.0**-10


def is_half_turn(first: np.ndarray, last: np.ndarray) -> np.ndarray:
    """Whether rotations [..., 4] are so nearly a half turn apart that rounding may turn them the other way, bool [...].

    Of keys beside each other the source says which way: they must stay as they are, to the last digit.
    """
    lengths = np.linalg.norm(first, axis=-1) * np.linalg.norm(last, axis=-1)
    return np.abs((first.astype(np.float64) * last).sum(axis=-1)) <= _HALF_TURN * lengths


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
    times : [n], rising; values : float [n, k]; path : "rotation", "translation", "scale" or "weights".
    tolerance : of rotations, in components of quaternions; of others a share of how far they move.
    """
    points, moments, turns = values.astype(np.float64), times.astype(np.float64), path == "rotation"
    most = _most(points, path, tolerance)
    kept, count = [0], len(points)
    while kept[-1] < count - 1:
        first = kept[-1]
        last = first + 1
        for end in range(first + 2, min(first + _LONGEST, count - 1) + 1):
            if turns and is_half_turn(points[first], points[end]):
                break
            share = ((moments[first + 1 : end] - moments[first]) / (moments[end] - moments[first]))[:, None]
            found = _between(points[first], points[end], share, turns)
            if not np.abs(found - points[first + 1 : end]).max() <= most:
                break
            last = end
        kept.append(last)
    return np.array(kept)


def channels_at_rest(accessors: Accessors, tolerance: float) -> set[tuple[int, int]]:
    """The animation and number of each channel that shows what its node says where no animation shows anything else.

    One of those that end last stays if no other does: it says how long an animation takes. All stay where extensions
    may move nodes, too.

    Parameters
    ----------
    tolerance : see `enough_keys`.
    """
    animations = accessors.header.get("animations", [])
    if changes_by_pointers(accessors.header):
        return set()
    resting: dict[tuple[int, int], tuple[int, str]] = {}
    moved: set[tuple[int | None, str]] = set()
    for number, animation in enumerate(animations):
        for k, channel in enumerate(animation["channels"]):
            target, sampler = channel["target"], animation["samplers"][channel["sampler"]]
            part = target.get("node"), target["path"]
            named = {"extensions", "extras"} & {*animation, *channel, *target, *sampler}
            if named or not _is_at_rest(accessors, sampler, *part, tolerance):
                moved.add(part)
            else:
                resting[number, k] = part
    found = {place for place, part in resting.items() if part not in moved}
    for number, animation in enumerate(animations):
        inputs = [animation["samplers"][channel["sampler"]]["input"] for channel in animation["channels"]]
        ends = [float(accessors.array(one)[-1, 0]) for one in inputs]
        last = [(number, k) for k, end in enumerate(ends) if end == max(ends)]
        if found.issuperset(last):
            found.remove(last[0])
    return found


def _is_at_rest(accessors: Accessors, sampler: dict[str, Any], node: int | None, path: str, tolerance: float) -> bool:
    """Whether a sampler of floats shows what a node says that has no matrix."""
    kind = accessors.header["accessors"][sampler["output"]]["componentType"]
    if node is None or path not in REST or kind != _FLOAT or sampler.get("interpolation") == "CUBICSPLINE":
        return False
    entry, values = accessors.header["nodes"][node], accessors.array(sampler["output"]).astype(np.float64)
    rest = np.array(entry.get(path, REST[path]), np.float64)
    if "matrix" in entry or values.shape[1] != len(rest):  # which the format forbids, and nobody refuses
        return False
    ways = (rest, -rest) if path == "rotation" else (rest,)
    return any(np.abs(values - way).max() <= _most(values, path, tolerance) for way in ways)


def _most(points: np.ndarray, path: str, tolerance: float) -> float:
    """The tolerance of values [n, k]."""
    extent = np.ptp(points, axis=0).max() + _ROUNDING * np.abs(points).max()
    return tolerance if path == "rotation" else tolerance * float(extent)


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

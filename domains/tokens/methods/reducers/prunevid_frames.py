"""PruneVid's merging over time and space: what stays still becomes one token for all frames of a segment."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from hra.domains.tokens.methods.reducers.merges import Merges, nearest_of, unit_rows
from hra.errors import ArrayError
from hra.model.arrays import POSITIVE, number_in, to_numpy, whole_in
from hra.solvers.apportionment import largest_remainder
from hra.solvers.picking.density_peaks import density_peaks

_NEIGHBOURS = 7
_FRAMES = 4  # of a segment, on average: the public code makes a quarter as many segments as there are frames


@dataclass(frozen=True, eq=False)
class FrameTokens:
    """What `prunevid_frames` makes of a video.

    Attributes
    ----------
    merges : cells of all frames, frame by frame and row by row, for each token.
    places : int64 [K, 3], (frame, row, column) of the cell in each cluster's middle; of still ones in the first frame.
    segments : int64 [T], the segment of each frame, from 0.
    """

    merges: Merges
    places: np.ndarray
    segments: np.ndarray


def prunevid_frames(features: object, budget: int, *, similarity: float = 0.8) -> FrameTokens:
    """Exactly ``budget`` tokens of a video: segments of frames, still cells as their mean over time, then clusters.

    Frames are segments by density peaks of their means. A cell is still where its features of a segment's frames are
    more alike than ``similarity`` on average. Still cells of a segment and the other cells of each frame are groups;
    each gets tokens by its size and is clustered around as many density peaks. Groups of which the public code leaves
    all cells, those of up to 14, are clustered here, too: the count is exact.

    Source: X. Huang, H. Zhou and K. Han, "PruneVid: visual token pruning for efficient video large language models"
    (2024), the merging before the language model.

    Parameters
    ----------
    features : [T, h, w, D].
    budget : tokens, from 1 on; all cells where there are fewer.

    Raises
    ------
    ArrayError : features of another shape or not finite; a budget below 1.

    Examples
    --------
    >>> import numpy as np
    >>> from hra.domains import tokens
    >>> still = np.repeat(np.random.default_rng(0).normal(size=(1, 2, 2, 8)), 3, axis=0)
    >>> made = tokens.prunevid_frames(still, budget=4)
    >>> made.places[:, 0].tolist(), np.bincount(made.merges.token).tolist()
    ([0, 0, 0, 0], [3, 3, 3, 3])
    """
    values, budget = to_numpy(features), whole_in("budget", budget, POSITIVE, ArrayError)
    number_in("similarity", similarity, -1, 1, ArrayError)
    if values.ndim != 4 or not values.size or values.dtype.kind not in "iuf" or not np.isfinite(values).all():
        what = f"features of {values.dtype} {list(values.shape)}"
        raise ArrayError(what, where="features", fix="pass finite numbers [T, h, w, D]")
    rows = values.reshape(len(values), -1, values.shape[3]).astype(np.float32)
    segments = _segments(rows.mean(axis=1))
    groups = [group for k in range(segments[-1] + 1) for group in _groups(rows, segments == k, similarity)]
    counts = _counts(np.array([group.shape[1] for group in groups]), budget)
    parts, middles, first = [], [], 0
    for group, count in zip(groups, counts, strict=True):
        owner, centres = _clustered(rows, group, int(count))
        if count:
            weight = 1 / (np.bincount(owner)[owner] * len(group))
            parts.append((np.tile(first + owner, len(group)), group.ravel(), np.tile(weight, len(group))))
            middles.append(group[0][centres])
        first += int(count)
    places = np.stack(np.unravel_index(np.concatenate(middles), values.shape[:3]), axis=1)
    return FrameTokens(Merges.of(*parts), places, segments)


def _segments(means: np.ndarray) -> np.ndarray:
    """Frames [T, D] in runs of one cluster, numbered from 0; see `_whole_runs`."""
    centres = density_peaks(means, max(1, len(means) // _FRAMES), _NEIGHBOURS)
    labels = _whole_runs(nearest_of(means, centres))
    return np.append(0, np.cumsum(labels[1:] != labels[:-1]))


def _whole_runs(labels: np.ndarray) -> np.ndarray:
    """Labels [T] of which only the longest runs of each stay, if longer than one; others join the longer neighbour."""
    ends = np.flatnonzero(np.append(labels[1:] != labels[:-1], True)) + 1
    length, owner = np.diff(ends, prepend=0), labels[ends - 1]
    longest = np.zeros(labels.max() + 1, np.int64)
    np.maximum.at(longest, owner, length)
    stays = (length > 1) & (length == longest[owner])
    kept = np.flatnonzero(stays) if stays.any() else np.zeros(1, np.int64)
    runs = np.arange(len(owner))
    left = kept[np.maximum(np.searchsorted(kept, runs, "right") - 1, 0)]
    right = kept[np.minimum(np.searchsorted(kept, runs), len(kept) - 1)]
    # Before the first one and after the last, both are the same.
    return np.repeat(owner[np.where(length[right] > length[left], right, left)], length)


def _groups(rows: np.ndarray, frames: np.ndarray, similarity: float) -> list[np.ndarray]:
    """Still cells of all frames together, int64 [frames, n], then the other cells of each frame, [1, n]."""
    here = np.flatnonzero(frames)
    cells = here[:, None] * rows.shape[1] + np.arange(rows.shape[1])
    still = _stillness(rows[here]) > similarity
    groups = [cells[:, still], *(each[None, ~still] for each in cells)]
    return [group for group in groups if group.shape[1]]


def _stillness(rows: np.ndarray) -> np.ndarray:
    """Mean cosine of each cell's features [F, N, D] over pairs of frames, [N]; 0 of a single frame."""
    count = len(rows)
    unit = unit_rows(rows.reshape(-1, rows.shape[2])).reshape(rows.shape)
    pairs = (unit.sum(axis=0) ** 2).sum(axis=1) - (unit**2).sum(axis=(0, 2))
    return pairs / max(count * (count - 1), 1)


def _counts(sizes: np.ndarray, budget: int) -> np.ndarray:
    return largest_remainder(sizes.astype(np.float64), min(budget, int(sizes.sum())), sizes)


def _clustered(rows: np.ndarray, group: np.ndarray, count: int) -> tuple[np.ndarray, np.ndarray]:
    """The cluster of each cell of a group, and the cells in the middle of the clusters."""
    means = rows.reshape(-1, rows.shape[2])[group].mean(axis=0)
    centres = np.sort(density_peaks(means, count, _NEIGHBOURS))
    return (nearest_of(means, centres) if count else centres), centres

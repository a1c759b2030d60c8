"""What a rule of picking is, what it reads of a problem, and the rules of a few lines.

`Top` takes the largest values first, `Strided` every n-th of what is left, `Bands` the best of every band of a
sequence in proportion to what the band is worth, `Changed` what is new in frames, and `Windows` the best of every
window of a grid.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any

import numpy as np

from hra.errors import MetricError
from hra.model.problem import Problem
from hra.solvers.apportionment import largest_remainder


class Picker(ABC):
    """Takes refinements one after another. Rules are small frozen dataclasses that implement `pick`."""

    @abstractmethod
    def pick(self, problem: Problem, taken: np.ndarray, count: int) -> np.ndarray:
        """``count`` refinements that are not ``taken`` bool [R], in the order of picking, int64 [count]."""


def attribute(problem: Problem, name: str) -> Any:
    """A node attribute [R, ...] by the refinement that adds the node."""
    hierarchy = problem.hierarchy
    added = hierarchy.added_by >= 0
    values = hierarchy.attribute(name)
    if np.array_equal(hierarchy.added_by, np.arange(len(values))):
        return values
    result = np.empty((len(hierarchy), *values.shape[1:]), values.dtype)
    result[hierarchy.added_by[added]] = values[added]
    return result


def vectors(problem: Problem, name: str) -> np.ndarray:
    """A node attribute as vectors, float32 [R, D].

    Raises
    ------
    MetricError : the attribute holds no finite vectors.
    """
    values = attribute(problem, name)
    if values.ndim != 2 or not np.isfinite(values).all():
        what = f"attribute {name!r} has shape {values.shape}, expected finite vectors [nodes, D]"
        raise MetricError(what, where=name, fix="give each node a vector of features")
    return values.astype(np.float32, copy=False)


def directions(problem: Problem, name: str) -> np.ndarray:
    """`vectors` of length 1, float32 [R, D]; zeros stay zeros."""
    values = vectors(problem, name)
    return values / np.maximum(np.linalg.norm(values, axis=1, keepdims=True), np.finfo(np.float32).tiny)


@dataclass(frozen=True)
class Top(Picker):
    """The largest values of a node attribute, by default the gains; ties in the given order."""

    by: str | None = None

    def pick(self, problem: Problem, taken: np.ndarray, count: int) -> np.ndarray:
        """See `Picker.pick`."""
        values = problem.gain if self.by is None else attribute(problem, self.by)
        left = np.flatnonzero(~taken)
        return left[np.argsort(-values[left], kind="stable")[:count]]


@dataclass(frozen=True)
class Strided(Picker):
    """Every n-th refinement that is left, from the first on, n as large as it can be."""

    def pick(self, problem: Problem, taken: np.ndarray, count: int) -> np.ndarray:
        """See `Picker.pick`."""
        left = np.flatnonzero(~taken)
        return left[:: max(1, len(left) // max(count, 1))][:count]


@dataclass(frozen=True)
class Bands(Picker):
    """Runs of equal length, each with a share of the count by its mean; of each run the largest values.

    What rounding down leaves goes one by one to the runs of the largest mean, and what a run has no room for to the
    others in the same way.

    Source: X. Zou et al., "HoloV" (NeurIPS 2025).

    Parameters
    ----------
    count : of runs; the first ones are longer by one where they cannot be equal.
    by : node attribute that is compared, by default the gains, >= 0.
    """

    count: int = 16
    by: str | None = None

    def pick(self, problem: Problem, taken: np.ndarray, count: int) -> np.ndarray:
        """See `Picker.pick`."""
        values = problem.gain if self.by is None else attribute(problem, self.by)
        left = np.flatnonzero(~taken)
        runs = [run for run in np.array_split(left, self.count) if len(run)]
        worth = np.array([values[run].mean() for run in runs])
        counts = _shared(worth, np.array([len(run) for run in runs]), count)
        best = [run[np.argsort(-values[run], kind="stable")[:most]] for run, most in zip(runs, counts, strict=True)]
        return np.concatenate(best) if best else left


def _shared(worth: np.ndarray, room: np.ndarray, count: int) -> np.ndarray:
    """Counts that add up to ``count``, none above its room: int64."""
    total = worth.sum()
    share = worth / total if total > 0 else np.full(len(worth), 1 / max(len(worth), 1))
    counts = np.minimum(np.floor(share * count).astype(np.int64), room)
    order = np.argsort(-worth, kind="stable")
    while counts.sum() < count:
        free = order[counts[order] < room[order]]
        counts[free[: count - counts.sum()]] += 1
    return counts


@dataclass(frozen=True)
class Changed(Picker):
    """The first frame, then the cells that are least like the same cell one frame before, by cosine.

    Source: N. Bagrov et al., "Efficient Video Sampling" (arXiv 2510.14624), where a share of the cells goes.

    Parameters
    ----------
    features, frame : node attributes, vectors [N, D], and int [N] from 0 on: frames of equal size, one after the other.
    """

    features: str = "features"
    frame: str = "frame"

    def pick(self, problem: Problem, taken: np.ndarray, count: int) -> np.ndarray:
        """See `Picker.pick`."""
        unit = directions(problem, self.features)
        size = int((attribute(problem, self.frame) == 0).sum())
        change = np.full(len(unit), np.inf)
        change[size:] = 1 - (unit[size:] * unit[:-size]).sum(axis=1) if size < len(unit) else 0
        left = np.flatnonzero(~taken)
        return left[np.argsort(-change[left], kind="stable")[:count]]


@dataclass(frozen=True)
class Windows(Picker):
    """Equally many of every window of a grid, those of the largest values.

    Parameters
    ----------
    by : node attribute that is compared, by default the gains.
    side : of a window, in steps of the node attributes "x" and "y".
    """

    by: str | None = None
    side: int = 6

    def pick(self, problem: Problem, taken: np.ndarray, count: int) -> np.ndarray:
        """See `Picker.pick`."""
        values = problem.gain if self.by is None else attribute(problem, self.by)
        left = np.flatnonzero(~taken)
        x, y = (attribute(problem, name)[left] // self.side for name in ("x", "y"))
        _, window = np.unique(y * (x.max(initial=0) + 1) + x, return_inverse=True)
        members = np.bincount(window)
        counts = largest_remainder(np.ones(len(members)), count, members, minimum=0)
        order = np.lexsort((-values[left], window))
        rank = np.arange(len(left)) - np.repeat(np.cumsum(members) - members, members)
        return left[order[rank < counts[window[order]]]]

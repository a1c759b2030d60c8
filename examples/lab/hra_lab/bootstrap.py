"""What scores of the same tasks allow to say: means and differences with intervals by the paired bootstrap."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from hra.errors import ArrayError

_SEED = 0
_TAIL = 0.025  # outside on either side


@dataclass(frozen=True)
class Interval:
    """A value and the 95 % interval around it."""

    value: float
    low: float
    high: float


def resampled(values: np.ndarray, draws: int = 2000, groups: Sequence[Hashable] | None = None) -> np.ndarray:
    """Means of tasks drawn with replacement; the same draws for every method and at every call.

    Resampling tasks keeps the scores of all methods on one task together (the paired bootstrap; B. Efron and
    R. J. Tibshirani, "An introduction to the bootstrap", 1993).

    Parameters
    ----------
    values : [..., tasks].
    groups : what each task belongs to, such as its image: whole groups are drawn, since their tasks are alike.

    Returns
    -------
    float64 [draws, ...].

    Examples
    --------
    >>> resampled(np.ones((3, 5))).shape
    (2000, 3)
    """
    if groups is not None:
        number = {group: i for i, group in enumerate(dict.fromkeys(groups))}
        member = np.eye(len(number))[[number[group] for group in groups]]
        sums = resampled(values @ member, draws), resampled(member.sum(axis=0), draws)
        return sums[0] / sums[1].reshape(-1, *[1] * (values.ndim - 1))
    count = values.shape[-1]
    return (_times(count, draws) @ np.moveaxis(values, -1, 0)) / count


@lru_cache(1)  # pages ask for hundreds of intervals of the same tasks
def _times(count: int, draws: int) -> np.ndarray:
    """How often each task is drawn, [draws, count]."""
    return np.random.default_rng(_SEED).multinomial(count, np.full(count, 1 / count), draws)


def mean_of(scores: Sequence[float] | np.ndarray, groups: Sequence[Hashable] | None = None) -> Interval:
    """The mean score of the tasks; see `resampled` for ``groups``.

    Raises
    ------
    ArrayError : no score.

    Examples
    --------
    >>> mean_of([0.0, 1.0, 1.0, 1.0]).value
    0.75
    """
    values = np.asarray(scores, float)
    if not values.size:
        raise ArrayError("a mean of no task", where="scores", fix="judge one task or more")
    return around(float(values.mean()), resampled(values, groups=groups))


def difference(scores: Sequence[float], others: Sequence[float], groups: Sequence[Hashable] | None = None) -> Interval:
    """The mean of one method less that of another, on the same tasks; see `resampled` for ``groups``.

    Raises
    ------
    ArrayError : scores of different numbers of tasks, or none.

    Examples
    --------
    >>> difference([1.0, 1.0], [0.5, 0.5])
    Interval(value=0.5, low=0.5, high=0.5)
    """
    if len(scores) != len(others):
        what = f"{len(scores)} and {len(others)} scores"
        raise ArrayError(what, where="others", fix="pass the scores of the same tasks")
    return mean_of(np.asarray(scores, float) - np.asarray(others, float), groups)


def ratio(values: Sequence[float], others: Sequence[float], groups: Sequence[Hashable] | None = None) -> Interval:
    """The mean of one method by that of another, on the same tasks, such as seconds; see `resampled` for ``groups``.

    Examples
    --------
    >>> ratio([2.0, 4.0], [1.0, 2.0])
    Interval(value=2.0, low=2.0, high=2.0)
    """
    both = np.array([values, others], float)
    above, below = resampled(both, groups=groups).T
    return around(float(both[0].mean() / both[1].mean()), above / below)


def around(value: float, values: np.ndarray) -> Interval:
    """A value with the middle 95 % of its resamples; infinite ones count as larger than all others."""
    method = "linear" if np.isfinite(values).all() else "closest_observation"  # nothing lies between 5 and infinity
    low, high = np.quantile(values, (_TAIL, 1 - _TAIL), method=method)
    return Interval(value, float(low), float(high))

"""What a relevance is: a callable of a `TokenContext`; and the check of what it returns.

>>> import numpy as np
>>> from hra.domains import tokens
>>> def left_half(context):
...     return [[1.0, 0.0]]
>>> image = np.zeros((64, 64, 3), np.float32)
>>> tokens.GridTopK(left_half).allocate((image, ""), budget=8).gain
8.0
"""

from __future__ import annotations

from typing import Any

import numpy as np

from hra.errors import ArrayError, HraWarning, MetricError, check_function, warn
from hra.model.arrays import to_numpy


def checked_scores(values: Any, grid: tuple[int, int], cover: tuple[float, float] = (1.0, 1.0)) -> np.ndarray:
    """A relevance's scores on the grid of the finest patches, their sign and scale as they are.

    Parameters
    ----------
    values : [h, w] numbers over the whole image, or a pair ([N] numbers, (rows, columns)); any array-like.
    grid : (rows, columns) of the finest patches.
    cover : share of that grid's height and width that the image covers, see `resampled`.

    Returns
    -------
    float64 [rows, columns].

    Raises
    ------
    MetricError : no map, not numeric, NaN or infinite.
    """
    scores = _as_map(values)
    bad = np.argwhere(~np.isfinite(scores))
    if bad.size:
        y, x = bad[0]
        what, fix = f"the relevance is {scores[y, x]}", "return finite scores, such as np.nan_to_num(scores)"
        raise MetricError(what, where=f"row {y}, column {x}", fix=fix)
    return resample(scores, grid, cover)


def check_scorer(relevance: Any) -> None:
    """Raise unless ``relevance`` gives scores of a context.

    Raises
    ------
    HraError : a name, a class or anything else that is no function.
    """
    fix = "pass tokens.PhraseRelevance(), tokens.relevance_named('phrase') or a function of the context"
    check_function("relevance", relevance, fix)


def check_relevance(values: Any, grid: tuple[int, int], cover: tuple[float, float] = (1.0, 1.0)) -> np.ndarray:
    """Scores as weights: where some are negative, all are shifted until the least is 0, and a warning says so.

    Parameters
    ----------
    values, grid, cover : see `checked_scores`.

    Returns
    -------
    float64 [rows, columns], >= 0, in the same order as the scores.

    Raises
    ------
    MetricError : no map, not numeric, NaN or infinite.
    """
    scores = checked_scores(values, grid, cover)
    least = float(scores.min(initial=0))
    if least < 0:
        what = f"the relevance has scores down to {least:g}; all were shifted so that the least is 0"
        warn(f"{what}. State it yourself: calibrated(relevance, 'minmax' or another)", HraWarning)
    return scores - least


def _as_map(values: Any) -> np.ndarray:
    """Numbers [h, w] as float64; :class:`MetricError` with the way out for anything else."""
    grid = None
    if isinstance(values, tuple) and len(values) == 2 and np.shape(values[1]) == (2,) and np.ndim(values[0]) == 1:
        values, grid = values
    try:
        scores = values if type(values) is np.ndarray else to_numpy(values)
    except ArrayError as error:
        what = f"the relevance is a {type(values).__name__}, expected [rows, columns] numbers: {error.what}"
        raise MetricError(what, where="relevance", fix=_way_out(np.zeros(()))) from error
    if grid is not None and scores.size == int(grid[0]) * int(grid[1]):
        scores = scores.reshape(int(grid[0]), int(grid[1]))
    if scores.ndim != 2 or not scores.size or scores.dtype.kind not in "iufb":
        raise MetricError(
            f"the relevance has shape {scores.shape} of {scores.dtype}, expected [rows, columns] numbers",
            where="relevance",
            fix=_way_out(scores),
        )
    return scores.astype(np.float64)


def _way_out(scores: np.ndarray) -> str:
    if scores.ndim == 1:
        return f"give the grid of the {scores.size} scores, too: return scores, (rows, columns); drop a class token"
    if scores.ndim == 3:
        return "average or choose along the axis of heads, layers or channels; AttentionMapRelevance averages heads"
    return "return one number per patch, or a map of any other size over the whole image"


def resample(values: np.ndarray, grid: tuple[int, int], cover: tuple[float, float] = (1.0, 1.0)) -> np.ndarray:
    """A map over the whole image on another grid: each cell gets the mean over its area.

    The map divides the image evenly; the mean over the image does not change. One on the same grid is returned as is.

    Parameters
    ----------
    values : [h, w] or [h, w, D].
    grid : (rows, columns) of the result.
    cover : share of the height and width of the new grid that the image covers: its last cells may reach beyond.

    Returns
    -------
    float64 [rows, columns] or [rows, columns, D].
    """
    if values.shape[:2] == tuple(grid):
        return np.asarray(values, np.float64)
    vertical, horizontal = (_shares(*axis) for axis in zip(values.shape[:2], grid, cover, strict=True))
    down = np.tensordot(vertical, np.asarray(values, np.float64), axes=(1, 0))
    return np.moveaxis(np.tensordot(horizontal, down, axes=(1, 1)), 0, 1)


def _shares(count: int, into: int, cover: float) -> np.ndarray:
    """Which share of each of ``into`` cells, as far as it is image, lies in each of ``count`` cells, [into, count]."""
    new, old = np.minimum(np.linspace(0, 1 / cover, into + 1), 1), np.linspace(0, 1, count + 1)
    overlap = np.minimum(new[1:, None], old[1:]) - np.maximum(new[:-1, None], old[:-1])
    return np.maximum(overlap, 0) / np.diff(new)[:, None]

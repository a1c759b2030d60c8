"""Relevance of patches to a query: the shipped combination of cues, and the check of any other callable."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from hra.arrays import to_numpy
from hra.domains.tokens.saliency import saliency
from hra.domains.tokens.spatial_words import spatial_words
from hra.domains.tokens.text_likeness import text_likeness
from hra.errors import MetricError

Relevance = Callable[[np.ndarray, str], Any]
"""(image float32 [H, W, 3], query) -> relevance of every finest patch [ceil(H/patch), ceil(W/patch)]."""


@dataclass(frozen=True)
class CueRelevance:
    """Relevance without a model: ``spatial x (0.2 + 0.4 saliency + 0.4 text-likeness)``.

    Saliency and text-likeness are divided by their largest value; the constant keeps every patch in the game, so that
    the map is never all zero. See `saliency`, `text_likeness` and `spatial_words` for the cues and their sources.

    Parameters
    ----------
    patch : side of a patch in pixels.
    """

    patch: int = 16

    def __call__(self, image: np.ndarray, query: str) -> np.ndarray:
        """Relevance [ceil(H/patch), ceil(W/patch)], float32 in (0, 1]."""
        salient = _unit(saliency(image, self.patch))
        text = _unit(text_likeness(image, self.patch))
        return spatial_words(query, *salient.shape) * (0.2 + 0.4 * salient + 0.4 * text)


@dataclass(frozen=True)
class UniformRelevance:
    """The same relevance for every patch: the error itself decides (the oracle of reconstructions).

    Parameters
    ----------
    patch : side of a patch in pixels.
    """

    patch: int = 16

    def __call__(self, image: np.ndarray, query: str) -> np.ndarray:
        """Ones [ceil(H/patch), ceil(W/patch)], float32."""
        rows, columns = (-(-extent // self.patch) for extent in image.shape[:2])
        return np.ones((rows, columns), np.float32)


def checked_relevance(values: Any, grid: tuple[int, int]) -> np.ndarray:
    """Validate a relevance map; negative scores mean "not relevant" and count as 0.

    Parameters
    ----------
    values : [rows, columns] numbers, one per finest patch; any array-like.
    grid : the expected (rows, columns).

    Returns
    -------
    float64 [rows, columns], >= 0.

    Raises
    ------
    MetricError : wrong shape, not numeric, NaN or infinite.
    """
    scores = to_numpy(values)
    if scores.shape != grid or scores.dtype.kind not in "iuf":
        raise MetricError(
            f"the relevance has shape {scores.shape} of {scores.dtype}, expected {grid} numbers",
            where="relevance",
            fix="return one number per patch: [ceil(H/patch), ceil(W/patch)]",
        )
    bad = np.argwhere(~np.isfinite(scores))
    if bad.size:
        y, x = bad[0]
        raise MetricError(f"the relevance is {scores[y, x]}", where=f"patch row {y}, column {x}")
    return np.maximum(scores.astype(np.float64), 0)


def _unit(cue: np.ndarray) -> np.ndarray:
    """A cue divided by its largest value, unless that is less than one step of 8-bit images (rounding, no content)."""
    return cue / max(float(cue.max()), 1 / 255)

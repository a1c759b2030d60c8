"""Fixation finders: strategies that say where to look first, such as the peak of a coarse pass over the relevance."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from hra.domains.tokens.pyramid.blocks import cell_borders, cell_means
from hra.domains.tokens.relevance.spatial_words import named_place
from hra.errors import MetricError, check_function
from hra.model.arrays import POSITIVE, whole_in

_CELLS = 16  # the coarse pass sees the image as 16 x 16 cells


def coarse_peak(relevance: np.ndarray, patch: int = 16) -> tuple[float, float]:
    """The centre of the most relevant cell of a coarse 16 x 16 pass over the relevance.

    Parameters
    ----------
    relevance : [rows, columns] of the finest patches; fewer than 16 rows or columns are their own cells.
    patch : side of a finest patch in pixels.

    Returns
    -------
    (x, y) in pixels; of equal cells the first, row by row.

    Raises
    ------
    MetricError : no map of rows and columns, or a side that is not a whole number above 0.
    """
    side = patch if type(patch) is int and patch > 0 else whole_in("patch", patch, POSITIVE, MetricError)
    if np.ndim(relevance) != 2 or not np.size(relevance):
        what = f"the relevance has shape {np.shape(relevance)}, expected [rows, columns]"
        raise MetricError(what, where="relevance", fix="pass one number per patch")
    means = cell_means(relevance, (_CELLS, _CELLS))
    y, x = np.unravel_index(int(means.argmax()), means.shape)
    rows, columns = cell_borders(relevance.shape[0], _CELLS), cell_borders(relevance.shape[1], _CELLS)
    return float(columns[x] + columns[x + 1]) * side / 2, float(rows[y] + rows[y + 1]) * side / 2


FixationFinder = Callable[[np.ndarray, str, np.ndarray], tuple[float, float]]
"""(image float32 [H, W, 3], query, relevance [rows, columns]) -> fixation (x, y) in pixels."""


def check_finder(fixation: Any) -> None:
    """Raise unless ``fixation`` finds where to look.

    Raises
    ------
    HraError : a point, a class or anything else that is no function.
    """
    fix = "pass a function of (image, query, relevance) that gives (x, y), such as tokens.CentreFixation()"
    check_function("fixation", fixation, fix)


@dataclass(frozen=True)
class CentreFixation:
    """The centre of the image: the overview, and the bias of photographs (B. W. Tatler, 2007).

    Examples
    --------
    >>> import numpy as np
    >>> from hra.domains import tokens
    >>> image = np.random.default_rng(0).random((128, 192, 3), dtype=np.float32)
    >>> context = tokens.PyramidSampling().context(image, "what is at the top left?")
    >>> tokens.CentreFixation()(image, "", context.relevance)
    (96.0, 64.0)
    """

    def __call__(self, image: np.ndarray, query: str, relevance: np.ndarray) -> tuple[float, float]:
        """(x, y) in pixels."""
        return image.shape[1] / 2, image.shape[0] / 2


@dataclass(frozen=True)
class PeakFixation:
    """The centre of the most relevant cell of a coarse 16 x 16 pass; see `coarse_peak`.

    Parameters
    ----------
    patch : side of a patch of the relevance in pixels.

    Examples
    --------
    >>> import numpy as np
    >>> from hra.domains import tokens
    >>> image = np.random.default_rng(0).random((128, 192, 3), dtype=np.float32)
    >>> relevance = np.zeros((8, 12))
    >>> relevance[2, 3] = 1
    >>> tokens.PeakFixation()(image, "", relevance)
    (56.0, 40.0)
    """

    patch: int = 16

    def __call__(self, image: np.ndarray, query: str, relevance: np.ndarray) -> tuple[float, float]:
        """(x, y) in pixels."""
        return coarse_peak(relevance, self.patch)


@dataclass(frozen=True)
class SpatialWordsFixation:
    """The place that the query names, whatever is there; the centre along an axis of which it says nothing.

    Examples
    --------
    >>> import numpy as np
    >>> from hra.domains import tokens
    >>> image = np.random.default_rng(0).random((128, 192, 3), dtype=np.float32)
    >>> context = tokens.PyramidSampling().context(image, "what is at the top left?")
    >>> tokens.SpatialWordsFixation()(image, "what is at the top left?", context.relevance)
    (32.0, 21.333333333333332)
    """

    def __call__(self, image: np.ndarray, query: str, relevance: np.ndarray) -> tuple[float, float]:
        """(x, y) in pixels."""
        vertical, horizontal = named_place(query)
        x, y = (0.5 if share is None else share for share in (horizontal, vertical))
        return x * image.shape[1], y * image.shape[0]

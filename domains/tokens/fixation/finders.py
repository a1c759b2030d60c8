"""Fixation finders: strategies that say where to look first."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from hra.domains.tokens.fixation.peak import coarse_peak
from hra.domains.tokens.relevance.spatial_words import named_place

FixationFinder = Callable[[np.ndarray, str, np.ndarray], tuple[float, float]]
"""(image float32 [H, W, 3], query, relevance [rows, columns]) -> fixation (x, y) in pixels."""


@dataclass(frozen=True)
class CentreFixation:
    """The centre of the image: the overview, and the bias of photographs (B. W. Tatler, 2007)."""

    def __call__(self, image: np.ndarray, query: str, relevance: np.ndarray) -> tuple[float, float]:
        """(x, y) in pixels."""
        return image.shape[1] / 2, image.shape[0] / 2


@dataclass(frozen=True)
class PeakFixation:
    """The centre of the most relevant cell of a coarse 16 x 16 pass; see `coarse_peak`.

    Parameters
    ----------
    patch : side of a patch of the relevance in pixels.
    """

    patch: int = 16

    def __call__(self, image: np.ndarray, query: str, relevance: np.ndarray) -> tuple[float, float]:
        """(x, y) in pixels."""
        return coarse_peak(relevance, self.patch)


@dataclass(frozen=True)
class SpatialWordsFixation:
    """The place that the query names, whatever is there; the centre along an axis of which it says nothing."""

    def __call__(self, image: np.ndarray, query: str, relevance: np.ndarray) -> tuple[float, float]:
        """(x, y) in pixels."""
        vertical, horizontal = named_place(query)
        x, y = (0.5 if share is None else share for share in (horizontal, vertical))
        return x * image.shape[1], y * image.shape[0]

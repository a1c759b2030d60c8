"""Pruned relevance: regions in which nothing is relevant enough count as not relevant at all."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from hra.domains.tokens.relevance.base import Encode, EncodedRelevance, Relevance, checked_relevance, scored
from hra.domains.tokens.relevance.pruning import prune_patches, relevance_pyramid
from hra.errors import MetricError


@dataclass(frozen=True)
class PrunedRelevance(EncodedRelevance):
    """Another relevance, with 0 for what the test of its max pyramid drops.

    The test is exact: it keeps the patches of at least ``threshold``, whatever the order of its steps. Where it drops
    every patch, an allocator falls back to uniform relevance, as for any map of zeros.

    Parameters
    ----------
    relevance : (image, query) -> [ceil(H/patch), ceil(W/patch)].
    threshold : least relevance to keep, in the unit of ``relevance``.

    Raises
    ------
    MetricError : a threshold that is not a finite number.

    Examples
    --------
    >>> import numpy as np
    >>> from hra.domains import tokens
    >>> image = np.random.default_rng(0).random((128, 192, 3), dtype=np.float32)
    >>> relevance = tokens.PrunedRelevance(tokens.CueRelevance(), threshold=0.3)(image, "what is at the top left?")
    >>> relevance.shape, bool(((relevance == 0) | (relevance >= 0.3)).all())
    ((8, 12), True)
    """

    relevance: Relevance
    threshold: float

    def __post_init__(self) -> None:
        if not np.isfinite(self.threshold):
            raise MetricError(f"the threshold is {self.threshold}", where="threshold", fix="pass a finite number")

    def score(self, image: np.ndarray, query: str, encode: Encode) -> np.ndarray:
        """Relevance [ceil(H/patch), ceil(W/patch)], float64, >= 0."""
        values = np.asarray(scored(self.relevance, image, query, encode))
        scores = checked_relevance(values, values.shape)
        return np.where(prune_patches(relevance_pyramid(scores), self.threshold), scores, 0)

"""Pruned relevance: regions in which nothing is relevant enough count as not relevant at all."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from hra.domains.tokens.relevance.base import Relevance, checked_scores
from hra.domains.tokens.relevance.pruning import prune_patches, relevance_pyramid
from hra.domains.tokens.relevance.together import prepare_all
from hra.errors import MetricError

if TYPE_CHECKING:
    from hra.domains.tokens.context.context import TokenContext


@dataclass(frozen=True)
class PrunedRelevance:
    """Another relevance, with 0 for what the test of its max pyramid drops.

    The test is exact: it keeps the patches of at least ``threshold``, whatever the order of its steps. Where it drops
    every patch, an allocator falls back to uniform relevance, as for any map of zeros.

    Parameters
    ----------
    relevance : see `Relevance`; scores below the threshold count as 0, of whatever sign.
    threshold : least relevance to keep, in the unit of ``relevance``, > 0.

    Raises
    ------
    MetricError : a threshold that is not a finite number above 0.

    Examples
    --------
    >>> import numpy as np
    >>> from hra.domains import tokens
    >>> image = np.random.default_rng(0).random((128, 192, 3), dtype=np.float32)
    >>> context = tokens.TokenContext.of(image, "what is at the top left?")
    >>> relevance = tokens.PrunedRelevance(tokens.CueRelevance(), threshold=0.3)(context)
    >>> relevance.shape, bool(((relevance == 0) | (relevance >= 0.3)).all())
    ((8, 12), True)
    """

    relevance: Relevance
    threshold: float

    def __post_init__(self) -> None:
        if not 0 < self.threshold < np.inf:
            raise MetricError(
                f"the threshold is {self.threshold}", where="threshold", fix="pass a finite number above 0"
            )

    def prepare(self, contexts: Sequence[TokenContext]) -> None:
        """Let the other relevance see many images at once, see `together`."""
        prepare_all(self.relevance, contexts)

    def __call__(self, context: TokenContext) -> np.ndarray:
        """Relevance [ceil(H/patch), ceil(W/patch)], float64, >= 0."""
        scores = np.maximum(
            checked_scores(self.relevance(context), context.grid, context.cover), 0
        )  # below the threshold anyway
        return np.where(prune_patches(relevance_pyramid(scores), self.threshold), scores, 0)

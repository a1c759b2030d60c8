"""What token hierarchies and metrics see of one image and query, computed once and on demand."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from hra.builder import HierarchyBuilder
from hra.domains.tokens.blocks import block_counts
from hra.domains.tokens.channels.texture_array import texture_array
from hra.domains.tokens.features import Encoder, checked_features
from hra.domains.tokens.patches import PatchPyramid
from hra.domains.tokens.relevance import Relevance, checked_relevance
from hra.hierarchy import Hierarchy


@dataclass(frozen=True, eq=False)
class TokenContext:
    """An image's patch pyramid, a query, and how relevance is scored.

    Attributes
    ----------
    pyramid : the image and its patches.
    query : the question, may be empty.
    scorer : (image, query) -> relevance of every finest patch.
    encoder : image -> features of every finest patch; None for the channels of `texture_array`.
    """

    pyramid: PatchPyramid
    query: str
    scorer: Relevance
    encoder: Encoder | None = None

    def hierarchy(self, builder: HierarchyBuilder) -> Hierarchy:
        """What ``builder`` makes of this context, made once: sequences and pools need the same hierarchy every time."""
        if builder not in self._hierarchies:
            self._hierarchies[builder] = builder.build(self)
        return self._hierarchies[builder]

    @cached_property
    def _hierarchies(self) -> dict[HierarchyBuilder, Hierarchy]:
        return {}

    @cached_property
    def relevance(self) -> np.ndarray:
        """Relevance of every finest patch, float64 [rows, columns]; uniform if the scorer finds nothing relevant.

        Raises
        ------
        MetricError : the scorer returned another shape, NaN or infinite values.
        """
        scores = checked_relevance(self.scorer(self.pyramid.image, self.query), self.pyramid.grids[0])
        return scores if scores.any() else np.ones_like(scores)

    @cached_property
    def features(self) -> np.ndarray:
        """Features of every finest patch, float32 [rows, columns, D]: the encoder's, or 24 that need no weights.

        Raises
        ------
        MetricError : the encoder returned another shape, NaN or infinite values.
        """
        if self.encoder is None:
            return np.ascontiguousarray(texture_array(self.pyramid.image, self.pyramid.patch).values)
        return checked_features(self.encoder(self.pyramid.image), self.pyramid.grids[0])

    @cached_property
    def pixel_weight(self) -> np.ndarray:
        """Weight of one squared channel difference, by finest patch: relevance over its sum over pixels and channels.

        With uniform relevance the weighted sum of squared differences is the mean squared error of the image.
        """
        height, width = self.pyramid.image.shape[:2]
        counts = block_counts(height, width, self.pyramid.patch)
        return self.relevance / (3 * (self.relevance * counts).sum())

    @cached_property
    def node_errors(self) -> tuple[np.ndarray, np.ndarray]:
        """Weighted error of every patch's region, shown by the patch and by its parent; two float64 [N]."""
        return self.pyramid.node_errors(self.pixel_weight)

"""What token hierarchies and metrics see of one image and query, computed once and on demand."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from dataclasses import dataclass
from functools import cached_property
from types import MethodType
from typing import Any, TypeVar

import numpy as np

from hra.domains.tokens.blocks import block_counts
from hra.domains.tokens.channels.texture_array import texture_array
from hra.domains.tokens.features import Encoder, checked_features
from hra.domains.tokens.patches.pyramid import PatchPyramid
from hra.domains.tokens.relevance.base import Relevance, checked_relevance, scored
from hra.model.builder import HierarchyBuilder
from hra.model.hierarchy import Hierarchy

Made = TypeVar("Made")


@dataclass(frozen=True, eq=False)
class TokenContext:
    """An image's patch pyramid, a query, and how relevance is scored.

    Attributes
    ----------
    pyramid : the image and its patches.
    query : the question, may be empty.
    scorer : (image, query) -> relevance of every finest patch.
    encoder : image -> features of every finest patch; None for the channels of `texture_array`.

    Examples
    --------
    >>> import numpy as np
    >>> from hra.domains import tokens
    >>> image = np.random.default_rng(0).random((128, 192, 3), dtype=np.float32)
    >>> context = tokens.PyramidSampling().context(image, "what is at the top left?")
    >>> context.relevance.shape, context.features.shape
    ((8, 12), (8, 12, 24))
    """

    pyramid: PatchPyramid
    query: str
    scorer: Relevance
    encoder: Encoder | None = None

    def hierarchy(self, builder: HierarchyBuilder) -> Hierarchy:
        """What ``builder`` makes of this context, made once: sequences and pools need the same hierarchy every time."""
        return self.once(builder, lambda: builder.build(self))

    def once(self, key: Hashable, make: Callable[[], Made]) -> Made:
        """What ``make`` returned when this context was first asked for ``key``; later calls must mean the same."""
        if key not in self._made:
            self._made[key] = make()
        return self._made[key]

    def encoded(self, encoder: Encoder) -> Any:
        """What ``encoder`` returns for the image, unchecked; it runs once, whoever asks."""
        for known, features in self._encoded:
            # Every look-up of a method makes another object; those of one encoder are equal.
            if known is encoder or (isinstance(known, MethodType) and known == encoder):
                return features
        self._encoded.append((encoder, encoder(self.pyramid.image)))
        return self._encoded[-1][1]

    @cached_property
    def _made(self) -> dict[Hashable, Any]:
        return {}

    @cached_property
    def _encoded(self) -> list[tuple[Encoder, Any]]:
        # Not in `_made`: a callable need not be hashable.
        return []

    @cached_property
    def relevance(self) -> np.ndarray:
        """Relevance of every finest patch, float64 [rows, columns]; uniform if the scorer finds nothing relevant.

        Raises
        ------
        MetricError : the scorer returned another shape, NaN or infinite values.
        """
        scores = checked_relevance(
            scored(self.scorer, self.pyramid.image, self.query, self.encoded), self.pyramid.grids[0]
        )
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
        return checked_features(self.encoded(self.encoder), self.pyramid.grids[0])

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

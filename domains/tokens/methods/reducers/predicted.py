"""Patches that their neighbours do not predict."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np

if TYPE_CHECKING:
    from hra.domains.tokens.context.context import TokenContext


@dataclass(frozen=True)
class PredictedRelevance:
    """How far each finest patch is from what the patches before it predict: the largest difference of a pixel.

    The prediction is the patch on the left, or the one above where the patch above left is like the left one and unlike
    the one above: an edge goes down there. In the first row it is the one on the left, in the first column the one
    above, and the first patch is not predicted and counts 1. A patch of 0 is a duplicate, and nothing is lost without
    it.

    Source: PixelPrune (arXiv 2604.00886), the predictor of LOCO-I (M. J. Weinberger et al., 2000) for whole patches.
    """

    in_threads: ClassVar[bool] = True

    def __call__(self, context: TokenContext) -> np.ndarray:
        """[rows, columns] in [0, 1], float32."""
        pyramid = context.pyramid
        whole = pyramid.values(pyramid.positions[: pyramid.offsets[1]]).reshape(*context.grid, -1)
        predicted = np.empty_like(whole)
        predicted[0, 1:], predicted[1:, 0] = whole[0, :-1], whole[:-1, 0]
        left, above, corner = whole[1:, :-1], whole[:-1, 1:], whole[:-1, :-1]
        edge = (corner == left).all(axis=2) & (corner != above).any(axis=2)
        predicted[1:, 1:] = np.where(edge[..., None], above, left)
        far = np.abs(whole - predicted).max(axis=2)
        far[0, 0] = 1
        return far

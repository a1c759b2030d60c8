"""Relevance of the patches of a coarser level, by what the level itself shows."""

from __future__ import annotations

import numpy as np

from hra.domains.tokens.context.blocks import block_means
from hra.domains.tokens.context.context import TokenContext
from hra.domains.tokens.patches.pyramid import PatchPyramid
from hra.domains.tokens.relevance.base import check_relevance


def level_relevance(context: TokenContext, level: int) -> np.ndarray:
    """Relevance of every patch of a level, seen as an image of its own: float64 [rows, columns], >= 0.

    A scorer that says the same of every image, such as a given map, answers for the finest patches; their means count.

    Raises
    ------
    MetricError : the scorer returned another shape, NaN or infinite values.
    """
    if level == 0:
        return context.relevance
    pyramid = context.pyramid
    seen = TokenContext(
        PatchPyramid(pyramid.levels[level:], pyramid.patch), context.query, context.scorer, context.encoder
    )
    scores = seen.scorer(seen)
    if np.shape(scores) == pyramid.grids[0] != pyramid.grids[level]:
        return block_means(context.relevance, 2**level)
    return check_relevance(scores, seen.grid, seen.cover)

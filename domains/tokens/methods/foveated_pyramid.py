"""Foveated pyramid: fine patches near a fixation that image and query give, coarse ones everywhere else."""

from __future__ import annotations

from functools import partial

import numpy as np

from hra.domains.tokens.allocator import TokenAllocator
from hra.domains.tokens.context.context import Relevance, TokenContext
from hra.domains.tokens.patches.builders import PyramidBuilder
from hra.domains.tokens.patches.metrics import RelevanceError
from hra.domains.tokens.patches.tokens import PatchTokens
from hra.domains.tokens.relevance.foveated import FoveatedRelevance
from hra.model.metrics import ErrorMetric
from hra.traversals.hull import Hull


class FoveatedPyramid(TokenAllocator[PatchTokens]):
    """Pyramid sampling with cortical magnification: scale and eccentricity are both in the metric.

    The fixation is the peak of a coarse 16 x 16 pass over the relevance; see `FoveatedRelevance`.

    Parameters
    ----------
    relevance : see `Relevance`; by default `CueRelevance`.
    patch : side of a patch in pixels.
    levels : at most this many levels of detail; by default down to a single patch.
    field_of_view : degrees that the longer side of the image spans.

    Examples
    --------
    >>> import numpy as np
    >>> from hra.domains import tokens
    >>> image = np.random.default_rng(0).random((128, 192, 3), dtype=np.float32)
    >>> allocator = tokens.FoveatedPyramid()
    >>> allocation = allocator.allocate((image, "what is at the top left?"), budget=20)
    >>> allocator.realize(allocation).values.shape
    (20, 768)
    """

    def __init__(
        self,
        relevance: Relevance | None = None,
        *,
        patch: int = 16,
        levels: int | None = None,
        field_of_view: float = 20.0,
    ) -> None:
        foveated = FoveatedRelevance(relevance, field_of_view)
        super().__init__(
            *(PyramidBuilder(), RelevanceError(), Hull(spend_all=True)),
            relevance=foveated,
            patch=patch,
            levels=levels,
            gazes=_gaze,
        )


def _gaze(context: TokenContext, metric: ErrorMetric | None, cut: np.ndarray) -> np.ndarray | None:
    """The one fixation for every token of ``cut``; None in the context of another method."""
    scorer = context.scorer
    if not isinstance(scorer, FoveatedRelevance):
        return None
    return np.tile(context.once("gaze", partial(scorer.gaze, context)), (len(cut), 1))

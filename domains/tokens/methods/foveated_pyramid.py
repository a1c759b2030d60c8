"""Foveated pyramid: fine patches near a fixation that image and query give, coarse ones everywhere else."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

from hra.allocating.allocation import Allocation
from hra.domains.tokens.allocator import TokenAllocator
from hra.domains.tokens.context.context import Relevance
from hra.domains.tokens.context.token_builder import Choice
from hra.domains.tokens.patches.builders import PyramidBuilder
from hra.domains.tokens.patches.metrics import RelevanceError
from hra.domains.tokens.patches.tokens import PatchTokens
from hra.domains.tokens.relevance.foveated import FoveatedRelevance
from hra.traversals.hull import Hull


class FoveatedPyramid(TokenAllocator[PatchTokens]):
    """Pyramid sampling with cortical magnification: scale and eccentricity are both in the metric.

    The fixation is the peak of a coarse 16 x 16 pass over the relevance; see `FoveatedRelevance`.

    Parameters
    ----------
    relevance : see `Relevance`; by default `CueRelevance`.
    patch : side of a patch in pixels.
    levels : at most so many levels of detail; by default down to a single patch.
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
            PyramidBuilder(), RelevanceError(), Hull(spend_all=True), relevance=foveated, patch=patch, levels=levels
        )

    def realize(self, allocation: Allocation) -> PatchTokens:
        """The tokens of an allocation, with their fixation."""
        return self._mark_gaze(super().realize(allocation), allocation.context)

    def realize_batch(self, choices: Iterable[Choice]) -> list[PatchTokens]:
        """The tokens of what `allocate_batch` chose, with their fixations."""
        choices = list(choices)
        sets = super().realize_batch(choices)
        return [self._mark_gaze(tokens, choice.context) for tokens, choice in zip(sets, choices, strict=True)]

    def _mark_gaze(self, tokens: PatchTokens, context: Any) -> PatchTokens:
        context = self._context(context)
        scorer = context.scorer
        if not isinstance(scorer, FoveatedRelevance):  # the context of another method
            return tokens
        find = partial(scorer.gaze, context)
        return replace(tokens, fixations=np.tile(context.once("gaze", find), (len(tokens), 1)))

"""Gestalt and saccades: the whole image coarsely, the most relevant patches at full resolution."""

from __future__ import annotations

from hra.domains.tokens.allocator import TokenAllocator
from hra.domains.tokens.context.context import Relevance
from hra.domains.tokens.methods.gestalt.gestalt import Gestalt, ResizedGestalt
from hra.domains.tokens.methods.gestalt.tokens import GestaltBuilder, GestaltTokens
from hra.domains.tokens.methods.whole_image import base_of_whole
from hra.domains.tokens.patches.metrics import RelevanceGain
from hra.traversals.hull import Hull


class GestaltSaccades(TokenAllocator[GestaltTokens]):
    """Always all base tokens; the rest of the budget goes to the most relevant finest patches.

    The budget counts both: 529 tokens are 256 base tokens and 273 saccades, 849 with a base of 24 x 24. Weaker patches
    fill up, so that the count is always met. All patches have one size, so that any encoder of images works;
    `TokenSet.order` is the sequence by relevance and `GestaltTokens.centres_yx` the position.

    The base is fixed, and a patch that the base shows well is worth no less for it: see `TwoPass` for a choice that
    looks at the base first.

    Parameters
    ----------
    relevance : see `Relevance`; by default `CueRelevance`.
    patch : side of a patch in pixels; 14 for most encoders.
    gestalt : the base tokens, such as `CompressedGestalt`; by default `ResizedGestalt`, 16 x 16 of the smaller image.

    Examples
    --------
    >>> import numpy as np
    >>> from hra.domains import tokens
    >>> image = np.random.default_rng(0).random((128, 192, 3), dtype=np.float32)
    >>> allocator = tokens.GestaltSaccades(gestalt=tokens.ResizedGestalt(4, 4))
    >>> allocation = allocator.allocate((image, "what is at the top left?"), budget=20)
    >>> allocator.realize(allocation).values.shape
    (20, 768)
    """

    def __init__(self, relevance: Relevance | None = None, *, patch: int = 16, gestalt: Gestalt | None = None) -> None:
        builder = GestaltBuilder(ResizedGestalt() if gestalt is None else gestalt)
        super().__init__(
            builder,
            RelevanceGain(),
            Hull(spend_all=True),
            relevance=relevance,
            patch=patch,
            levels=1,
            stand_in=base_of_whole,
        )

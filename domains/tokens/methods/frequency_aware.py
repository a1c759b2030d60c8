"""Frequency-aware tokens: which scales and directions, and where."""

from __future__ import annotations

from functools import partial
from typing import Literal

from hra.domains.tokens.allocator import TokenAllocator
from hra.domains.tokens.attribute_gain import AttributeGain
from hra.domains.tokens.context.context import TokenContext
from hra.domains.tokens.methods.frequency.band_tokens import BandTokens
from hra.domains.tokens.methods.frequency.builder import FrequencyBuilder
from hra.domains.tokens.methods.frequency.frames import Frame, SteerableFrame
from hra.domains.tokens.methods.frequency.residual_frame import HaarFrame
from hra.domains.tokens.methods.whole_image import covers
from hra.domains.tokens.relevance.base import Relevance
from hra.solvers.apportionment import largest_remainder
from hra.traversals.apportion import Apportion


class FrequencyAware(TokenAllocator[BandTokens]):
    """Tokens are patches of the bands of a Laplacian or steerable pyramid, taken by energy times relevance.

    With the steerable pyramid the budget goes to directions first: 224 of 273 tokens are oriented, of these text gives
    128 to 0 degrees, buildings 128 to 90 degrees and 32 to each other direction. Where the query names neither, the
    direction that stands out in the image is emphasised likewise; without one all are alike. The other 49 go to the
    low-pass and the high-pass rest. With the Laplacian pyramid the budget goes to bands by their share of the gain.
    ``first="space"`` deals it to the cells of a 4 x 4 grid instead.

    Bands overlap in frequency, so gains do not add up exactly, and no allocation claims a certificate. The image as a
    whole would be more patches of bands than it has itself: a budget that covers it takes those.

    Source: P. Burt and E. Adelson (1983), E. Simoncelli and W. Freeman (1995), see `hra.kernels`. Open and chosen by
    us: the words that name a direction, the 49 tokens of the rests, and that directions are those of edges, not waves.

    Parameters
    ----------
    relevance : see `Relevance`; by default `CueRelevance`.
    patch : coefficients along the side of a token.
    frame, first : see `FrequencyBuilder`.

    Examples
    --------
    >>> import numpy as np
    >>> from hra.domains import tokens
    >>> image = np.random.default_rng(0).random((128, 192, 3), dtype=np.float32)
    >>> allocator = tokens.FrequencyAware()
    >>> allocation = allocator.allocate((image, "what is at the top left?"), budget=20)
    >>> allocator.realize(allocation).values.shape
    (20, 768)
    """

    def __init__(
        self,
        relevance: Relevance | None = None,
        *,
        patch: int = 16,
        frame: Frame | None = None,
        first: Literal["bands", "space"] = "bands",
    ) -> None:
        builder = FrequencyBuilder(SteerableFrame() if frame is None else frame, first)
        metric = AttributeGain("gain", "relevance-weighted squared coefficients")
        traversal = Apportion(partial(largest_remainder, minimum=0), importance="share")
        super().__init__(builder, metric, traversal, relevance=relevance, patch=patch)

    def _allocator_for(self, context: TokenContext, budget: float) -> TokenAllocator[BandTokens]:
        """A single band, the image itself, where the budget covers it."""
        if not covers(budget, context) or self.builder == _WHOLE:
            return self
        return TokenAllocator(_WHOLE, self.error_metric(context), self.traversal)


_WHOLE = FrequencyBuilder(HaarFrame(1))

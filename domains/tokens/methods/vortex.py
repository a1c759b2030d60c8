"""Vortex sampling: spirals of samples around the most relevant places."""

from __future__ import annotations

from hra.domains.tokens.allocator import TokenAllocator
from hra.domains.tokens.attribute_gain import AttributeGain
from hra.domains.tokens.methods.sampled.spiral import SpiralBuilder
from hra.domains.tokens.methods.sampled.tokens import SampledTokens
from hra.domains.tokens.relevance.base import Relevance
from hra.traversals.apportion import Apportion


class Vortex(TokenAllocator[SampledTokens]):
    """Spirals whose samples turn by the golden angle and grow with their distance from the centre.

    The budget is dealt to the centres by their relevance. The density falls as the areal cortical magnification, (e0 /
    (e + e0))**2, so that the scale grows in proportion to e + e0. The first spiral sees the whole image, further ones
    reach as far as the nearest other centre. At radii where the image ends, the golden angle turns through the visible
    arcs only: every sample lies inside the image, and counts are exact.

    Source: H. Vogel, "A better way to construct the sunflower head" (1979), for the golden angle; the radial law, the
    number of centres, their distance and their reach are our choices.

    Parameters
    ----------
    relevance : see `Relevance`; by default `CueRelevance`.
    patch : samples along the side of a token.
    centres, field_of_view : see `SpiralBuilder`.

    Examples
    --------
    >>> import numpy as np
    >>> from hra.domains import tokens
    >>> image = np.random.default_rng(0).random((128, 192, 3), dtype=np.float32)
    >>> allocator = tokens.Vortex()
    >>> allocation = allocator.allocate((image, "what is at the top left?"), budget=20)
    >>> allocator.realize(allocation).values.shape
    (20, 768)
    """

    def __init__(
        self, relevance: Relevance | None = None, *, patch: int = 16, centres: int = 3, field_of_view: float = 20.0
    ) -> None:
        metric = AttributeGain("share", "share of the relevance")
        super().__init__(SpiralBuilder(centres, field_of_view), metric, Apportion(), relevance=relevance, patch=patch)

"""Uniform grid: finest patches spread evenly, whatever the image shows."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from hra.domains.tokens.allocator import TokenAllocator
from hra.domains.tokens.context.context import Relevance, TokenContext
from hra.domains.tokens.patches.builders import GridBuilder
from hra.domains.tokens.patches.tokens import PatchTokens
from hra.model.hierarchy import Hierarchy
from hra.model.metrics import ErrorMetric
from hra.traversals.hull import Hull

# Binary 0101...: the grid of every power of two begins about a third of its stride inside the image.
_INSET = 0x55555555


@dataclass(frozen=True)
class EvenSpread(ErrorMetric):
    """The order of Bayer's dither matrix, whose first patches lie evenly over the grid for every number of them.

    The first 4**m of a grid of 2**n x 2**n patches are the regular grid of stride 2**(n - m); what comes between fills
    the middles of its squares first, then those of its sides.

    Source: B. E. Bayer, "An optimum method for two-level rendition of continuous-tone pictures" (ICC 1973).
    """

    unit = "spread rank"
    kind = "gain"
    additive = False  # a rank is not a quality

    def evaluate(self, hierarchy: Hierarchy, context: TokenContext) -> np.ndarray:
        """How early each patch comes, 1 .. 4**n, float64 [N]."""
        return dither_rank(hierarchy.attribute("x"), hierarchy.attribute("y"))


def dither_rank(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    """Rank of grid places [N] in Bayer's matrix of the smallest power of two that holds them, the first highest."""
    bits = int(max(x.max(initial=0), y.max(initial=0))).bit_length()
    x, y = (places.astype(np.int64) ^ (_INSET & (2**bits - 1)) for places in (x, y))
    later = np.zeros(x.size)
    for bit in range(bits):
        # A diagonal neighbour comes second; the lowest bit of the place is the highest digit of the rank.
        digit = 2 * ((x ^ y) >> bit & 1) + (y >> bit & 1)
        later = later * 4 + digit
    return 4.0**bits - later


class UniformGrid(TokenAllocator[PatchTokens]):
    """``budget`` finest patches spread evenly over the image; more of them keep the ones that were there.

    Parameters
    ----------
    relevance : only orders the tokens, see `Relevance`; by default `CueRelevance`.
    patch : side of a patch in pixels.

    Examples
    --------
    >>> import numpy as np
    >>> from hra.domains import tokens
    >>> image = np.random.default_rng(0).random((128, 192, 3), dtype=np.float32)
    >>> allocator = tokens.UniformGrid()
    >>> allocation = allocator.allocate((image, "what is at the top left?"), budget=20)
    >>> allocator.realize(allocation).values.shape
    (20, 768)
    """

    def __init__(self, relevance: Relevance | None = None, *, patch: int = 16) -> None:
        super().__init__(GridBuilder(), EvenSpread(), Hull(spend_all=True), relevance=relevance, patch=patch, levels=1)

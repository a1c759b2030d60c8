"""Pyramid sampling: patches of all levels that together cover the image, fine where relevant error is."""

from __future__ import annotations

from collections.abc import Mapping

from hra.domains.tokens.allocator import TokenAllocator
from hra.domains.tokens.context.context import Relevance
from hra.domains.tokens.patches.builders import PyramidBuilder
from hra.domains.tokens.patches.metrics import RelevanceError
from hra.domains.tokens.patches.tokens import PatchTokens
from hra.traversals.hull import Hull
from hra.traversals.level_shares import LevelShares


class PyramidSampling(TokenAllocator[PatchTokens]):
    """A cut of the patch pyramid: every pixel is seen, at the level that leaves the least relevant error overall.

    Parameters
    ----------
    relevance : see `Relevance`; by default `CueRelevance`.
    patch : side of a patch in pixels.
    levels : at most this many levels of detail; by default down to a single patch, so that every budget can be met.
        With 4, a 1024 x 1024 image has 4096 + 1024 + 256 + 64 patches, of which the 64 are the smallest budget.
    minimum_shares : level -> share of the budget that its patches get at least, see `hra.LevelShares`; level 0 is the
        finest. ``{3: 0.1}`` with 4 levels keeps a tenth of the tokens at the coarsest. Fixed counts for all levels do
        not fit a cut that covers the image; they are `PyramidTopK`'s ``level_split``.

    Examples
    --------
    >>> import numpy as np
    >>> from hra.domains import tokens
    >>> image = np.random.default_rng(0).random((128, 192, 3), dtype=np.float32)
    >>> allocator = tokens.PyramidSampling()
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
        minimum_shares: Mapping[int, float] | None = None,
    ) -> None:
        traversal = LevelShares(minimum_shares, spend_all=True) if minimum_shares else Hull(spend_all=True)
        super().__init__(PyramidBuilder(), RelevanceError(), traversal, relevance=relevance, patch=patch, levels=levels)

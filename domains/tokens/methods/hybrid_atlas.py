"""Hybrid atlas: regions where it pays, the grid elsewhere."""

from __future__ import annotations

from typing import Literal

from hra.domains.tokens.allocator import TokenAllocator
from hra.domains.tokens.context.context import Relevance
from hra.domains.tokens.embedding.features import Encoder
from hra.domains.tokens.methods.regions.hybrid_regions import ForegroundRegions, RegionsByImageType
from hra.domains.tokens.methods.regions.region_builders import RegionTreeBuilder
from hra.domains.tokens.methods.regions.region_tokens import RegionError, RegionTokens
from hra.errors import check_choice
from hra.traversals.hull import Hull


class HybridAtlas(TokenAllocator[RegionTokens]):
    """A cut of a region tree that grows regions for some patches, and blocks of the grid for all others.

    - ``by="foreground"``: regions for patches of at least mean importance, the grid elsewhere (`ForegroundRegions`).
    - ``by="image"``: regions for documents, the grid for photos (`RegionsByImageType`). That this suits either is a
      hypothesis of the notes; compare before you rely on it.

    The grid is the degenerate atlas: its blocks of patches are regions like others (`GridRegions`).

    Parameters
    ----------
    by : what decides.
    relevance : see `Relevance`; by default `CueRelevance`.
    encoder : features by which patches are merged, see `TokenAllocator`; by default colour and texture.
    patch : side of a patch in pixels.

    Raises
    ------
    HraError : unknown ``by``.

    Examples
    --------
    >>> import numpy as np
    >>> from hra.domains import tokens
    >>> image = np.random.default_rng(0).random((128, 192, 3), dtype=np.float32)
    >>> allocator = tokens.HybridAtlas()
    >>> allocation = allocator.allocate((image, "what is at the top left?"), budget=20)
    >>> allocator.realize(allocation).values.shape
    (20, 768)
    """

    def __init__(
        self,
        by: Literal["foreground", "image"] = "foreground",
        relevance: Relevance | None = None,
        *,
        encoder: Encoder | None = None,
        patch: int = 16,
    ) -> None:
        sources = {"foreground": ForegroundRegions, "image": RegionsByImageType}
        check_choice("by", by, sources, where="HybridAtlas")
        builder = RegionTreeBuilder(sources[by]())
        super().__init__(
            builder, RegionError(), Hull(spend_all=True), relevance=relevance, encoder=encoder, patch=patch, levels=1
        )

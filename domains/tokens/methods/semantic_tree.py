"""Semantic tree: the hull chooses which regions of the region tree become tokens."""

from __future__ import annotations

from hra.domains.tokens.allocator import TokenAllocator
from hra.domains.tokens.context.context import Relevance
from hra.domains.tokens.embedding.features import Encoder
from hra.domains.tokens.methods.regions.region_builders import RegionTreeBuilder
from hra.domains.tokens.methods.regions.region_sources import PatchRegions, RegionSource
from hra.domains.tokens.methods.regions.region_tokens import RegionError, RegionTokens
from hra.traversals.hull import Hull


class SemanticTree(TokenAllocator[RegionTokens]):
    """A cut of a region tree: every pixel is seen, by the regions that leave the least relevant error overall.

    The hierarchical form of `SemanticAtlas`: 50 to 200 regions are one cut of the tree, and so is any other budget from
    1 to all patches.

    Parameters
    ----------
    source : makes the region tree; by default Ward's linkage of patches.
    relevance : see `Relevance`; by default `CueRelevance`.
    encoder : features by which patches are merged, see `TokenAllocator`; by default colour and texture.
    patch : side of a patch in pixels.

    Examples
    --------
    >>> import numpy as np
    >>> from hra.domains import tokens
    >>> image = np.random.default_rng(0).random((128, 192, 3), dtype=np.float32)
    >>> allocator = tokens.SemanticTree()
    >>> allocation = allocator.allocate((image, "what is at the top left?"), budget=20)
    >>> allocator.realize(allocation).values.shape
    (20, 768)
    """

    def __init__(
        self,
        source: RegionSource | None = None,
        relevance: Relevance | None = None,
        *,
        encoder: Encoder | None = None,
        patch: int = 16,
    ) -> None:
        builder = RegionTreeBuilder(PatchRegions() if source is None else source)
        super().__init__(
            builder, RegionError(), Hull(spend_all=True), relevance=relevance, encoder=encoder, patch=patch, levels=1
        )

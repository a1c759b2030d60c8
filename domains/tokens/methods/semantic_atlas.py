"""Semantic atlas: tokens dealt out to about 100 regions of an image."""

from __future__ import annotations

from functools import partial
from typing import Literal

from hra.domains.tokens.allocator import TokenAllocator
from hra.domains.tokens.context.context import Relevance
from hra.domains.tokens.embedding.features import Encoder
from hra.domains.tokens.methods.regions.region_builders import RegionCellsBuilder
from hra.domains.tokens.methods.regions.region_sources import PatchRegions, RegionSource
from hra.domains.tokens.methods.regions.region_tokens import RegionTokens
from hra.domains.tokens.patches.metrics import AttributeGain
from hra.errors import check_choice
from hra.model.arrays import POSITIVE, whole_in
from hra.solvers.apportionment import largest_remainder, tiers
from hra.traversals.apportion import Apportion

Allocation = Literal["proportional", "fixed", "tiers"]

# With these, 273 tokens are 91 x 3, and the tiers of 54 regions add up to 272.
_REGIONS = {"proportional": 100, "fixed": 91, "tiers": 54}


class SemanticAtlas(TokenAllocator[RegionTokens]):
    """Regions in place of patches: each gets tokens by its importance, and is divided into as many cells.

    A region's importance is the mean over its patches of 0.6 query relevance + 0.4 gradient saliency (`importance`).

    - ``"proportional"``: in proportion to the importance, at least 1 each, by largest remainders.
    - ``"fixed"``: ``per_region`` each. 91 regions of 3 tokens are 273, and so are 54 of 5 and 3 more, 136 of 2 and 1
      more, and 273 of 1.
    - ``"tiers"``: the first 20 % get 15 tokens, the next 30 % get 5, all others 1.

    With "fixed" and "tiers", where the sum is not the budget, tokens of the least important regions are dropped, or the
    most important ones are refined evenly, until it is met. Nothing is optimised, and no certificate is claimed; for
    that see `SemanticTree`. The notes leave open from which tree the regions are cut (one that divides regions where a
    segmentation gives fewer than asked for), and the shape of cells.

    Parameters
    ----------
    source : makes the region tree; by default Ward's linkage of patches.
    relevance : see `Relevance`; by default `CueRelevance`. For the cosine of query and
        patch embeddings give that.
    allocation : how tokens are dealt out.
    regions : how many; by default 100 for "proportional", and what 273 tokens need for the others: 91 for "fixed", 54
        for "tiers". With a budget far below, regions are not seen at all; one far above goes to the first tier. More
        masks than that (`MaskRegions`) are not merged: "fixed" then keeps the most important ones, 91 of 150.
    per_region : tokens of each region, for "fixed".
    encoder : features by which patches are merged, see `TokenAllocator`; by default colour and texture.
    patch : side of a patch in pixels.

    Raises
    ------
    HraError : unknown allocation, or fewer than 1 region or token each.

    Examples
    --------
    >>> import numpy as np
    >>> from hra.domains import tokens
    >>> image = np.random.default_rng(0).random((128, 192, 3), dtype=np.float32)
    >>> allocator = tokens.SemanticAtlas()
    >>> allocation = allocator.allocate((image, "what is at the top left?"), budget=20)
    >>> allocator.realize(allocation).values.shape
    (20, 768)
    """

    def __init__(
        self,
        source: RegionSource | None = None,
        relevance: Relevance | None = None,
        *,
        allocation: Allocation = "proportional",
        regions: int | None = None,
        per_region: int = 3,
        encoder: Encoder | None = None,
        patch: int = 16,
    ) -> None:
        rules = {
            "proportional": largest_remainder,
            "fixed": partial(tiers, shares=(), counts=(per_region,)),
            "tiers": tiers,
        }
        check_choice("allocation", allocation, rules)
        regions = _REGIONS[allocation] if regions is None else regions
        regions, per_region = whole_in("regions", regions, POSITIVE), whole_in("per_region", per_region, POSITIVE)
        super().__init__(
            RegionCellsBuilder(PatchRegions() if source is None else source, regions),
            AttributeGain("importance", unit="importance"),
            Apportion(rules[allocation], importance="importance"),
            relevance=relevance,
            encoder=encoder,
            patch=patch,
            levels=1,
        )

"""Token hierarchies over regions: the region tree itself, and one cut of it whose regions share out the tokens."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from hra.domains.tokens.context.context import TokenContext
from hra.domains.tokens.context.token_builder import TokenBuilder
from hra.domains.tokens.methods.regions.cells import split_regions
from hra.domains.tokens.methods.regions.descriptors import pool_patches
from hra.domains.tokens.methods.regions.importance import importance
from hra.domains.tokens.methods.regions.patch_regions import PatchRegions
from hra.domains.tokens.methods.regions.region_errors import region_errors
from hra.domains.tokens.methods.regions.region_source import RegionSource
from hra.domains.tokens.methods.regions.region_tokens import RegionTokens
from hra.model.hierarchy import Hierarchy


@dataclass(frozen=True)
class RegionTreeBuilder(TokenBuilder[RegionTokens]):
    """The region tree, one token per node: a region goes and its two parts come, so every count can be met.

    Parameters
    ----------
    source : makes the region tree.
    """

    source: RegionSource = field(default_factory=PatchRegions)

    def build(self, context: TokenContext) -> Hierarchy:
        """A binary tree with the attribute "error", see `region_errors`."""
        tree = self.source.tree(context)
        error = region_errors(tree, context.pyramid.image, context.pixel_weight, context.pyramid.patch)
        return Hierarchy.tree(tree.parent, np.ones(len(tree)), attributes={"error": error}, cost_unit="tokens")

    def tokens(self, context: TokenContext, hierarchy: Hierarchy, cut: np.ndarray) -> RegionTokens:
        """One token for each node of ``cut``."""
        return RegionTokens.of(context, self.source.tree(context).shown(cut), len(cut))


@dataclass(frozen=True)
class RegionCellsBuilder(TokenBuilder[RegionTokens]):
    """A fixed number of regions, each a stratum of as many tokens as it has finest patches, at least 1.

    A patch counts for the region of its first pixel. A region that gets n tokens is divided into n cells, see
    `split_regions`.

    Parameters
    ----------
    source : makes the region tree, of which one cut is taken.
    regions : how many, or all leaves where there are fewer. Masks of a source are divided where they are fewer, but
        never merged where they are more: all of them compete.
    """

    source: RegionSource = field(default_factory=PatchRegions)
    regions: int = 100

    def build(self, context: TokenContext) -> Hierarchy:
        """A flat hierarchy with the attributes "stratum" (the region) and "importance" (see `importance`)."""
        labels, count = self._regions(context)
        patch = context.pyramid.patch
        capacity = np.maximum(np.bincount(labels[::patch, ::patch].ravel(), minlength=count), 1)
        stratum = np.repeat(np.arange(count), capacity)
        worth = pool_patches(importance(context)[..., None], labels, count, patch)[:, 0]
        attributes = {"stratum": stratum, "importance": worth[stratum]}
        return Hierarchy.flat(np.ones(stratum.size), attributes=attributes, cost_unit="tokens")

    def tokens(self, context: TokenContext, hierarchy: Hierarchy, cut: np.ndarray) -> RegionTokens:
        """As many cells of every region as ``cut`` has nodes of it."""
        labels, count = self._regions(context)
        counts = np.bincount(hierarchy.attribute("stratum")[cut], minlength=count)
        return RegionTokens.of(context, split_regions(labels, counts), len(cut))

    def _regions(self, context: TokenContext) -> tuple[np.ndarray, int]:
        tree = self.source.tree(context)
        count = min(max(self.regions, tree.parts), tree.leaves)
        return tree.cut(count), count

"""Regions that grow from the finest patches."""

from __future__ import annotations

from dataclasses import dataclass

from hra.domains.tokens.context.context import TokenContext
from hra.domains.tokens.methods.regions.agglomeration import Linkage
from hra.domains.tokens.methods.regions.merged_labels import merge_labels
from hra.domains.tokens.methods.regions.region_source import RegionSource, patch_labels
from hra.domains.tokens.methods.regions.region_tree import RegionTree


@dataclass(frozen=True)
class PatchRegions(RegionSource):
    """Neighbouring patches are merged by likeness, see `Linkage`.

    COLOUR compares luma and colour opponents, gradient and contrast, on a scale of 100 steps from black to white; WARD
    and AVERAGE compare the encoder's features, or without one the same colours and textures.
    """

    linkage: Linkage = Linkage.WARD

    def build(self, context: TokenContext) -> RegionTree:
        """The merge tree of the finest patches."""
        return merge_labels(context, patch_labels(context), self.linkage, cell=context.patch)

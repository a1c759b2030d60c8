"""Regions of an image as tokens: region trees, where they come from, and what their nodes are worth.

Sources that make regions (patches, superpixels, masks, grids), agglomeration into trees, the error and the tokens of a
region, and how regions are painted back.

>>> import numpy as np
>>> from hra.domains.tokens import SemanticTree
>>> image = np.random.default_rng(0).random((240, 320, 3), dtype=np.float32)
>>> allocator = SemanticTree()
>>> allocator.realize(allocator.allocate((image, "what is at the top left?"), budget=64)).values.shape
(64, 768)
"""

from __future__ import annotations

from hra.domains.tokens.methods.regions.agglomeration import Linkage
from hra.domains.tokens.methods.regions.descriptors import importance
from hra.domains.tokens.methods.regions.hybrid_regions import ForegroundRegions, RegionsByImageType
from hra.domains.tokens.methods.regions.region_builders import RegionCellsBuilder, RegionTreeBuilder
from hra.domains.tokens.methods.regions.region_sources import (
    GridRegions,
    MaskRegions,
    PatchRegions,
    RegionSource,
    SlicRegions,
)
from hra.domains.tokens.methods.regions.region_tokens import RegionError, RegionTokens
from hra.domains.tokens.methods.regions.region_tree import RegionTree

__all__ = [
    "ForegroundRegions",
    "GridRegions",
    "Linkage",
    "MaskRegions",
    "PatchRegions",
    "RegionCellsBuilder",
    "RegionError",
    "RegionSource",
    "RegionTokens",
    "RegionTree",
    "RegionTreeBuilder",
    "RegionsByImageType",
    "SlicRegions",
    "importance",
]

"""Where regions come from: strategies that turn an image into a region tree."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass

import numpy as np

from hra.domains.tokens.context.context import TokenContext
from hra.domains.tokens.methods.regions.region_tree import RegionTree


@dataclass(frozen=True)
class RegionSource(ABC):
    """Makes the region tree of an image: subclasses implement `build`."""

    def tree(self, context: TokenContext) -> RegionTree:
        """The region tree of a context, built once."""
        return context.once(self, lambda: self.build(context))

    @abstractmethod
    def build(self, context: TokenContext) -> RegionTree:
        """The region tree of a context."""


def patch_labels(context: TokenContext) -> np.ndarray:
    """The number of the finest patch that holds each pixel, int32 [H, W]."""
    patch, (height, width) = context.pyramid.patch, context.pyramid.image.shape[:2]
    rows, columns = (np.arange(extent, dtype=np.int32) // patch for extent in (height, width))
    return rows[:, None] * np.int32(context.pyramid.grids[0][1]) + columns


def patch_grid(context: TokenContext) -> np.ndarray:
    """The numbers of the finest patches, int64 [rows, columns]."""
    rows, columns = context.pyramid.grids[0]
    return np.arange(rows * columns).reshape(rows, columns)

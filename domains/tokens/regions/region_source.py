"""Where regions come from: strategies that turn an image into a region tree."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, field
from typing import Any
from weakref import WeakKeyDictionary

import numpy as np

from hra.domains.tokens.context import TokenContext
from hra.domains.tokens.regions.region_tree import RegionTree


@dataclass(frozen=True)
class RegionSource(ABC):
    """Makes the region tree of an image: subclasses implement `build`."""

    _trees: WeakKeyDictionary[TokenContext, RegionTree] = field(
        default_factory=WeakKeyDictionary, init=False, repr=False, compare=False
    )

    def tree(self, context: TokenContext) -> RegionTree:
        """The region tree of a context, built once."""
        if context not in self._trees:
            self._trees[context] = self.build(context)
        return self._trees[context]

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in self.__dict__.items() if name != "_trees"}

    def __setstate__(self, state: dict[str, Any]) -> None:
        # Weak references cannot be pickled; a copy builds its own trees.
        vars(self).update(state, _trees=WeakKeyDictionary())

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

"""Quadtrees made on demand: tiles of a picture of any size."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

from hra.errors import HierarchyError
from hra.model.lazy_hierarchy import LazyHierarchy

_Tile = tuple[int, int, int]


@dataclass(frozen=True)
class LazyQuadtree(LazyHierarchy):
    """Tiles ``(level, x, y)`` of unit cost, each refined by its four quarters; 2**level tiles lie side by side.

    Parameters
    ----------
    levels : of splits, >= 0; 20 lead from one tile to the pixels of a picture of 2**20 x 2**20.
    mode : "replace" or "add".
    cost_unit : of the tiles.
    """

    levels: int
    mode: Literal["replace", "add"] = "replace"
    cost_unit: str = "tokens"

    def __post_init__(self) -> None:
        if not self.levels >= 0:
            raise HierarchyError(f"levels must be >= 0, got {self.levels!r}", where="LazyQuadtree")

    def roots(self) -> list[_Tile]:
        """The tile that covers everything."""
        return [(0, 0, 0)]

    def expand(self, node: _Tile) -> list[_Tile]:
        """The four quarters of a tile, row by row."""
        level, x, y = node
        if level == self.levels:
            return []
        return [(level + 1, 2 * x + right, 2 * y + down) for down in (0, 1) for right in (0, 1)]

    def least_cost(self, node: Any) -> float:
        """A split swaps one tile for four; where tiles are added, one costs 1."""
        return 3.0 if self.mode == "replace" else 1.0

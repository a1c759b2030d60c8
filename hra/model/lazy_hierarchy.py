"""Hierarchies that are too large to exist: children are made on demand, and only what is visited is ever made.

`LazyQuadtree` is one: tiles of a picture of any size.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from hra.errors import HierarchyError

_Tile = tuple[int, int, int]


class LazyHierarchy(ABC):
    """A forest whose nodes are made when a traversal asks for them (gigapixel images, procedural scenes).

    A node is any hashable key, such as ``(level, x, y)``; it must be made once only, by one parent. A key that is made
    twice is refused, which catches cycles as far as they are visited; a hierarchy that makes ever new keys is an
    infinite tree, which no traversal can tell from a deep one: the budget or a limit ends the search.

    Attributes
    ----------
    mode : "replace", a node is swapped for all its children at once; "add", children are added and the node stays.
    cost_unit : of the costs ("triangles", "bytes", "tokens").

    Examples
    --------
    >>> import hra
    >>> class Halves(hra.LazyHierarchy):
    ...     def roots(self):
    ...         return [(0.0, 1.0)]
    ...     def expand(self, node):
    ...         middle = sum(node) / 2
    ...         return [(node[0], middle), (middle, node[1])]
    >>> Halves().expand((0.0, 0.5)), Halves().cost([(0.0, 0.5)])
    ([(0.0, 0.25), (0.25, 0.5)], array([1.]))
    """

    mode: Literal["replace", "add"] = "replace"
    cost_unit: str = "units"

    @abstractmethod
    def roots(self) -> Sequence[Any]:
        """The coarsest nodes: the base, which is always there."""

    @abstractmethod
    def expand(self, node: Any) -> Sequence[Any]:
        """The children of ``node`` in a fixed order, empty for a leaf. Called at most once per node and search."""

    def cost(self, nodes: Sequence[Any]) -> Any:
        """Cost [n] of each of ``nodes`` (siblings, or the roots) while it is active, >= 0; by default 1."""
        return np.ones(len(nodes))

    def least_cost(self, node: Any) -> float:
        """A lower bound on the cost of every refinement of ``node``, known before it is expanded; by default 0.

        Quadtrees of unit cost in mode "replace" return 3. The higher the bound, the fewer nodes are made for the same
        answer, and the tighter its upper bound.
        """
        return 0.0


class LazyMetric(ABC):
    """What it costs in quality to represent a region by a node; the lazy counterpart of `hra.ErrorMetric`.

    Attributes
    ----------
    unit : of the values.
    additive : whether errors of disjoint regions add up. If not, no allocation claims a certificate.

    Examples
    --------
    >>> import hra
    >>> class Distance(hra.LazyMetric):
    ...     def evaluate(self, nodes, context):
    ...         return [(high - low) * (low <= context < high) for low, high in nodes]
    >>> Distance().evaluate([(0.0, 0.5), (0.5, 1.0)], context=0.2)
    [0.5, 0.0]
    """

    unit: str = "error"
    additive: bool = True

    @abstractmethod
    def evaluate(self, nodes: Sequence[Any], context: Any) -> Any:
        """Error [n] of each node's region while the node represents it, >= 0; ``nodes`` are siblings, or the roots.

        It is also the most that refining the node can gain: siblings must not add up to more than their parent.
        """

    def inherited(self, nodes: Sequence[Any], context: Any) -> Any:
        """Error [n] over each node's region while its parent represents it, only used in mode "add".

        The gain of adding a node is its inherited less its own error. None shares a parent's gain evenly. To state
        gains instead of errors, let `evaluate` return the most that can be gained below each node, and `inherited`
        that plus the gain of the node.
        """
        return None

    def potential(self, nodes: Sequence[Any], context: Any) -> Any:
        """The most that all refinements below each of ``nodes`` gain together, [n] or [n, K], never too little.

        Column k of K is the most for less than k + 1 times the node's `LazyHierarchy.least_cost`, the last one the most
        at any cost. What is known of a region in advance goes here: stored variances of the levels below bound what
        each level can gain. A search looks first where the most can be gained, and gaps are measured from here. None,
        or anything larger, counts as the node's error in one step.
        """
        return None


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

"""A cloud as a tree that can be cut."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

import hra
from hra.domains.points.cloud.clouds import PointCloud, SplatCloud
from hra.errors import HraError

# The ends of so many points are looked at one by one.
_OUTLINED = 500_000


@dataclass(frozen=True, eq=False)
class CloudTree:
    """Points or splats, and coarser ones that stand for them; from `build`.

    Attributes
    ----------
    hierarchy : a node is swapped for all its children; the cost of each is 1, or its bytes. Attributes by node:
        position, color [N, 3], reach [N] (a sphere around all below), size [N] (radius of the disc, or standard
        deviation), for splats covariance [N, 6] and opacity [N]; color_loss, cover_loss and shift [N] (world units
        squared, for shift to the fourth): what the node loses against the leaves, see `CloudError`.
    kind : of the cloud.

    Examples
    --------
    >>> from hra.domains import points
    >>> tree = points.build(points.PointCloud([[0, 0, 0], [1, 0, 0], [9, 0, 0]]))
    >>> tree.bounds.tolist(), float(tree.with_cost("bytes").hierarchy.node_cost[0])
    ([[0.0, 0.0, 0.0], [9.0, 0.0, 0.0]], 19.0)
    """

    hierarchy: hra.Hierarchy
    kind: type[PointCloud] | type[SplatCloud]

    @classmethod
    def of(cls, parent: np.ndarray, attributes: dict[str, Any], kind: Any, cost: str = "") -> CloudTree:
        """From a parent array in level order and the attributes of every node."""
        price = kind.row_bytes if cost == "bytes" else 1
        costs = np.full(len(parent), float(price))
        unit = "bytes" if cost == "bytes" else kind.unit
        return cls(hra.Hierarchy.tree(parent, costs, attributes=attributes, cost_unit=unit), kind)

    def with_cost(self, cost: Literal["nodes", "bytes"]) -> CloudTree:
        """The same tree with budgets of points or splats ("nodes"), or of bytes in a PLY file.

        Raises
        ------
        HraError : another cost.
        """
        if cost not in ("nodes", "bytes"):
            raise HraError(f"{cost!r} is not a cost", where="with_cost", fix="use 'nodes' or 'bytes'")
        return self.of(self.parent, dict(self.hierarchy.node), self.kind, cost)

    @property
    def parent(self) -> np.ndarray:
        """Int [N], -1 for the root."""
        return np.asarray(self.hierarchy.node_parent)

    @property
    def leaves(self) -> np.ndarray:
        """The nodes of full detail, int [P]."""
        return np.flatnonzero(self.hierarchy.removed_by < 0)

    @property
    def bounds(self) -> np.ndarray:
        """Least and largest corner [2, 3] of the positions of full detail."""
        finest = self.hierarchy.attribute("position")[self.leaves]
        return np.stack([finest.min(axis=0), finest.max(axis=0)])

    @property
    def outline(self) -> np.ndarray:
        """Points [K, 3] that a camera sees if it sees the whole cloud: where discs end, and splats become faint.

        Of large clouds these are the positions: what they show is small beside them.
        """
        node, leaves = self.hierarchy.node, self.leaves
        finest = node["position"][leaves]
        if len(leaves) > _OUTLINED:
            return finest
        if self.kind is PointCloud:
            wide = np.repeat(node["size"][leaves, None], 3, axis=1)
        else:
            wide = 3 * np.sqrt(node["covariance"][leaves][:, [0, 3, 5]])
        signs = 2 * np.stack(np.indices((2, 2, 2)), axis=-1).reshape(-1, 3).astype(np.float32) - 1
        return np.concatenate([finest + sign * wide for sign in signs])

    def take(self, nodes: Any) -> PointCloud | SplatCloud:
        """Some nodes as a cloud, usually those of a cut."""
        node = self.hierarchy.node
        if self.kind is PointCloud:
            return PointCloud(*(node[name][nodes] for name in ("position", "color", "size")))
        return SplatCloud(*(node[name][nodes] for name in ("position", "covariance", "color", "opacity")))

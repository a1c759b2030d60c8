"""A cloud as a tree that can be cut."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Literal

import numpy as np

import hra
from hra.caching import cached_property
from hra.domains.points.cloud.clouds import PointCloud, SplatCloud
from hra.domains.points.cloud.extent import Extent, corners
from hra.errors import ArrayError, check_choice

# Before the names of fields among the attributes of nodes.
FIELD = "field:"
# The field of which a node has what most points below it have.
CLASSES = "classification"
# The ends of this many points are looked at one by one.
_OUTLINED = 500_000
# So many times as wide as half of the leaves, and wider than all that they stand around: one that is a mistake.
_WIDE = 32


@dataclass(frozen=True, eq=False)
class CloudTree:
    """Points or splats, and coarser ones that stand for them; from `build`.

    Attributes
    ----------
    hierarchy : a node is swapped for all its children; the cost of each is 1, or its bytes. Attributes by node:
        position, color [N, 3], reach [N] (a sphere around all below), size [N] (radius of the disc, or standard
        deviation), for splats covariance [N, 6] and opacity [N]; color_loss, cover_loss and shift [N] (world units
        squared, for shift to the fourth): what the node loses against the leaves, see `CloudError`. Of splats with
        harmonics also these, [N, K, 3], and harmonic_loss [N]; of points with fields these as "field:NAME".
    kind : of the cloud; origin, crs : as of `PointCloud`.

    Examples
    --------
    >>> from hra.domains import points
    >>> tree = points.build(points.PointCloud([[0, 0, 0], [1, 0, 0], [9, 0, 0]]))
    >>> tree.bounds.tolist(), float(tree.with_cost("bytes").hierarchy.node_cost[0])
    ([[0.0, 0.0, 0.0], [9.0, 0.0, 0.0]], 19.0)
    """

    hierarchy: hra.Hierarchy
    kind: type[PointCloud] | type[SplatCloud]
    origin: tuple[float, float, float] = (0.0, 0.0, 0.0)
    crs: Mapping[int, bytes] = field(default_factory=dict)

    @classmethod
    def of(cls, parent: np.ndarray, attributes: dict[str, Any], kind: Any, **place: Any) -> CloudTree:
        """From a parent array in level order and the attributes of every node; ``place`` : origin and crs."""
        costs = np.ones(len(parent))
        return cls(hra.Hierarchy.tree(parent, costs, attributes=attributes, cost_unit=kind.unit), kind, **place)

    def with_cost(self, cost: Literal["nodes", "bytes"]) -> CloudTree:
        """The same tree with budgets of points or splats ("nodes"), or of bytes in a PLY file.

        Raises
        ------
        HraError : another cost.
        """
        check_choice("cost", cost, ("nodes", "bytes"), where="with_cost")
        price, unit = (self.row_bytes, "bytes") if cost == "bytes" else (1, self.kind.unit)
        costs, attributes = np.full(len(self.parent), float(price)), dict(self.hierarchy.node)
        return replace(self, hierarchy=hra.Hierarchy.tree(self.parent, costs, attributes=attributes, cost_unit=unit))

    @property
    def row_bytes(self) -> int:
        """What a point or splat takes in a PLY file."""
        held = self.hierarchy.node
        more = [rows for name, rows in held.items() if name == "harmonics" or name.startswith(FIELD)]
        far = 12 if any(self.origin) else 0
        return self.kind.row_bytes + far + sum(rows[:1].size * _ply_bytes(rows.dtype) for rows in more)

    @property
    def fields(self) -> dict[str, np.ndarray]:
        """What else nodes carry, by name, [N] or [N, k]: of inner ones that of one point below, see `build`."""
        return {name.removeprefix(FIELD): rows for name, rows in self.hierarchy.node.items() if name.startswith(FIELD)}

    @property
    def parent(self) -> np.ndarray:
        """Int [N], -1 for the root."""
        return np.asarray(self.hierarchy.node_parent)

    @property
    def leaves(self) -> np.ndarray:
        """The nodes of full detail, int [P]."""
        return np.flatnonzero(self.hierarchy.removed_by < 0)

    @cached_property
    def near_leaves(self) -> np.ndarray:
        """The nodes of full detail without strays, points far from all others: int [K]."""
        leaves = self.leaves
        finest = self.hierarchy.attribute("position")[leaves]
        extent = Extent.of(finest)
        low, high = extent.without_strays()
        if (extent.low >= low).all() and (extent.high <= high).all():
            return leaves
        return leaves[((finest >= low) & (finest <= high)).all(axis=1)]

    @property
    def bounds(self) -> np.ndarray:
        """Least and largest corner [2, 3] of the positions of full detail, `near_leaves`."""
        return corners(self.hierarchy.attribute("position")[self.near_leaves])

    @property
    def outline(self) -> np.ndarray:
        """Points [K, 3] that a camera sees if it sees the whole cloud: where discs end, and splats become faint.

        Of large clouds these are the positions: what they show is small beside them. Strays are not among them, nor
        leaves that show nothing, nor those that are wider than the cloud unless many are.
        """
        node, leaves = self.hierarchy.node, self.near_leaves
        if self.kind is SplatCloud:
            seen = leaves[node["opacity"][leaves] > 0]
            leaves = seen if len(seen) else leaves
        finest = node["position"][leaves]
        if len(leaves) > _OUTLINED:
            return finest
        if self.kind is PointCloud:
            wide = np.repeat(node["size"][leaves, None], 3, axis=1)
        else:
            wide = 3 * np.sqrt(node["covariance"][leaves][:, [0, 3, 5]])
        own, (low, high) = wide.max(axis=1), Extent.of(finest).near
        usual = own <= max(float((high - low).max()), _WIDE * float(np.median(own)))
        finest, wide = (finest[usual], wide[usual]) if usual.any() else (finest, wide)
        signs = 2 * np.indices((2, 2, 2)).reshape(3, -1).T.astype(np.float32) - 1
        return np.concatenate([finest + sign * wide for sign in signs])

    def take(self, nodes: Any) -> PointCloud | SplatCloud:
        """Some nodes as a cloud, numbers [K], usually those of a cut; slices of all nodes are views.

        Raises
        ------
        ArrayError : not numbers of nodes.
        """
        node = self.hierarchy.node
        rows = nodes if isinstance(nodes, slice) else node_numbers(nodes, len(self.parent))
        if self.kind is PointCloud:
            fields = {name: values[rows] for name, values in self.fields.items()}
            shown = (node[name][rows] for name in ("position", "color", "size"))
            return PointCloud(*shown, origin=self.origin, fields=fields, crs=self.crs)
        names = ("position", "covariance", "color", "opacity", *(("harmonics",) if "harmonics" in node else ()))
        return SplatCloud(*(node[name][rows] for name in names), origin=self.origin)


def node_numbers(nodes: Any, count: int) -> np.ndarray:
    """``nodes`` as numbers [K] of ``count`` nodes; those below 0 do not count from the end.

    Raises
    ------
    ArrayError : not numbers of nodes.
    """
    rows = np.asarray(nodes) if np.size(nodes) else np.zeros(np.shape(nodes), np.int64)
    if rows.ndim != 1 or rows.dtype.kind not in "iu":
        raise ArrayError(f"{rows.dtype} {list(rows.shape)} is not whole numbers [K]", where="nodes")
    bad = np.flatnonzero((rows < 0) | (rows >= count))
    if bad.size:
        fix = f"use 0 .. {count - 1}"
        raise ArrayError(f"there is no node {rows[bad[0]]}", where=f"nodes[{bad[0]}]", fix=fix)
    return rows


def _ply_bytes(kind: np.dtype) -> int:
    """The bytes of a number in PLY, where fractions have four or eight."""
    return min(max(kind.itemsize, 4), 8) if kind.kind == "f" else kind.itemsize

"""The token DAG: patches of the pyramid, refined in groups that overlap those of the next level."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from hra.domains.tokens.context.context import TokenContext
from hra.domains.tokens.context.token_builder import TokenBuilder
from hra.domains.tokens.patches.pyramid import PatchPyramid
from hra.domains.tokens.patches.quadtree import Grids
from hra.domains.tokens.patches.tokens import PatchTokens
from hra.model.arrays import frozen
from hra.model.hierarchy import Hierarchy
from hra.model.topology import Topology, child_by_child


@dataclass(frozen=True)
class TokenDAGBuilder(TokenBuilder[PatchTokens]):
    """Merged tokens over groups that straddle the borders of the level above, as cluster hierarchies of meshes have.

    Every 2 x 2 tokens are merged to one (the mean of their pixels) up to the root. The tokens of a level form groups of
    2 x 2 that begin at odd rows and columns, so that no border runs through all levels: a group holds children of up to
    four parents. A token can be refined once all tokens of its group are there; its children are added one at a time,
    and it leaves with the last. Detail therefore changes gradually.
    """

    def build(self, context: TokenContext) -> Hierarchy:
        """A DAG with the attributes "level", "x" and "y"; see `PyramidBuilder` for the order of siblings."""
        pyramid = context.pyramid
        own, inherited = context.node_errors
        quadtree = child_by_child(pyramid.parents, inherited)
        edges = _unique(np.concatenate([quadtree.edges, _group_edges(pyramid, quadtree)]), quadtree.size)
        return Hierarchy.from_topology(
            np.ones(own.size),
            Topology(quadtree.size, quadtree.added_by, quadtree.removed_by, edges),
            node_parent=pyramid.parents,
            attributes=dict(zip(("level", "x", "y"), pyramid.positions.T, strict=True)),
            cost_unit="tokens",
        )

    def tokens(self, context: TokenContext, hierarchy: Hierarchy, cut: np.ndarray) -> PatchTokens:
        """The patches of ``cut``."""
        return PatchTokens.of(context, hierarchy, cut)


def _group_edges(pyramid: PatchPyramid, quadtree: Topology) -> np.ndarray:
    """What adds a token comes before the first child of every other token of its group, int32 [E, 2]."""
    groups = _groups(tuple(pyramid.grids))
    # Index -1, a member beyond the grid, reads the -1 that is appended: no refinement.
    before = np.append(quadtree.added_by, -1)[groups]
    refined = np.append(_first_steps(pyramid.parents, quadtree), -1)[groups]
    pairs = np.stack(np.broadcast_arrays(before[:, :, None], refined[:, None, :]), axis=-1).reshape(-1, 2)
    return pairs[(pairs >= 0).all(axis=1)]


def _unique(edges: np.ndarray, size: int) -> np.ndarray:
    """Each of ``edges`` [E, 2] between ``size`` refinements once, int32; by one number each, as rows sort slowly."""
    numbers = np.sort(edges[:, 0].astype(np.int64) * size + edges[:, 1])
    first = np.append(True, numbers[1:] != numbers[:-1])  # sorted, this is a fifth of the time of `np.unique`
    predecessor, successor = np.divmod(numbers[first[: numbers.size]], size)
    return np.stack([predecessor, successor], axis=1).astype(np.int32)


def _first_steps(parents: np.ndarray, quadtree: Topology) -> np.ndarray:
    """The refinement that adds the first child of every node, -1 for finest patches, int32 [N]."""
    follows = np.full(quadtree.size, -1)
    follows[quadtree.edges[:, 1]] = quadtree.edges[:, 0]
    added = quadtree.added_by
    child = np.flatnonzero(parents >= 0)
    # Children that follow what added their parent (nothing, for the base), and not a sibling.
    begins = child[follows[added[child]] == added[parents[child]]]
    first = np.full(parents.size, -1, np.int32)
    first[parents[begins]] = added[begins]
    return first


@lru_cache(maxsize=32)
def _groups(grids: Grids) -> np.ndarray:
    """The members of every group of all levels but the finest: patch numbers int64 [G, 4], -1 beyond the grid."""
    begin = np.cumsum([rows * columns for rows, columns in grids])
    groups = [np.empty((0, 4), np.int64)]
    for first, (rows, columns) in zip(begin, grids[1:], strict=False):
        numbers = first + np.arange(rows * columns).reshape(rows, columns)
        odd = np.pad(numbers, ((1, 1 + rows % 2), (1, 1 + columns % 2)), constant_values=-1)
        odd = odd[: odd.shape[0] // 2 * 2, : odd.shape[1] // 2 * 2]
        blocks = odd.reshape(odd.shape[0] // 2, 2, odd.shape[1] // 2, 2)
        groups.append(blocks.transpose(0, 2, 1, 3).reshape(-1, 4))
    return frozen(np.concatenate(groups))

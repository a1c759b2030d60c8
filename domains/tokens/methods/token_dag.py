"""Token DAG: the pyramid's patches, refined in groups that overlap those of the next level."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import Literal

import numpy as np

from hra.domains.tokens.allocator import TokenAllocator
from hra.domains.tokens.context.context import Relevance, TokenContext
from hra.domains.tokens.embedding.features import Encoder
from hra.domains.tokens.methods.cluster_builder import ClusterBuilder
from hra.domains.tokens.patches.metrics import AttributeGain, RelevanceError
from hra.domains.tokens.patches.tokens import PatchBuilder
from hra.domains.tokens.pyramid.pyramid import Grids, PatchPyramid
from hra.domains.tokens.token_sets.token_set import TokenSet
from hra.errors import ArrayError
from hra.model.arrays import frozen
from hra.model.hierarchy import Hierarchy
from hra.model.topology import Topology, child_by_child
from hra.traversals.hull import Hull


@dataclass(frozen=True)
class TokenDAGBuilder(PatchBuilder):
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


class TokenDAG(TokenAllocator[TokenSet]):
    """A cut of the token DAG: expanded where the relevant error is, with gradual changes of detail, to the exact count.

    The structure of cluster hierarchies (`hra.domains.meshes`) over tokens. By default clusters are 2 x 2 tokens, so
    that merged tokens are patches of the pyramid, and what is refined together are groups that straddle clusters, see
    `TokenDAGBuilder`. As first written down, clusters are of 4 x 4 tokens and their borders differ from level to level:
    ``TokenDAG(cluster=4, staggered=True)``, see `ClusterBuilder`, which leaves 6 to 11 % more error. Groups are added
    token by token, because groups as indivisible steps of 12 tokens cannot meet every budget.

    Parameters
    ----------
    relevance : see `Relevance`; by default `CueRelevance`.
    encoder : see `TokenAllocator`.
    patch : side of a patch in pixels.
    levels : at most this many levels of detail; by default down to a single patch.
    cluster : tokens along the side of a cluster, 2 or 4.
    staggered : whether the borders of each level run through the middle of tokens of the next finer one.

    Raises
    ------
    ArrayError : clusters of another size; for a staggered image, also a patch that is not a power of two.

    Examples
    --------
    >>> import numpy as np
    >>> from hra.domains import tokens
    >>> image = np.random.default_rng(0).random((128, 192, 3), dtype=np.float32)
    >>> allocator = tokens.TokenDAG()
    >>> allocation = allocator.allocate((image, "what is at the top left?"), budget=20)
    >>> allocator.realize(allocation).values.shape
    (20, 768)
    """

    def __init__(
        self,
        relevance: Relevance | None = None,
        *,
        encoder: Encoder | None = None,
        patch: int = 16,
        levels: int | None = None,
        cluster: Literal[2, 4] = 2,
        staggered: bool = False,
    ) -> None:
        if cluster not in (2, 4):
            raise ArrayError(f"clusters of {cluster} x {cluster} tokens", where="cluster", fix="use 2 or 4")
        grouped = cluster == 2 and not staggered
        gain = AttributeGain("gain", RelevanceError.unit, additive=True)
        super().__init__(
            TokenDAGBuilder() if grouped else ClusterBuilder(cluster, staggered),
            RelevanceError() if grouped else gain,
            Hull(spend_all=True),
            relevance=relevance,
            encoder=encoder,
            patch=patch,
            levels=levels,
        )

"""Token DAG: the pyramid's patches, expanded in overlapping groups."""

from __future__ import annotations

from typing import Literal

from hra.domains.tokens.allocator import TokenAllocator
from hra.domains.tokens.attribute_gain import AttributeGain
from hra.domains.tokens.context.features import Encoder
from hra.domains.tokens.patches.cluster_builder import ClusterBuilder
from hra.domains.tokens.patches.dag_builder import TokenDAGBuilder
from hra.domains.tokens.patches.metrics import RelevanceError
from hra.domains.tokens.relevance.base import Relevance
from hra.domains.tokens.token_sets.token_set import TokenSet
from hra.errors import ArrayError
from hra.traversals.hull import Hull


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
    levels : at most so many levels of detail; by default down to a single patch.
    cluster : tokens along the side of a cluster, 2 or 4.
    staggered : whether the borders of each level run through the middle of tokens of the next finer one.

    Raises
    ------
    ArrayError : clusters of another size; for a staggered image, also a patch that is no power of two.

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

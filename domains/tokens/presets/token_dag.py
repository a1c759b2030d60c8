"""Token DAG: the pyramid's patches, expanded in overlapping groups."""

from __future__ import annotations

from hra.domains.tokens.allocator import TokenAllocator
from hra.domains.tokens.features import Encoder
from hra.domains.tokens.patches.dag_builder import TokenDAGBuilder
from hra.domains.tokens.patches.metrics import RelevanceError
from hra.domains.tokens.patches.tokens import PatchTokens
from hra.domains.tokens.relevance.base import Relevance
from hra.traversals.hull import Hull


class TokenDAG(TokenAllocator[PatchTokens]):
    """A cut of the token DAG: expanded where the relevant error is, with gradual changes of detail, to the exact count.

    The structure of cluster hierarchies (`hra.domains.meshes`) over tokens; see `TokenDAGBuilder`. Left open by the
    notes and chosen: clusters are 2 x 2 tokens, so that merged tokens are patches of the pyramid, and a group is added
    token by token, because groups as indivisible steps of 12 tokens cannot meet every budget.

    Parameters
    ----------
    relevance : see `Relevance`; by default `CueRelevance`.
    encoder : see `TokenAllocator`.
    patch : side of a patch in pixels.
    levels : at most so many levels of detail; by default down to a single patch.

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
    ) -> None:
        super().__init__(
            TokenDAGBuilder(),
            RelevanceError(),
            Hull(spend_all=True),
            relevance=relevance,
            encoder=encoder,
            patch=patch,
            levels=levels,
        )

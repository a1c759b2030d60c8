"""Random patches: the baseline that knows nothing."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from hra.domains.tokens.allocator import TokenAllocator
from hra.domains.tokens.context.context import Relevance, TokenContext
from hra.domains.tokens.patches.builders import GridBuilder
from hra.domains.tokens.patches.tokens import PatchTokens
from hra.errors import MetricError
from hra.model.arrays import whole_in
from hra.model.hierarchy import Hierarchy
from hra.model.metrics import ErrorMetric
from hra.traversals.hull import Hull


@dataclass(frozen=True)
class RandomRank(ErrorMetric):
    """A random order of the nodes, the same for the same seed and number of nodes."""

    seed: int = 0
    unit = "random rank"
    kind = "gain"
    additive = False  # a certificate of a random order would say nothing

    def __post_init__(self) -> None:
        object.__setattr__(self, "seed", whole_in("seed", self.seed, kind=MetricError))

    def evaluate(self, hierarchy: Hierarchy, context: TokenContext) -> np.ndarray:
        """The numbers 1 .. N in random order, float64 [N]."""
        order = np.random.default_rng(self.seed).permutation(hierarchy.node_cost.size)
        return 1.0 + order


class Random(TokenAllocator[PatchTokens]):
    """``budget`` finest patches drawn at random without replacement; more of them keep the ones that were there.

    With `UniformGrid` and `Downsample` one of the honest baselines: in public re-tests they beat many methods.

    Parameters
    ----------
    seed : of the draw; the same seed gives the same patches in images of equal size.
    relevance : only orders the tokens, see `Relevance`; by default `CueRelevance`.
    patch : side of a patch in pixels.

    Raises
    ------
    MetricError : a seed that is no whole number from 0.

    Examples
    --------
    >>> import numpy as np
    >>> from hra.domains import tokens
    >>> image = np.random.default_rng(0).random((128, 192, 3), dtype=np.float32)
    >>> allocator = tokens.Random()
    >>> allocation = allocator.allocate((image, "what is at the top left?"), budget=20)
    >>> allocator.realize(allocation).values.shape
    (20, 768)
    """

    def __init__(self, seed: int = 0, relevance: Relevance | None = None, *, patch: int = 16) -> None:
        super().__init__(
            GridBuilder(), RandomRank(seed), Hull(spend_all=True), relevance=relevance, patch=patch, levels=1
        )

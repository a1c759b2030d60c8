"""Even pyramid: pyramid sampling that knows no query."""

from __future__ import annotations

from hra.domains.tokens.allocator import TokenAllocator
from hra.domains.tokens.context.context import UniformRelevance
from hra.domains.tokens.patches.builders import PyramidBuilder
from hra.domains.tokens.patches.metrics import RelevanceError
from hra.domains.tokens.patches.tokens import PatchTokens
from hra.traversals.hull import Hull


class EvenPyramid(TokenAllocator[PatchTokens]):
    """A cut of the patch pyramid that leaves the least squared error of the whole image, every pixel counted alike.

    `PyramidSampling` with relevance 1 everywhere: the choice for reconstruction, or before any question is asked.
    The error of a patch is that of showing its region by the mean pyramid, see `RelevanceError`:
    ``sum over pixels and channels of (image - shown)**2 / (3 H W)``.

    Source: tree-pruned quadtree coding, P. Chou, T. Lookabaugh and R. Gray, "Optimal pruning with applications to
    tree-structured source coding and modeling" (IEEE Transactions on Information Theory, 1989).

    Parameters
    ----------
    patch : side of a patch in pixels.
    levels : at most this many levels of detail; by default down to a single patch, so that every budget can be met.

    Examples
    --------
    >>> import numpy as np
    >>> from hra.domains import tokens
    >>> image = np.random.default_rng(0).random((128, 192, 3), dtype=np.float32)
    >>> allocator = tokens.EvenPyramid()
    >>> allocation = allocator.allocate((image, "what is at the top left?"), budget=20)
    >>> allocator.realize(allocation).values.shape
    (20, 768)
    """

    def __init__(self, *, patch: int = 16, levels: int | None = None) -> None:
        relevance = UniformRelevance()
        super().__init__(
            PyramidBuilder(), RelevanceError(), Hull(spend_all=True), relevance=relevance, patch=patch, levels=levels
        )

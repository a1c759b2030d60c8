"""Grid top-K: the most relevant patches of the full-resolution grid."""

from __future__ import annotations

from hra.domains.tokens.allocator import TokenAllocator
from hra.domains.tokens.context.context import Relevance
from hra.domains.tokens.patches.builders import GridBuilder
from hra.domains.tokens.patches.metrics import RelevanceGain
from hra.domains.tokens.patches.tokens import PatchTokens
from hra.traversals.hull import Hull


class GridTopK(TokenAllocator[PatchTokens]):
    """The ``budget`` most relevant finest patches; every other part of the image is not seen at all.

    The classic selection and the baseline of the pyramids: a flat hierarchy, on which the hull is a sort.

    Parameters
    ----------
    relevance : see `Relevance`; by default `CueRelevance`.
    patch : side of a patch in pixels.

    Examples
    --------
    >>> import numpy as np
    >>> from hra.domains import tokens
    >>> image = np.random.default_rng(0).random((128, 192, 3), dtype=np.float32)
    >>> allocator = tokens.GridTopK()
    >>> allocation = allocator.allocate((image, "what is at the top left?"), budget=20)
    >>> allocator.realize(allocation).values.shape
    (20, 768)
    """

    def __init__(self, relevance: Relevance | None = None, *, patch: int = 16) -> None:
        super().__init__(
            GridBuilder(), RelevanceGain(), Hull(spend_all=True), relevance=relevance, patch=patch, levels=1
        )

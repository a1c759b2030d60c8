"""Difficulty-aware pyramid: hard regions finely, easy ones coarsely, without any query."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from hra.domains.tokens.allocator import TokenAllocator
from hra.domains.tokens.channels.gradient import gradient_channels
from hra.domains.tokens.context.context import Relevance, TokenContext
from hra.domains.tokens.patches.tokens import PatchBuilder, PatchTokens
from hra.domains.tokens.pyramid.blocks import block_sums
from hra.errors import check_function
from hra.files.images.arrays import luma
from hra.model.hierarchy import Hierarchy
from hra.model.metrics import ErrorMetric
from hra.traversals.hull import Hull


@dataclass(frozen=True)
class EdgeComplexity:
    """Local complexity of an image: the mean length of the luma gradient in every finest patch. Needs nothing."""

    def __call__(self, context: TokenContext) -> np.ndarray:
        """Complexity [ceil(H/patch), ceil(W/patch)], float32, luma per pixel; the query is not read."""
        return gradient_channels(luma(context.image)[..., 0], context.patch)["edges"]


@dataclass(frozen=True)
class DifficultyError(ErrorMetric):
    """Complexity of a patch's region times the share of its finest patches that a token of its level does not give.

    At level l one token stands for 4**l finest patches, so that ``1 - 4**-l`` of them are missing. A region of even
    complexity then gains the same per token at every level: it is either left as it is or shown in full, which is the
    rule "easy regions from level 3, hard ones from level 0" with a threshold that follows from the budget.
    """

    unit = "missing complexity"

    def evaluate(self, hierarchy: Hierarchy, context: TokenContext) -> np.ndarray:
        """Complexity that is missed while the patch itself shows its region, float64 [N]."""
        return hierarchy.attribute("error")

    def inherited(self, hierarchy: Hierarchy, context: TokenContext) -> np.ndarray:
        """The same while its parent shows it, float64 [N]."""
        return hierarchy.attribute("inherited_error")


@dataclass(frozen=True)
class DifficultyBuilder(PatchBuilder):
    """The patch pyramid as a quadtree like that of `PyramidBuilder`, siblings in falling complexity."""

    def build(self, context: TokenContext) -> Hierarchy:
        """A tree with the attributes "level", "x", "y", "error" and "inherited_error" (see `DifficultyError`)."""
        pyramid = context.pyramid
        level, x, y = pyramid.positions.T
        sums = [block_sums(context.relevance, 2**depth).ravel() for depth in range(len(pyramid.levels))]
        complexity = np.concatenate(sums)
        above = np.minimum(level + 1, len(sums) - 1)
        own, inherited = (complexity * (1 - 0.25**depth) for depth in (level, above))
        return Hierarchy.tree(
            pyramid.parents,
            np.ones(level.size),
            mode="child",
            order=complexity,
            attributes={"level": level, "x": x, "y": y, "error": own, "inherited_error": inherited},
            cost_unit="tokens",
        )


class DifficultyAware(TokenAllocator[PatchTokens]):
    """Pyramid sampling by local complexity alone: no query, and no look at what a coarse patch really shows.

    It needs one pass over the image, where `PyramidSampling` with `UniformRelevance` measures the error of every level.

    Parameters
    ----------
    complexity : see `Relevance`, >= 0; by default `EdgeComplexity`. It also orders the tokens.
    patch : side of a patch in pixels.
    levels : at most this many levels of detail. With 4, an easy region of 8 x 8 patches is one token and a hard one 64;
        the coarsest level of a 1024 x 1024 image, 64 patches, is the smallest budget. None goes down to one patch.

    Examples
    --------
    >>> import numpy as np
    >>> from hra.domains import tokens
    >>> image = np.random.default_rng(0).random((128, 192, 3), dtype=np.float32)
    >>> allocator = tokens.DifficultyAware()
    >>> allocation = allocator.allocate((image, "what is at the top left?"), budget=20)
    >>> allocator.realize(allocation).values.shape
    (20, 768)
    """

    def __init__(self, complexity: Relevance | None = None, *, patch: int = 16, levels: int | None = 4) -> None:
        if complexity is not None:
            check_function("complexity", complexity, "pass a function of the context that gives scores >= 0")
        relevance = EdgeComplexity() if complexity is None else complexity
        super().__init__(
            DifficultyBuilder(),
            DifficultyError(),
            Hull(spend_all=True),
            relevance=relevance,
            patch=patch,
            levels=levels,
        )

"""Down-sampling as a method of its own: the baseline that every selection has to beat.

What a gestalt alone leaves wrong, patch by patch, says where its last tokens go.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from hra.domains.tokens.allocator import TokenAllocator
from hra.domains.tokens.context.context import Relevance, TokenContext
from hra.domains.tokens.context.token_builder import TokenBuilder
from hra.domains.tokens.methods.gestalt.gestalt import Gestalt, ResizedGestalt
from hra.domains.tokens.methods.gestalt.tokens import GestaltBuilder, GestaltTokens
from hra.domains.tokens.patches.builders import GridBuilder
from hra.domains.tokens.pyramid.blocks import block_squares
from hra.domains.tokens.pyramid.downsample import patch_grid
from hra.errors import HraError
from hra.model.hierarchy import Hierarchy
from hra.model.metrics import ErrorMetric
from hra.model.problem import check_budget
from hra.traversals.hull import Hull


@dataclass(frozen=True)
class GestaltError(ErrorMetric):
    """The weighted squared error that a finest patch takes away where only the gestalt was shown.

    Weighed as `RelevanceError`: all patches together take away the relevance-weighted mean squared error of the image
    that the gestalt shows.

    Parameters
    ----------
    gestalt : the base tokens of the hierarchy.
    """

    gestalt: Gestalt
    unit = "relevance-weighted mean squared error"
    kind = "gain"

    def evaluate(self, hierarchy: Hierarchy, context: TokenContext) -> np.ndarray:
        """Error that each patch takes away, float64 [N]; base tokens, which are always there, take none."""
        removed = context.pixel_weight * context.pyramid.once((self.gestalt, "error"), lambda: self._squares(context))
        level, x, y = (hierarchy.attribute(name) for name in ("level", "x", "y"))
        return np.where(level == 0, removed[y, x], 0.0)

    def _squares(self, context: TokenContext) -> np.ndarray:
        """Squared error of every finest patch while the gestalt shows it, float64 [rows, columns]."""
        image, patch = context.pyramid.image, context.pyramid.patch
        shown = self.gestalt.image(self.gestalt.base(context), image.shape[:2], patch)
        return block_squares(np.subtract(shown, image, out=shown), patch)


class GridlessBuilder(TokenBuilder[GestaltTokens]):
    """Refuses: the grid follows from the budget."""

    def build(self, context: TokenContext) -> Hierarchy:
        """Refused.

        Raises
        ------
        HraError : always.
        """
        what = "a down-sampled image has no hierarchy without a budget, from which its grid follows"
        raise HraError(what, where="Downsample", fix="allocate with a budget; in pools and curves use PyramidSampling")

    def tokens(self, context: TokenContext, hierarchy: Hierarchy, cut: np.ndarray) -> GestaltTokens:
        """The tokens of a hierarchy that another builder made."""
        return GestaltBuilder(ResizedGestalt()).tokens(context, hierarchy, cut)


class Downsample(TokenAllocator[GestaltTokens]):
    """The image made smaller until its patches are at most the budget; the few tokens left go to the largest errors.

    The grid is `patch_grid`'s, which keeps the aspect: 273 tokens are 16 x 17 of a square image. One is then left, and
    shows the finest patch at which the small image is worst, so that the count is exact. The grid follows from the
    budget, so there is no hierarchy without one: pools and curves are refused.

    Parameters
    ----------
    relevance : weighs those errors and orders the tokens, see `Relevance`; by default
        `CueRelevance`.
    patch : side of a patch in pixels.

    Examples
    --------
    >>> import numpy as np
    >>> from hra.domains import tokens
    >>> image = np.random.default_rng(0).random((128, 192, 3), dtype=np.float32)
    >>> allocator = tokens.Downsample()
    >>> allocation = allocator.allocate((image, "what is at the top left?"), budget=20)
    >>> allocator.realize(allocation).values.shape
    (20, 768)
    """

    def __init__(self, relevance: Relevance | None = None, *, patch: int = 16) -> None:
        super().__init__(
            *(GridlessBuilder(), GestaltError(ResizedGestalt()), Hull(spend_all=True)),
            relevance=relevance,
            patch=patch,
            levels=1,
            stand_in=self._with_grid,
        )

    def _with_grid(self, context: TokenContext, budget: float) -> TokenAllocator[GestaltTokens]:
        """The allocator over the grid of ``budget``.

        Raises
        ------
        BudgetTooSmall : no token at all.
        """
        budget = check_budget(budget, context.hierarchy(GridBuilder()))
        pyramid = context.pyramid
        height, width = pyramid.image.shape[:2]
        grid = patch_grid(height, width, int(min(budget, pyramid.offsets[1])), pyramid.patch)
        gestalt = ResizedGestalt(*grid)
        return TokenAllocator(
            *(GestaltBuilder(gestalt), GestaltError(gestalt), self.traversal),
            relevance=self.relevance,
            patch=self.patch,
        )

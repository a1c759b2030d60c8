"""Down-sampling as a method of its own: the baseline that every selection has to beat."""

from __future__ import annotations

from typing import Any

from hra.allocating.allocation import Allocation
from hra.domains.tokens.allocator import TokenAllocator
from hra.domains.tokens.context.context import TokenContext
from hra.domains.tokens.methods.gestalt.builder import GestaltBuilder
from hra.domains.tokens.methods.gestalt.error import GestaltError
from hra.domains.tokens.methods.gestalt.resized import ResizedGestalt
from hra.domains.tokens.methods.gestalt.tokens import GestaltTokens
from hra.domains.tokens.patches.builders import GridBuilder
from hra.domains.tokens.patches.downsample import patch_grid
from hra.domains.tokens.relevance.base import Relevance
from hra.errors import HraError
from hra.model.budget import check_budget
from hra.model.hierarchy import Hierarchy
from hra.traversals.hull import Hull


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
        gestalt = ResizedGestalt()
        super().__init__(
            *(GestaltBuilder(gestalt), GestaltError(gestalt), Hull(spend_all=True)),
            relevance=relevance,
            patch=patch,
            levels=1,
        )

    def allocate(
        self, context: Any, budget: float, *, previous: Allocation | None = None, pinned: Any = None
    ) -> Allocation:
        """Allocate exactly ``budget`` tokens, or all finest patches if the image has fewer; see `TokenAllocator`.

        Raises
        ------
        BudgetTooSmall : no token at all.
        """
        context = self._context(context)
        budget = check_budget(budget, context.hierarchy(GridBuilder()))
        return self._allocator_for(context, budget).allocate(context, budget, previous=previous, pinned=pinned)

    def realize(self, allocation: Allocation) -> GestaltTokens:
        """The tokens of an allocation."""
        return self._allocator_for(allocation.context, allocation.budget).realize(allocation)

    def hierarchy_for(self, context: Any) -> Hierarchy:
        """Refused: the grid follows from the budget."""
        what = "a down-sampled image has no hierarchy without a budget, from which its grid follows"
        raise HraError(what, where="Downsample", fix="allocate with a budget; in pools and curves use PyramidSampling")

    def _allocator_for(self, context: TokenContext, budget: float) -> TokenAllocator[GestaltTokens]:
        """The allocator over the grid of ``budget``."""
        pyramid = context.pyramid
        height, width = pyramid.image.shape[:2]
        grid = patch_grid(height, width, int(min(budget, pyramid.offsets[1])), pyramid.patch)
        gestalt = ResizedGestalt(*grid)
        return TokenAllocator(
            *(GestaltBuilder(gestalt), GestaltError(gestalt), self.traversal),
            relevance=self.relevance,
            patch=self.patch,
        )

"""The allocator of visual tokens: an image and a query in, a token set out."""

from __future__ import annotations

from typing import Any, Generic

from hra.allocation import Allocation
from hra.allocator import HierarchicalResourceAllocator
from hra.domains.tokens.context import TokenContext
from hra.domains.tokens.features import Encoder
from hra.domains.tokens.patches import PatchPyramid
from hra.domains.tokens.relevance import CueRelevance, Relevance
from hra.domains.tokens.token_builder import TokenBuilder, Tokens
from hra.errors import ArrayError
from hra.hierarchy import Hierarchy
from hra.metrics import ErrorMetric
from hra.problem import Problem
from hra.traversals.base import Traversal


class TokenAllocator(HierarchicalResourceAllocator, Generic[Tokens]):
    """Allocates tokens to patches of an image; the named presets are compositions of it.

    A context is a pair (image [H, W, 3], query), or a `TokenContext` made by `context`, which is worth making where one
    image serves several budgets or a pool: pyramid, relevance and errors are then computed once. It keeps the
    relevance, encoder, patch and levels of the allocator that made it, whichever allocator it is given to.

    Parameters
    ----------
    builder : makes the hierarchy of a `TokenContext`, and tokens of its cuts.
    metric : error or gain of its nodes in a `TokenContext`.
    traversal : chooses the tokens.
    relevance : (image, query) -> [ceil(H/patch), ceil(W/patch)]; by default `CueRelevance`.
    encoder : image -> features [ceil(H/patch), ceil(W/patch), D], see `TokenContext.features`; by default the channels
        of `texture_array`.
    patch : side of a patch in pixels.
    levels : at most so many levels of detail; by default down to a single patch.
    """

    def __init__(
        self,
        builder: TokenBuilder[Tokens],
        metric: ErrorMetric,
        traversal: Traversal,
        *,
        relevance: Relevance | None = None,
        encoder: Encoder | None = None,
        patch: int = 16,
        levels: int | None = None,
    ) -> None:
        super().__init__(builder, metric, traversal)
        self.builder = builder
        self.relevance = CueRelevance(patch) if relevance is None else relevance
        self.encoder = encoder
        self.patch = patch
        self.levels = levels

    def context(self, image: Any, query: str) -> TokenContext:
        """The context of one image [H, W, 3] (as `hra.images.as_image` takes it) and query.

        Raises
        ------
        ImageError : wrong layout, dtype or values.
        """
        pyramid = PatchPyramid.build(image, patch=self.patch, levels=self.levels)
        return TokenContext(pyramid, query, self.relevance, self.encoder)

    def allocate(
        self, context: Any, budget: float, *, previous: Allocation | None = None, pinned: Any = None
    ) -> Allocation:
        """Allocate exactly ``budget`` tokens, or all finest patches if the image has fewer.

        Parameters
        ----------
        context : (image, query) or a `TokenContext`.
        budget : tokens; fractions are rounded down.
        previous, pinned : see `HierarchicalResourceAllocator.allocate`.

        Raises
        ------
        ImageError, InvalidBudget, MetricError : unusable image, budget or relevance.
        BudgetTooSmall : fewer tokens than the coarsest level has.
        """
        return super().allocate(self._context(context), budget, previous=previous, pinned=pinned)

    def hierarchy_for(self, context: Any) -> Hierarchy:
        """The hierarchy of the context's image."""
        return self._context(context).hierarchy(self.builder)

    def error_metric(self, hierarchy: Hierarchy, context: Any, budget: float) -> Problem:
        """The gain of every refinement."""
        return super().error_metric(hierarchy, self._context(context), budget)

    def realize(self, allocation: Allocation) -> Tokens:
        """The tokens of an allocation: values, boxes and relevance order."""
        return self.builder.tokens(self._context(allocation.context), allocation.hierarchy, allocation.cut)

    def _context(self, context: Any) -> TokenContext:
        if isinstance(context, TokenContext):
            return context
        if not isinstance(context, tuple) or len(context) != 2 or not isinstance(context[1], str):
            kind = type(context).__name__
            raise ArrayError(f"a token context is a pair (image, query), got {kind}", where="context")
        return self.context(*context)

"""The whole image, where a budget covers it: what methods whose tokens overlap must not spend more than."""

from __future__ import annotations

from typing import Any

from hra.domains.tokens.allocator import TokenAllocator
from hra.domains.tokens.context.context import TokenContext
from hra.domains.tokens.context.token_builder import TokenBuilder
from hra.domains.tokens.methods.gestalt.gestalt import ResizedGestalt
from hra.domains.tokens.methods.gestalt.tokens import GestaltBuilder
from hra.domains.tokens.patches.builders import GridBuilder
from hra.domains.tokens.patches.metrics import RelevanceGain
from hra.traversals.hull import Hull


def covers(budget: float, context: TokenContext) -> bool:
    """Whether a budget has a token for every finest patch."""
    return budget >= context.pyramid.offsets[1]


def patches_of_whole(context: TokenContext, budget: float) -> TokenAllocator[Any] | None:
    """All finest patches where a budget covers them, in place of cuts that may hold a patch beside its own children."""
    return _all_of(GridBuilder()) if covers(budget, context) else None


def base_of_whole(context: TokenContext, budget: float) -> TokenAllocator[Any] | None:
    """The image itself where a budget covers it, in place of base tokens with finest patches over them."""
    return _all_of(GestaltBuilder(ResizedGestalt(*context.pyramid.grids[0]))) if covers(budget, context) else None


def _all_of(builder: TokenBuilder[Any]) -> TokenAllocator[Any]:
    return TokenAllocator(builder, RelevanceGain(), Hull(spend_all=True))

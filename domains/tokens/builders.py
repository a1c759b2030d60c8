"""Token hierarchies built from an image: the flat grid and the patch pyramid. Every token costs 1."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from hra.domains.tokens.context import TokenContext
from hra.domains.tokens.patch_tokens import PatchTokens
from hra.domains.tokens.token_builder import TokenBuilder
from hra.hierarchy import Hierarchy


@dataclass(frozen=True)
class GridBuilder(TokenBuilder[PatchTokens]):
    """The finest patches, independent of each other; nothing is shown before the first is taken."""

    def build(self, context: TokenContext) -> Hierarchy:
        """A flat hierarchy with the attributes "level", "x", "y"."""
        count = context.pyramid.offsets[1]
        attributes = _places(context.pyramid.positions[:count])
        return Hierarchy.flat(np.ones(count), attributes=attributes, cost_unit="tokens")

    def tokens(self, context: TokenContext, hierarchy: Hierarchy, cut: np.ndarray) -> PatchTokens:
        """The patches of ``cut``."""
        return PatchTokens.of(context, hierarchy, cut)


@dataclass(frozen=True)
class PyramidBuilder(TokenBuilder[PatchTokens]):
    """The patch pyramid as a quadtree whose children are added one at a time; a patch leaves with its last child.

    So every count from the coarsest level to all finest patches can be met. Siblings come in falling error while only
    their parent shows them: what lies below the first child then needs no other child.
    """

    def build(self, context: TokenContext) -> Hierarchy:
        """A tree with the attributes "level", "x", "y", "error" and "inherited_error" (see `RelevanceError`)."""
        pyramid = context.pyramid
        own, inherited = context.node_errors
        return Hierarchy.tree(
            pyramid.parents,
            np.ones(own.size),
            mode="child",
            order=inherited,
            attributes={**_places(pyramid.positions), "error": own, "inherited_error": inherited},
            cost_unit="tokens",
        )

    def tokens(self, context: TokenContext, hierarchy: Hierarchy, cut: np.ndarray) -> PatchTokens:
        """The patches of ``cut``."""
        return PatchTokens.of(context, hierarchy, cut)


def _places(positions: np.ndarray) -> dict[str, np.ndarray]:
    return dict(zip(("level", "x", "y"), positions.T, strict=True))

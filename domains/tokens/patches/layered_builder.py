"""The patch pyramid in layers: coarse patches stay where finer ones are added."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from hra.domains.tokens.context.context import TokenContext
from hra.domains.tokens.context.token_builder import TokenBuilder
from hra.domains.tokens.patches.tokens import PatchTokens
from hra.model.hierarchy import Hierarchy


@dataclass(frozen=True)
class LayeredBuilder(TokenBuilder[PatchTokens]):
    """Every patch is added to its parent, which stays: what was encoded once is never thrown away or encoded again.

    It costs up to a third more tokens than `PyramidBuilder` for the same image, and lets an encoder work step by step.
    """

    def build(self, context: TokenContext) -> Hierarchy:
        """An "add" tree with the attributes "level", "x" and "y"."""
        pyramid = context.pyramid
        level, x, y = pyramid.positions.T
        attributes = {"level": level, "x": x, "y": y}
        ones = np.ones(level.size)
        return Hierarchy.tree(pyramid.parents, ones, mode="add", attributes=attributes, cost_unit="tokens")

    def tokens(self, context: TokenContext, hierarchy: Hierarchy, cut: np.ndarray) -> PatchTokens:
        """The patches of ``cut``."""
        return PatchTokens.of(context, hierarchy, cut)

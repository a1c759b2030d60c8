"""Hierarchy of a gestalt that is always there, and of finest patches that are added to it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from hra.domains.tokens.context.context import TokenContext
from hra.domains.tokens.context.token_builder import TokenBuilder
from hra.domains.tokens.methods.gestalt.gestalt import Gestalt
from hra.domains.tokens.methods.gestalt.tokens import GestaltTokens
from hra.model.hierarchy import Hierarchy


@dataclass(frozen=True)
class GestaltBuilder(TokenBuilder[GestaltTokens]):
    """The base tokens of a gestalt are the base; every finest patch refines the one that shows its centre.

    Where the gestalt shows the image itself there is nothing to add: nothing is encoded twice.

    Parameters
    ----------
    gestalt : the base tokens.
    """

    gestalt: Gestalt

    def build(self, context: TokenContext) -> Hierarchy:
        """An "add" tree with the attributes "level" (-1 for base tokens), "x", "y" (in cells or finest patches)."""
        pyramid = context.pyramid
        size, patch = pyramid.image.shape[:2], pyramid.patch
        rows, columns = self.gestalt.grid(size, patch)
        count = pyramid.offsets[1] if self.gestalt.detail(size, patch) > 0 else 0
        fine = pyramid.positions[:count]
        row, column = np.divmod(np.arange(rows * columns), columns)
        base = np.stack([np.full_like(row, -1), column, row], axis=1)
        level, x, y = np.concatenate([base, fine]).astype(np.int32).T
        parent = np.r_[np.full(rows * columns, -1), self._cells(fine, size, patch)]
        attributes = {"level": level, "x": x, "y": y}
        return Hierarchy.tree(parent, np.ones(level.size), mode="add", attributes=attributes, cost_unit="tokens")

    def tokens(self, context: TokenContext, hierarchy: Hierarchy, cut: np.ndarray) -> GestaltTokens:
        """All base tokens, and the patches of ``cut``."""
        return GestaltTokens.of(context, self.gestalt, hierarchy, cut)

    def _cells(self, fine: np.ndarray, size: tuple[int, int], patch: int) -> np.ndarray:
        """The base token that shows the centre of each finest patch [K, 3], int64 [K]."""
        down, across = self.gestalt.borders(size, patch)
        x, y = np.minimum((fine[:, 1:] + 0.5) * patch, np.array(size[::-1]) - 0.5).T
        row, column = np.searchsorted(down, y, "right") - 1, np.searchsorted(across, x, "right") - 1
        return row * (across.size - 1) + column

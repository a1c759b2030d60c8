"""What a gestalt alone leaves wrong, patch by patch."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from hra.domains.tokens.context.blocks import block_squares
from hra.domains.tokens.context.context import TokenContext
from hra.domains.tokens.methods.gestalt.gestalt import Gestalt
from hra.model.hierarchy import Hierarchy
from hra.model.metrics import ErrorMetric


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

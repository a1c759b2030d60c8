"""What a region leaves wrong."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from hra.domains.tokens.context.context import TokenContext
from hra.model.hierarchy import Hierarchy
from hra.model.metrics import ErrorMetric


@dataclass(frozen=True)
class RegionError(ErrorMetric):
    """Squared error of a region that its own token shows, weighted by relevance.

    ``sum over the region's pixels of relevance (image - shown)**2 / sum of relevance``. Regions of a cut are disjoint
    and each is painted by its own token only: together they give the relevance-weighted mean squared error of the
    reconstruction, except that a region counts at least the errors of its parts.
    """

    unit = "relevance-weighted mean squared error"

    def evaluate(self, hierarchy: Hierarchy, context: TokenContext) -> np.ndarray:
        """Error of every node, float64 [N]."""
        return hierarchy.attribute("error")

"""The order in which the cells of a gestalt are refined."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from hra.domains.tokens.context.context import TokenContext
from hra.domains.tokens.patches.metrics import RelevanceGain
from hra.model.hierarchy import Hierarchy
from hra.model.metrics import ErrorMetric


@dataclass(frozen=True, eq=False)
class CellRank(ErrorMetric):
    """Finest patches in the order of their base tokens' scores, and within one by relevance.

    Parameters
    ----------
    scores : float64 [B] of the base tokens, row by row.
    """

    scores: np.ndarray
    unit = "rank"
    kind = "gain"
    additive = False  # a rank is no quality

    def evaluate(self, hierarchy: Hierarchy, context: TokenContext) -> np.ndarray:
        """The rank of every patch, the first to refine highest, float64 [N]; 0 for base tokens."""
        parent, rank = hierarchy.node_parent, np.zeros(hierarchy.node_cost.size)
        added = np.flatnonzero(hierarchy.added_by >= 0)
        if parent is None or not added.size:
            return rank
        relevance = RelevanceGain().evaluate(hierarchy, context)[added]
        # Of equal scores and relevance the first patch comes first; cells are refined one after the other.
        order = np.lexsort((-added, relevance, -parent[added], self.scores[parent[added]]))
        rank[added[order]] = 1.0 + np.arange(added.size)
        return rank

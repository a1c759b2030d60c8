"""The best of independent patches, without a hierarchy."""

from __future__ import annotations

import numpy as np

from hra.domains.tokens.context.choice import Choice
from hra.domains.tokens.context.context import TokenContext


def best_of(context: TokenContext, score: np.ndarray, budget: int, *, certified: bool) -> Choice | None:
    """The ``budget`` nodes of highest ``score`` [N], >= 0, the first of equals; None if there are no more than that."""
    if budget >= score.size:
        return None
    least = np.partition(score, score.size - budget)[score.size - budget] if budget else np.inf
    above = np.flatnonzero(score > least)
    equal = np.flatnonzero(score == least)[: budget - above.size]
    cut = np.union1d(above, equal)
    gain = float(score[cut].sum())
    return Choice(context, cut, gain, float(score.sum()), 0.0 if certified else None)

"""Entropy of attention: where a model is undecided."""

from __future__ import annotations

from typing import Any

import numpy as np

from hra.domains.tokens.methods.fixation.confidence import normalised_entropy
from hra.errors import MetricError
from hra.model.arrays import to_numpy


def attention_entropy(attention: Any) -> np.ndarray:
    """How undecided attention to each base token is, as a `CellScore`: high where it comes from everywhere a little.

    The entropy, in [0, 1], of the distribution over queries (or heads) of the attention that one base token receives.
    The notes say that regions of high attention entropy are refined, and leave open over what; this is our choice.

    Parameters
    ----------
    attention : [Q, B], >= 0, from each of Q queries or heads to each base token.

    Returns
    -------
    float64 [B]; 0 for base tokens without any attention.

    Raises
    ------
    MetricError : not a matrix of finite numbers >= 0.
    """
    weights = to_numpy(attention)
    if weights.ndim != 2 or not (np.isfinite(weights) & (weights >= 0)).all():
        raise MetricError(f"attention of shape {weights.shape}", where="attention", fix="pass [Q, B], finite and >= 0")
    weights = weights.astype(np.float64)
    return np.array([normalised_entropy(column) if column.any() else 0.0 for column in weights.T])

"""How important regions are to a query."""

from __future__ import annotations

import numpy as np

from hra.domains.tokens.context.context import TokenContext
from hra.domains.tokens.methods.regions.descriptors import gradients

_QUERY, _GRADIENT = 0.6, 0.4


def importance(context: TokenContext) -> np.ndarray:
    """0.6 relevance + 0.4 gradient saliency of every finest patch, each divided by its largest value.

    With a relevance that is the cosine of query and patch, this is 0.6 cosine + 0.4 saliency; the saliency is the mean
    length of the luma gradient.

    Returns
    -------
    float64 [rows, columns] in [0, 1].
    """
    edges = gradients(context)["edges"].astype(np.float64)
    relevance = context.relevance
    return _QUERY * relevance / relevance.max() + _GRADIENT * edges / max(float(edges.max()), 1 / 255)

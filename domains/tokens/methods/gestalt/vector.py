"""One vector for a whole image, from its base tokens."""

from __future__ import annotations

from typing import Any, Literal, get_args

import numpy as np

from hra.domains.tokens.embedding.feature_grid import is_torch
from hra.errors import ArrayError

GestaltKind = Literal["mean", "cls", "attention"]


def gestalt_vector(base: Any, kind: GestaltKind = "mean", *, query: Any = None, cls: Any = None) -> Any:
    """Pool the base tokens of an image.

    Parameters
    ----------
    base : [B, D], NumPy or torch.
    kind : "mean"; "attention", the mean weighed by ``softmax(base @ query / sqrt(D))``; "cls", what the encoder's class
        token says.
    query : [D], for "attention": a learned vector, or the embedding of the question.
    cls : [D], for "cls".

    Returns
    -------
    [D], NumPy float32, or torch with its gradient.

    Raises
    ------
    ArrayError : unknown kind, or a vector that is missing or of another width.

    Notes
    -----
    Attention pooling as in A. Radford et al., "Learning transferable visual models from natural language supervision"
    (ICML 2021), with one head and without projections.
    """
    if kind not in get_args(GestaltKind):
        fix = "use 'mean', 'cls' or 'attention'"
        raise ArrayError(f"unknown kind of gestalt vector {kind!r}", where="kind", fix=fix)
    if kind == "cls":
        return _vector("cls", cls, base)
    if kind == "mean":
        return base.mean(0)
    scores = base @ _vector("query", query, base) / base.shape[1] ** 0.5
    weights = (scores - scores.max()).softmax(0) if is_torch(scores) else _softmax(scores)
    return weights @ base


def _vector(name: str, vector: Any, base: Any) -> Any:
    width = base.shape[1]
    if vector is None or tuple(vector.shape) != (width,):
        found = "nothing" if vector is None else f"shape {tuple(vector.shape)}"
        raise ArrayError(f"{name} is {found}", where=name, fix=f"pass a vector [{width}] of the encoder")
    return vector


def _softmax(scores: np.ndarray) -> np.ndarray:
    weights = np.exp(scores - scores.max())
    return weights / weights.sum()

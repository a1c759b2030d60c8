"""A query's embedding as the vector that the relevance scorer takes."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from hra.errors import ArrayError


def query_vector(embedding: Any, width: int) -> Tensor:
    """An embedding filled up with zeros.

    Parameters
    ----------
    embedding : [D], NumPy or torch, D <= width; None for a query without an embedding: all zeros.
    width : of the vector.

    Returns
    -------
    float32 [width].

    Raises
    ------
    ArrayError : no vector, or a longer one.
    """
    values = torch.zeros(0) if embedding is None else torch.as_tensor(embedding, dtype=torch.float32)
    if values.ndim != 1 or len(values) > width:
        what = f"an embedding of shape {tuple(values.shape)}"
        raise ArrayError(what, where="query", fix=f"pass a vector of at most {width} numbers, or a wider scorer")
    return torch.nn.functional.pad(values, (0, width - len(values)))

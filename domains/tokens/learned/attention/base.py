"""What all of them take: queries, keys and values of heads, tokens in an order in which neighbours lie near."""

from __future__ import annotations

from torch import Tensor

from hra.errors import ArrayError


def check_heads(query: Tensor, key: Tensor, value: Tensor) -> None:
    """Refuse what is not one sequence in three roles.

    Raises
    ------
    ArrayError : query, key or value that are not [..., N, D] of one shape.
    """
    if query.ndim < 2 or not query.shape == key.shape == value.shape:
        shapes = ", ".join(str(tuple(part.shape)) for part in (query, key, value))
        raise ArrayError(f"shapes {shapes}", where="attention", fix="pass query, key and value [..., N, D] alike")
    if not query.shape[-2]:
        raise ArrayError("no token", where="attention", fix="pass one token or more")

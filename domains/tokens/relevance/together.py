"""What a relevance may say beside its scores: that it takes many images at once, or several threads.

Both are optional: a relevance with a method ``prepare(contexts)`` computes there what it can for all of them, and keeps
it with the contexts; one with a true ``in_threads`` has no state of its own.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from hra.domains.tokens.context.context import Relevance, TokenContext
from hra.domains.tokens.embedding.batch_encoder import BatchEncoder


def runs_in_threads(relevance: Relevance | None) -> bool:
    """Whether several threads may ask for scores at once; of a relevance that does not say so, one after another."""
    return bool(getattr(relevance, "in_threads", False))


def prepare_all(relevance: Relevance, contexts: Sequence[TokenContext]) -> None:
    """Let ``relevance`` see all contexts before it is asked for their scores one by one, if it wants to."""
    prepare = getattr(relevance, "prepare", None)
    if prepare is not None and len(contexts) > 1:
        prepare(contexts)


def encode_all(
    contexts: Sequence[TokenContext], encoder: Any, encode: Callable[[list[np.ndarray]], Sequence[Any]]
) -> None:
    """Features of all images by one call, kept as what ``encoder`` returns for each."""
    unknown = {id(one.pyramid): one for one in contexts if not one.has_encoded(encoder)}
    made = encode([one.image for one in unknown.values()]) if unknown else []
    for context, features in zip(unknown.values(), made, strict=True):
        context.keep_encoded(encoder, features)


def encode_by_size(contexts: Sequence[TokenContext], encoder: Any) -> None:
    """`encode_all` for a `BatchEncoder`, images of one size together; nothing for other encoders."""
    if not isinstance(encoder, BatchEncoder):
        return
    for size in {one.image.shape for one in contexts}:
        same = [one for one in contexts if one.image.shape == size]
        encode_all(same, encoder, lambda images: encoder.encode_all(np.stack(images)))

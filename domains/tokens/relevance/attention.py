"""Relevance as attention: of the query to patch embeddings, or a map that a model hands out."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from hra.domains.tokens.context.context import TokenContext
from hra.domains.tokens.embedding.features import Encoder, TextEncoder, check_features
from hra.domains.tokens.relevance.together import encode_by_size
from hra.errors import ArrayError, MetricError, check_function
from hra.model.arrays import numbers, to_numpy


@dataclass(frozen=True)
class CrossAttentionRelevance:
    """Attention of the query over all patches, ``softmax(q k / sqrt(d))``, one head. Needs a model.

    Source: A. Vaswani et al., "Attention is all you need" (2017), equation 1.

    Parameters
    ----------
    encoder : image -> features [h, w, D], laid over the image; they run once per image.
    text_encoder : query -> embedding [E].
    query_projection : [E, d], of the text embedding.
    key_projection : [D, d], of the patch features.

    Examples
    --------
    >>> import numpy as np
    >>> from hra.domains import tokens
    >>> image = np.random.default_rng(0).random((128, 192, 3), dtype=np.float32)
    >>> patches, text = np.random.default_rng(0).normal(size=(8, 12, 16)), np.ones(16)
    >>> relevance = tokens.CrossAttentionRelevance(lambda image: patches, lambda query: text, np.eye(16), np.eye(16))
    >>> round(float(relevance(tokens.TokenContext.of(image, "a cat")).sum()), 6)
    1.0
    """

    encoder: Encoder
    text_encoder: TextEncoder
    query_projection: Any
    key_projection: Any

    def prepare(self, contexts: Sequence[TokenContext]) -> None:
        """Encode many images at once, if the encoder is a `BatchEncoder`."""
        encode_by_size(contexts, self.encoder)

    def __call__(self, context: TokenContext) -> np.ndarray:
        """Attention [h, w] on the encoder's grid, float64, adds up to 1."""
        features = context.encode(self.encoder)
        return cross_attention(features, self.text_encoder(context.query), self.query_projection, self.key_projection)


@dataclass(frozen=True)
class AttentionMapRelevance:
    """An attention map of any resolution, averaged over heads and layers. Needs a model.

    Parameters
    ----------
    attention : (image, query) -> [..., h, w], laid over the whole image; leading axes are heads or layers.

    Raises
    ------
    HraError : an attention that is no function.

    Examples
    --------
    >>> import numpy as np
    >>> from hra.domains import tokens
    >>> image = np.random.default_rng(0).random((128, 192, 3), dtype=np.float32)
    >>> heads = np.random.default_rng(0).random((3, 24, 24))
    >>> relevance = tokens.AttentionMapRelevance(lambda image, query: heads)
    >>> relevance(tokens.TokenContext.of(image, "a cat")).shape
    (24, 24)
    >>> tokens.PyramidSampling(relevance).context(image, "a cat").relevance.shape
    (8, 12)
    """

    attention: Callable[[np.ndarray, str], Any]

    def __post_init__(self) -> None:
        check_function("attention", self.attention, "of a map that is known pass lambda image, query: map")

    def __call__(self, context: TokenContext) -> np.ndarray:
        """Mean attention [h, w], float64."""
        return mean_attention(self.attention(context.image, context.query))


def cross_attention(patches: Any, text: Any, query_projection: Any, key_projection: Any) -> np.ndarray:
    """``softmax(q k / sqrt(d))`` over all patches, q and k being projections of the text and of the patches.

    Parameters
    ----------
    patches : [rows, columns, D].
    text : [E].
    query_projection : [E, d].
    key_projection : [D, d].

    Returns
    -------
    float64 [rows, columns], adds up to 1.

    Raises
    ------
    MetricError : unusable patch embeddings.
    ArrayError : a text embedding or projections whose sizes do not fit, or not finite.
    """
    features = check_features(patches, np.shape(patches)[:2])
    keys = _matrix("key_projection", key_projection, features.shape[2])
    embedding = numbers("text embedding", to_numpy(text))
    projected = embedding @ _matrix("query_projection", query_projection, embedding.size, keys.shape[1])
    logits = features @ (keys @ projected) / np.sqrt(keys.shape[1])
    weights = np.exp(logits - logits.max())
    return weights / weights.sum()


def mean_attention(attention: Any) -> np.ndarray:
    """The mean [h, w] of attention maps [..., h, w], float64.

    Raises
    ------
    MetricError : no map of numbers, or one of no entries.
    """
    values = to_numpy(attention)
    if values.ndim < 2 or values.dtype.kind not in "iuf" or not values.size:
        what = f"the attention has shape {values.shape} of {values.dtype}, expected [..., h, w] numbers"
        raise MetricError(what, where="attention", fix="drop class tokens and reshape the others to their grid")
    return values.astype(np.float64).reshape(-1, *values.shape[-2:]).mean(axis=0)


def _matrix(name: str, values: Any, rows: int, columns: int | None = None) -> np.ndarray:
    matrix = to_numpy(values)
    expected = (rows, "d" if columns is None else columns)
    fits = matrix.ndim == 2 and matrix.shape[0] == rows and columns in (None, matrix.shape[1])
    if not fits or matrix.dtype.kind not in "iuf" or not np.isfinite(matrix).all():
        raise ArrayError(f"{name} has shape {matrix.shape}, expected {expected} finite numbers", where=name)
    return matrix.astype(np.float64)

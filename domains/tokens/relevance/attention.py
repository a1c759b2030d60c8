"""Relevance as attention: of the query to patch embeddings, or a map that a model hands out."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from hra.domains.tokens.features import Encoder, TextEncoder, checked_features
from hra.domains.tokens.relevance.base import Encode, EncodedRelevance
from hra.errors import ArrayError, MetricError
from hra.model.arrays import numbers, to_numpy


@dataclass(frozen=True)
class CrossAttentionRelevance(EncodedRelevance):
    """Attention of the query over all patches, ``softmax(q k / sqrt(d))``, one head.

    Source: A. Vaswani et al., "Attention is all you need" (2017), equation 1.

    Parameters
    ----------
    encoder : image -> features of the finest patches [ceil(H/patch), ceil(W/patch), D].
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
    >>> round(float(relevance(image, "a cat").sum()), 6)
    1.0
    """

    encoder: Encoder
    text_encoder: TextEncoder
    query_projection: Any
    key_projection: Any

    def score(self, image: np.ndarray, query: str, encode: Encode) -> np.ndarray:
        """Relevance [ceil(H/patch), ceil(W/patch)], float64, adds up to 1."""
        features = encode(self.encoder)
        return cross_attention(features, self.text_encoder(query), self.query_projection, self.key_projection)


@dataclass(frozen=True)
class AttentionMapRelevance:
    """An attention map of any resolution, averaged over heads and resampled to the patches.

    Parameters
    ----------
    attention : (image, query) -> [..., h, w], laid over the whole image; leading axes are heads or layers.
    patch : side of a patch in pixels.

    Examples
    --------
    >>> import numpy as np
    >>> from hra.domains import tokens
    >>> image = np.random.default_rng(0).random((128, 192, 3), dtype=np.float32)
    >>> heads = np.random.default_rng(0).random((3, 24, 24))
    >>> tokens.AttentionMapRelevance(lambda image, query: heads)(image, "a cat").shape
    (8, 12)
    """

    attention: Callable[[np.ndarray, str], Any]
    patch: int = 16

    def __call__(self, image: np.ndarray, query: str) -> np.ndarray:
        """Relevance [ceil(H/patch), ceil(W/patch)], float64."""
        return resample_attention(self.attention(image, query), (image.shape[0], image.shape[1]), self.patch)


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
    features = checked_features(patches, np.shape(patches)[:2])
    keys = _matrix("key_projection", key_projection, features.shape[2])
    embedding = numbers("text embedding", to_numpy(text))
    projected = embedding @ _matrix("query_projection", query_projection, embedding.size, keys.shape[1])
    logits = features @ (keys @ projected) / np.sqrt(keys.shape[1])
    weights = np.exp(logits - logits.max())
    return weights / weights.sum()


def resample_attention(attention: Any, size: tuple[int, int], patch: int) -> np.ndarray:
    """A map laid over an image, at the centres of its patches.

    Linear interpolation where the patches are finer than the map, a mean weighted by a triangle where they are coarser
    (the filter that Pillow calls bilinear).

    Parameters
    ----------
    attention : [..., h, w]; leading axes are averaged.
    size : (height, width) of the image in pixels.
    patch : side of a patch in pixels.

    Returns
    -------
    float64 [ceil(height/patch), ceil(width/patch)].

    Raises
    ------
    MetricError : no map of numbers, or one of no entries.
    """
    values = to_numpy(attention)
    if values.ndim < 2 or values.dtype.kind not in "iuf" or not values.size:
        what = f"the attention has shape {values.shape} of {values.dtype}, expected [..., h, w] numbers"
        raise MetricError(what, where="attention")
    mean = values.astype(np.float64).reshape(-1, *values.shape[-2:]).mean(axis=0)
    rows, columns = (_weights(count, extent, patch) for count, extent in zip(mean.shape, size, strict=True))
    return rows @ mean @ columns.T


def _weights(count: int, extent: int, patch: int) -> np.ndarray:
    """Weight of each of ``count`` map entries along an axis of ``extent`` pixels for each patch, rows add up to 1."""
    start = np.arange(0, extent, patch)
    centre = (start + np.minimum(start + patch, extent)) / 2 * count / extent - 0.5
    width = max(patch * count / extent, 1.0)
    inside = np.clip(centre, 0, count - 1)[:, None]  # beyond the outermost entries the map is constant
    weights = np.maximum(1 - np.abs(np.arange(count) - inside) / width, 0)
    return weights / weights.sum(axis=1, keepdims=True)


def _matrix(name: str, values: Any, rows: int, columns: int | None = None) -> np.ndarray:
    matrix = to_numpy(values)
    expected = (rows, "d" if columns is None else columns)
    fits = matrix.ndim == 2 and matrix.shape[0] == rows and columns in (None, matrix.shape[1])
    if not fits or matrix.dtype.kind not in "iuf" or not np.isfinite(matrix).all():
        raise ArrayError(f"{name} has shape {matrix.shape}, expected {expected} finite numbers", where=name)
    return matrix.astype(np.float64)

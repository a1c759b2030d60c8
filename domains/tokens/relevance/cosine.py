"""Relevance as similarity of embeddings: the cosine between each patch and the query."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from hra.domains.tokens.context.context import TokenContext
from hra.domains.tokens.embedding.features import Encoder, TextEncoder, check_features
from hra.domains.tokens.relevance.together import encode_by_size
from hra.model.arrays import numbers, to_numpy


@dataclass(frozen=True)
class CosineRelevance:
    """Cosine similarity of patch embeddings and a text embedding, as CLIP compares images and captions. Needs a model.

    Cosines have no scale of their own and may all be negative: give them one by `calibrated`.

    Embeddings computed elsewhere are given as they are: ``CosineRelevance(lambda image: patches, lambda query: text)``.

    Source: A. Radford et al., "Learning transferable visual models from natural language supervision" (2021).

    Parameters
    ----------
    encoder : image -> embeddings [h, w, D], laid over the image; they run once per image.
    text_encoder : query -> embedding [D] in the same space.

    Examples
    --------
    >>> import numpy as np
    >>> from hra.domains import tokens
    >>> image = np.random.default_rng(0).random((128, 192, 3), dtype=np.float32)
    >>> patches, text = np.random.default_rng(0).normal(size=(8, 12, 16)), np.ones(16)
    >>> cosines = tokens.CosineRelevance(lambda image: patches, lambda query: text)
    >>> tokens.GridTopK(tokens.calibrated(cosines, "minmax")).allocate((image, "a cat"), budget=5).cost
    5.0
    """

    encoder: Encoder
    text_encoder: TextEncoder

    def prepare(self, contexts: Sequence[TokenContext]) -> None:
        """Encode many images at once, if the encoder is a `BatchEncoder`."""
        encode_by_size(contexts, self.encoder)

    def __call__(self, context: TokenContext) -> np.ndarray:
        """Cosines [h, w] on the encoder's grid, float32 in [-1, 1]."""
        return cosine_similarity(context.encode(self.encoder), self.text_encoder(context.query))


def cosine_similarity(patches: Any, text: Any) -> np.ndarray:
    """Cosine of the angle between each patch embedding and a text embedding.

    Parameters
    ----------
    patches : [rows, columns, D].
    text : [D].

    Returns
    -------
    float32 [rows, columns] in [-1, 1], 0 where an embedding is zero.

    Raises
    ------
    MetricError : unusable patch embeddings. ArrayError : a text embedding of another length, or not finite.
    """
    features = check_features(patches, np.shape(patches)[:2])
    query = numbers("text embedding", to_numpy(text), features.shape[2]).astype(np.float32)
    length = np.linalg.norm(features, axis=-1) * np.linalg.norm(query)
    return np.divide(features @ query, length, out=np.zeros_like(length), where=length > 0)

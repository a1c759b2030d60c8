"""The contextual relevance scorer as the relevance of an allocator."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from torch import Tensor
from torch.nn import functional

from hra.domains.tokens.channels.texture_array import MODEL_CHANNELS, texture_array
from hra.domains.tokens.context.context import TokenContext
from hra.domains.tokens.embedding.features import Encoder, TextEncoder, check_features, project
from hra.domains.tokens.learned.query_vector import query_vector
from hra.domains.tokens.learned.scorer import RelevanceScorer


@dataclass(frozen=True, eq=False)
class ScorerRelevance:
    """Texture array, query and gestalt of an image, scored by a `RelevanceScorer`. Needs torch and a trained scorer.

    The gestalt is the mean of the texture array over the image, filled up with zeros.

    Parameters
    ----------
    scorer : the network.
    encoder : image -> features of the finest patches; None leaves the coupling 0. A scorer made for features of their
        width takes them as they are, any other the channels 17 to 32, to which they are projected.
    text_encoder : query -> embedding in the same space, for the coupling.
    patch : side of a patch in pixels.
    """

    scorer: RelevanceScorer
    encoder: Encoder | None = None
    text_encoder: TextEncoder | None = None
    patch: int = 16

    def __call__(self, context: TokenContext) -> np.ndarray:
        """Scores [ceil(H/patch), ceil(W/patch)], float32 of any sign; say by `calibrated` what they are worth."""
        with torch.no_grad():
            return self._scores(context.image, context.query, context.encode).float().numpy(force=True)

    def scores(self, image: np.ndarray, query: str) -> Tensor:
        """The same as a tensor [rows, columns] with a gradient by the scorer's weights."""
        return self._scores(image, query, lambda encoder: encoder(image))

    def _scores(self, image: np.ndarray, query: str, encode: Callable[[Encoder], Any]) -> Tensor:
        model, embedding = self._model(image, encode), self._embedding(query)
        whole = self.scorer.features is not None
        channels = texture_array(image, self.patch, model=None if whole else model).complete()
        parameter = next(self.scorer.parameters())
        texture = torch.from_numpy(channels).to(parameter).flatten(0, 1)
        features = torch.from_numpy(model).to(parameter).flatten(0, 1) if whole and model is not None else None
        mean = texture.mean(dim=0)
        gestalt = functional.pad(mean, (0, self.scorer.width - len(mean)))
        asked = query_vector(embedding, self.scorer.width).to(parameter)
        return self.scorer(texture, asked, gestalt, features).reshape(channels.shape[:2])

    def _model(self, image: np.ndarray, encode: Callable[[Encoder], Any]) -> np.ndarray | None:
        """Features of every finest patch, [rows, columns, D]."""
        if self.encoder is None:
            return None
        grid = (-(-image.shape[0] // self.patch), -(-image.shape[1] // self.patch))
        return check_features(encode(self.encoder), grid)

    def _embedding(self, query: str) -> Any:
        """The query as the coupling compares it with features, [D or 16]."""
        if self.text_encoder is None:
            return None
        embedding = self.text_encoder(query)
        return embedding if self.scorer.features is not None else project(embedding, len(MODEL_CHANNELS))

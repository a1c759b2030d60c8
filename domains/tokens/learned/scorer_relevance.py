"""The contextual relevance scorer as the relevance of an allocator."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import torch
from torch import Tensor
from torch.nn import functional

from hra.domains.tokens.channels.texture_array import texture_array
from hra.domains.tokens.features import Encoder, TextEncoder
from hra.domains.tokens.learned.cue_query import cue_query
from hra.domains.tokens.learned.scorer import RelevanceScorer

if TYPE_CHECKING:
    from hra.domains.tokens.context import TokenContext


@dataclass(frozen=True, eq=False)
class ScorerRelevance:
    """Texture array, query and gestalt of an image, scored by a `RelevanceScorer`. Needs torch and a trained scorer.

    The gestalt is the mean of the texture array over the image, filled up with zeros.

    Parameters
    ----------
    scorer : the network.
    encoder : image -> features of the finest patches, for the channels 17 to 32; None leaves them 0.
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
            return self._scores(context.image, context.query, context.encoded).numpy(force=True)

    def scores(self, image: np.ndarray, query: str) -> Tensor:
        """The same as a tensor [rows, columns] with a gradient by the scorer's weights."""
        return self._scores(image, query, lambda encoder: encoder(image))

    def _scores(self, image: np.ndarray, query: str, encode: Callable[[Encoder], Any]) -> Tensor:
        model = None if self.encoder is None else encode(self.encoder)
        channels = torch.from_numpy(texture_array(image, self.patch, model=model).complete())
        embedding = None if self.text_encoder is None else self.text_encoder(query)
        parameter = next(self.scorer.parameters())
        texture, asked = (part.to(parameter) for part in (channels, cue_query(query, self.scorer.width, embedding)))
        mean = texture.mean(dim=(0, 1))
        gestalt = functional.pad(mean, (0, self.scorer.width - len(mean)))
        return self.scorer(texture.flatten(0, 1), asked, gestalt).reshape(texture.shape[:2])

"""Relevance of patches to a query without a model: the shipped combination of cues."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from hra.domains.tokens.relevance.saliency import saliency
from hra.domains.tokens.relevance.spatial_words import spatial_words
from hra.domains.tokens.relevance.text_likeness import text_likeness


@dataclass(frozen=True)
class CueRelevance:
    """Relevance without a model: ``spatial x (0.2 + 0.4 saliency + 0.4 text-likeness)``.

    Saliency and text-likeness are divided by their largest value; the constant keeps every patch in the game, so that
    the map is never all zero. See `saliency`, `text_likeness` and `spatial_words` for the cues and their sources.

    Parameters
    ----------
    patch : side of a patch in pixels.

    Examples
    --------
    >>> import numpy as np
    >>> from hra.domains import tokens
    >>> image = np.random.default_rng(0).random((128, 192, 3), dtype=np.float32)
    >>> relevance = tokens.CueRelevance()(image, "what is at the top left?")
    >>> relevance.shape, bool(relevance[0, 0] > relevance[-1, -1])
    ((8, 12), True)
    """

    patch: int = 16

    def __call__(self, image: np.ndarray, query: str) -> np.ndarray:
        """Relevance [ceil(H/patch), ceil(W/patch)], float32 in (0, 1]."""
        salient = _unit(saliency(image, self.patch))
        text = _unit(text_likeness(image, self.patch))
        return spatial_words(query, *salient.shape) * (0.2 + 0.4 * salient + 0.4 * text)


def _unit(cue: np.ndarray) -> np.ndarray:
    """A cue divided by its largest value, unless that is less than one step of 8-bit images (rounding, no content)."""
    return cue / max(float(cue.max()), 1 / 255)

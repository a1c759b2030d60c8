"""Relevance of patches without a model: the shipped combination of cues."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from hra.domains.tokens.channels.saliency import centre_surround
from hra.domains.tokens.channels.text_likeness import text_likeness
from hra.domains.tokens.context.context import TokenContext
from hra.domains.tokens.context.served import Served
from hra.domains.tokens.relevance.spatial_words import spatial_words


@dataclass(frozen=True)
class CueRelevance:
    """Relevance without a model: ``spatial x (0.2 + 0.4 saliency + 0.4 text-likeness)``. Needs nothing.

    Saliency and text-likeness are divided by their largest value; the constant keeps every patch in the game, so that
    the map is never all zero. Of the query only places count, see `spatial_words`; `saliency` and `text_likeness` have
    the sources of the others.

    Examples
    --------
    >>> import numpy as np
    >>> from hra.domains import tokens
    >>> image = np.random.default_rng(0).random((128, 192, 3), dtype=np.float32)
    >>> relevance = tokens.CueRelevance()(tokens.TokenContext.of(image, "what is at the top left?"))
    >>> relevance.shape, bool(relevance[0, 0] > relevance[-1, -1])
    ((8, 12), True)
    """

    in_threads: ClassVar[bool] = True

    def __call__(self, context: TokenContext) -> np.ndarray:
        """Relevance [ceil(H/patch), ceil(W/patch)], float32 in (0, 1]."""
        content = context.pyramid.once((CueRelevance, "content"), lambda: _content(context))
        places = spatial_words(context.query, *content.shape)
        if places.min() < 1:
            context.serve(Served("words of place"))
        return places * content


def _content(context: TokenContext) -> np.ndarray:
    """What follows from the image alone."""
    salient = _unit(centre_surround(context.pyramid.patch_means))
    return 0.2 + 0.4 * salient + 0.4 * _unit(text_likeness(context.image, context.patch))


def _unit(cue: np.ndarray) -> np.ndarray:
    """A cue divided by its largest value, unless that is less than one step of 8-bit images (rounding, no content)."""
    return cue / max(float(cue.max()), 1 / 255)

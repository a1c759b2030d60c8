"""Images with fresh relevance in every round, as token methods and their peers get them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from hra.domains import tokens
from hra_lab.inputs.crops import crops

QUERY = "what is at the left?"
# Images differ in content up to here; a larger batch repeats them with other relevance.
_CROPS = 8


@dataclass(frozen=True, eq=False)
class Scored:
    """One image, and what is known of it before the clock starts.

    Attributes
    ----------
    context : its relevance and the errors of all levels are there; what a method makes of them is not.
    patches : pixel values of the finest patches, float32 [N, 768]: the features of the peers.
    """

    context: tokens.TokenContext
    patches: np.ndarray

    @property
    def relevance(self) -> np.ndarray:
        """Relevance of every finest patch, float32 [N]."""
        return self.context.relevance.astype(np.float32).ravel()


def scored_images(count: int, side: int, levels: int | None = None) -> Callable[[int], list[Scored]]:
    """``count`` crops of the shipped images, ``side`` pixels a side, with new relevance in every round.

    Pyramids have ``levels`` levels, by default down to a single patch. The relevance is that of `CueRelevance` times
    log-normal noise of 5 %, so that no answer of another round is right.
    """
    known = [_known(image, levels) for _, image in crops(min(count, _CROPS), side)]

    def inputs(number: int) -> list[Scored]:
        rng = np.random.default_rng(number)
        return [_fresh(known[i % len(known)], rng) for i in range(count)]

    return inputs


def _known(image: np.ndarray, levels: int | None) -> Scored:
    """All that is the same in every round."""
    context = tokens.PyramidSampling(levels=levels).context(image, QUERY)
    pyramid = context.pyramid
    _ = pyramid.errors_by_level, context.relevance  # computed once, on first use
    return Scored(context, pyramid.values(pyramid.positions[: pyramid.offsets[1]]))


def _fresh(known: Scored, rng: np.random.Generator) -> Scored:
    relevance = known.context.relevance * np.exp(rng.normal(0, 0.05, known.context.relevance.shape))
    context = tokens.TokenContext(known.context.pyramid, QUERY, lambda context: relevance)
    _ = context.relevance
    return Scored(context, known.patches)

"""Foveated relevance: what is relevant counts the less, the farther it is from the fixation."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from hra.camera.eccentricity import Eccentricity
from hra.domains.tokens.context.context import Relevance, TokenContext
from hra.domains.tokens.context.scores import check_relevance, check_scorer
from hra.domains.tokens.relevance.cues import CueRelevance
from hra.domains.tokens.relevance.fixation import FixationFinder, PeakFixation, check_finder
from hra.domains.tokens.relevance.together import prepare_all, runs_in_threads
from hra.errors import ArrayError
from hra.model.arrays import number_in


@dataclass(frozen=True)
class FoveatedRelevance:
    """Relevance times the areal cortical magnification around a fixation, by default the peak of its own coarse pass.

    The factor is (e0 / (e + e0))**2, see `hra.Eccentricity`. As a weight of squared errors it makes the density of
    tokens fall about as e0 / (e + e0): in smooth regions the error of a token grows with the fourth power of its side.

    It weighs the finest patches, not the nodes of a hierarchy: a coarse patch whose corner is fixated keeps the full
    weight of that corner, and errors of children still add up to their parent's.

    Parameters
    ----------
    relevance : see `Relevance`; by default `CueRelevance`.
    field_of_view : degrees that the longer side of the image spans.
    fixation : where to look, (image, query, relevance) -> (x, y) in pixels; by default `PeakFixation`.

    Examples
    --------
    >>> import numpy as np
    >>> from hra.domains import tokens
    >>> image = np.random.default_rng(0).random((128, 192, 3), dtype=np.float32)
    >>> relevance = tokens.FoveatedRelevance(tokens.UniformRelevance(), fixation=tokens.CentreFixation())
    >>> weights = relevance(tokens.TokenContext.of(image))
    >>> bool(weights[4, 6] > weights[0, 0])
    True
    """

    relevance: Relevance | None = None
    field_of_view: float = 20.0
    fixation: FixationFinder | None = None

    def __post_init__(self) -> None:
        if self.relevance is not None:
            check_scorer(self.relevance)
        if self.fixation is not None:
            check_finder(self.fixation)
        if not (type(self.field_of_view) is float and 0 < self.field_of_view < 180):  # the usual, without a call
            number_in("field_of_view", self.field_of_view, 0, 180, ArrayError, ends=False)

    @property
    def in_threads(self) -> bool:
        """Whether the other relevance runs in threads, see `together`; what finds fixations may be anything."""
        return self.fixation is None and (self.relevance is None or runs_in_threads(self.relevance))

    def prepare(self, contexts: Sequence[TokenContext]) -> None:
        """Let the other relevance see many images at once, see `together`."""
        if self.relevance is not None:
            prepare_all(self.relevance, contexts)

    def __call__(self, context: TokenContext) -> np.ndarray:
        """Relevance [ceil(H/patch), ceil(W/patch)], float64, >= 0."""
        scores, gaze = self._seen(context)
        eccentricity = Eccentricity(gaze, pixels_per_degree=max(context.image.shape[:2]) / self.field_of_view)
        y, x = np.indices(context.grid)
        return scores * eccentricity.areal_weight((np.stack([x, y], axis=-1) + 0.5) * context.patch)

    def gaze(self, context: TokenContext) -> tuple[float, float]:
        """The fixation (x, y) in pixels around which relevance is weighed."""
        return self._seen(context)[1]

    def _seen(self, context: TokenContext) -> tuple[np.ndarray, tuple[float, float]]:
        """Scores of the other relevance and the fixation, found once for a context: weights and gaze ask for both."""
        base = CueRelevance() if self.relevance is None else self.relevance

        find = PeakFixation(context.patch) if self.fixation is None else self.fixation

        def see() -> tuple[FoveatedRelevance, np.ndarray, tuple[float, float]]:
            scores = check_relevance(base(context), context.grid, context.cover)
            # With the scores this object is kept, so that no other one has its number.
            return self, scores, find(context.image, context.query, scores)

        return context.once((FoveatedRelevance, id(self)), see)[1:]

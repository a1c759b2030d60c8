"""The learned sampler as the relevance of an allocator."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import torch

from hra.domains.tokens.context.context import Relevance, TokenContext
from hra.domains.tokens.context.scores import check_relevance
from hra.domains.tokens.learned.log_polar_sampler import LogPolarSampler
from hra.domains.tokens.relevance.cues import CueRelevance
from hra.domains.tokens.relevance.fixation import FixationFinder, PeakFixation


@dataclass(frozen=True, eq=False)
class SamplerRelevance:
    """What a `LogPolarSampler` takes of an image, foveal centres first: `GridTopK` by it takes the sampler's patches.

    The first patch has as much relevance as there are centres, the last one 1, all that no centre takes 0.

    Parameters
    ----------
    sampler : the centres, trained or not.
    relevance : says where to look; by default `CueRelevance`.
    fixation : (image, query, relevance) -> (x, y) in pixels; by default `PeakFixation`.

    Examples
    --------
    >>> import numpy as np
    >>> from hra.domains import tokens
    >>> from hra.domains.tokens import learned
    >>> image = np.random.default_rng(0).random((128, 192, 3), dtype=np.float32)
    >>> allocator = tokens.GridTopK(learned.SamplerRelevance(learned.LogPolarSampler(count=20)))
    >>> len(allocator.realize(allocator.allocate((image, "what is at the top left?"), budget=20)))
    20
    """

    sampler: LogPolarSampler
    relevance: Relevance | None = None
    fixation: FixationFinder | None = None

    def __call__(self, context: TokenContext) -> np.ndarray:
        """Scores [ceil(H/patch), ceil(W/patch)], float64, >= 0."""
        scores, (height, width) = np.zeros(context.grid), context.image.shape[:2]
        x, y = self._gaze(context)
        gaze = torch.tensor([x / width, y / height]).to(self.sampler.centres)
        taken = self.sampler.select(gaze, context.grid).numpy(force=True)
        scores.ravel()[taken] = np.arange(len(taken), 0, -1)
        return scores

    def _gaze(self, context: TokenContext) -> tuple[float, float]:
        look = CueRelevance() if self.relevance is None else self.relevance
        find = PeakFixation(context.patch) if self.fixation is None else self.fixation
        return find(context.image, context.query, check_relevance(look(context), context.grid, context.cover))

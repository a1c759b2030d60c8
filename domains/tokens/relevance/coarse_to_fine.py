"""Coarse to fine: a costly relevance sees a small image first, and details only where they matter."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from hra.domains.tokens.context.context import Relevance, TokenContext
from hra.domains.tokens.context.scores import check_scorer, checked_scores, resample
from hra.errors import MetricError
from hra.model.arrays import POSITIVE, is_number, whole_in


@dataclass(frozen=True, eq=False)
class CoarseToFineRelevance:
    """Another relevance, computed on a coarse level, and again on crops of the image where the first scores were high.

    What was computed is counted in `TokenContext.counts` as "patches scored": (1/4)**level + ``share`` of them at most
    (up to rounding to whole tiles), where the plain relevance scores all. Scores of both passes must have one scale, as
    cosines and probabilities do.

    Source: coarse-to-fine attention sampling, A. Katharopoulos and F. Fleuret, "Processing megapixel images with deep
    attention-sampling models" (ICML 2019), here without training.

    Parameters
    ----------
    relevance : what is computed, see `Relevance`; needs what that needs.
    level : of the coarse pass; 2 has a sixteenth of the pixels. Images with fewer levels use their coarsest one.
    share : of the tiles of ``tile`` x ``tile`` patches that are looked at again, in (0, 1].
    tile : side of a crop in patches.

    Raises
    ------
    MetricError : a parameter out of range.

    Examples
    --------
    >>> import numpy as np
    >>> from hra.domains import tokens
    >>> image = np.random.default_rng(0).random((512, 512, 3), dtype=np.float32)
    >>> context = tokens.PyramidSampling(tokens.CoarseToFineRelevance(tokens.CueRelevance())).context(image, "")
    >>> context.relevance.shape, context.counts
    ((32, 32), {'patches scored': 320})
    """

    relevance: Relevance
    level: int = 2
    share: float = 0.25
    tile: int = 8

    def __post_init__(self) -> None:
        check_scorer(self.relevance)
        for name in ("level", "tile"):
            object.__setattr__(self, name, whole_in(name, getattr(self, name), POSITIVE, MetricError))
        if not is_number(self.share) or not 0 < self.share <= 1:
            what = f"share must be a number above 0 and at most 1, got {self.share!r:.80}"
            raise MetricError(what, where="share", fix="use one such as 0.25")

    def __call__(self, context: TokenContext) -> np.ndarray:
        """Scores [ceil(H/patch), ceil(W/patch)], float64."""
        level = min(self.level, len(context.pyramid.levels) - 1)
        scores = resample(self._score(context, context.pyramid.levels[level]), context.grid, context.cover)
        for y, x in self._best_tiles(scores) if level else ():
            rows, columns = slice(y, y + self.tile), slice(x, x + self.tile)
            pixels = (slice(part.start * context.patch, part.stop * context.patch) for part in (rows, columns))
            scores[rows, columns] = self._score(context, context.image[tuple(pixels)])
        return scores

    def _score(self, context: TokenContext, image: np.ndarray) -> np.ndarray:
        part = context.seeing(image)
        context.count("patches scored", part.grid[0] * part.grid[1])
        return checked_scores(self.relevance(part), part.grid, part.cover)

    def _best_tiles(self, scores: np.ndarray) -> np.ndarray:
        """First row and column of the tiles whose best score is highest, int [K, 2]."""
        pad = [(0, -extent % self.tile) for extent in scores.shape]
        padded = np.pad(scores, pad, constant_values=-np.inf)
        tiles = padded.reshape(padded.shape[0] // self.tile, self.tile, -1, self.tile).max(axis=(1, 3))
        best = np.argsort(-tiles, axis=None, kind="stable")[: max(1, round(self.share * tiles.size))]
        return np.stack(np.unravel_index(best, tiles.shape), axis=1) * self.tile

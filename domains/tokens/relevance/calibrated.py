"""Calibration: what the scores of a relevance are worth as weights, said explicitly."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, get_args

import numpy as np

from hra.domains.tokens.context.context import Relevance, TokenContext
from hra.domains.tokens.context.scores import check_scorer, checked_scores
from hra.domains.tokens.relevance.together import prepare_all, runs_in_threads
from hra.errors import MetricError, check_choice
from hra.model.arrays import is_number, number_in

Calibration = Literal["rank", "minmax", "softmax", "softplus"]


@dataclass(frozen=True, eq=False)
class CalibratedRelevance:
    """Another relevance, its scores turned into weights >= 0 that never change their order.

    - "rank": the share of the patches that score less; ties share the mean. Scale and outliers do not matter.
    - "minmax": the least score is 0, the largest 1.
    - "softmax": exp(score / temperature), the largest 1.
    - "softplus": log(1 + exp(score / temperature)): nearly the score where it is positive, nearly 0 below.

    Parameters
    ----------
    relevance : whose scores are meant.
    method : one of the four.
    temperature : in the unit of the scores, > 0; the smaller, the sharper.
    floor : added to every weight, >= 0, so that nothing is worth nothing.

    Raises
    ------
    MetricError : an unknown method, or parameters out of range.

    Examples
    --------
    >>> import numpy as np
    >>> from hra.domains import tokens
    >>> context = tokens.TokenContext.of(np.zeros((32, 32, 3), np.float32))
    >>> tokens.CalibratedRelevance(lambda context: [[-3, -2], [-1, 9]], "rank")(context).tolist()
    [[0.0, 0.3333333333333333], [0.6666666666666666, 1.0]]
    """

    relevance: Relevance
    method: Calibration
    temperature: float = 1.0
    floor: float = 0.0

    def __post_init__(self) -> None:
        check_scorer(self.relevance)
        check_choice("method", self.method, get_args(Calibration), MetricError, "calibrated")
        number_in("temperature", self.temperature, 0, math.inf, MetricError, ends=False)
        if not is_number(self.floor) or not 0 <= self.floor < math.inf:
            what = f"floor must be a finite number of 0 or more, got {self.floor!r:.80}"
            raise MetricError(what, where="floor", fix="use 0 or a small number")

    @property
    def in_threads(self) -> bool:
        """Whether the other relevance runs in threads, see `together`."""
        return runs_in_threads(self.relevance)

    def prepare(self, contexts: Sequence[TokenContext]) -> None:
        """Let the other relevance see many images at once, see `together`."""
        prepare_all(self.relevance, contexts)

    def __call__(self, context: TokenContext) -> np.ndarray:
        """Weights [ceil(H/patch), ceil(W/patch)], float64, >= floor."""
        scores = checked_scores(self.relevance(context), context.grid, context.cover)
        return self.floor + _METHODS[self.method](scores / self.temperature)


def calibrated(
    relevance: Relevance, method: Calibration, *, temperature: float = 1.0, floor: float = 0.0
) -> CalibratedRelevance:
    """A relevance whose scores of any sign and scale are weights; see `CalibratedRelevance` for the methods.

    Raises
    ------
    MetricError : an unknown method, or parameters out of range.

    Examples
    --------
    >>> import numpy as np
    >>> from hra.domains import tokens
    >>> cosines = tokens.calibrated(lambda context: [[-0.9, -0.2]], "minmax")
    >>> cosines(tokens.TokenContext.of(np.zeros((16, 32, 3), np.float32))).tolist()
    [[0.0, 1.0]]
    """
    return CalibratedRelevance(relevance, method, temperature, floor)


def _rank(scores: np.ndarray) -> np.ndarray:
    _, place, count = np.unique(scores, return_inverse=True, return_counts=True)
    below = np.cumsum(count) - count + (count - 1) / 2
    return (below / max(scores.size - 1, 1))[place].reshape(scores.shape)


def _minmax(scores: np.ndarray) -> np.ndarray:
    spread = float(np.ptp(scores))
    return (scores - scores.min()) / spread if spread else np.ones_like(scores)


_METHODS = {
    "rank": _rank,
    "minmax": _minmax,
    "softmax": lambda scores: np.exp(scores - scores.max()),
    "softplus": lambda scores: np.logaddexp(0, scores),
}

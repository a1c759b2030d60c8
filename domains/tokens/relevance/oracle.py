"""The oracle: relevance that knows the answer's place, as well as one likes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from statistics import NormalDist

import numpy as np

from hra.domains.tokens.context.context import TokenContext
from hra.errors import MetricError

_ELSEWHERE = 0.003  # so that what is left of a budget goes to errors elsewhere


@dataclass(frozen=True)
class OracleRelevance:
    """1 in the patches that hold the answer, or a noisy score of a set area under the ROC curve, for experiments.

    Of a patch inside and one outside, the one inside scores higher with probability ``auc``: scores are exp(z), z
    normal with variance 1 and a mean larger by sqrt(2) Phi**-1(auc) inside (the binormal model; D. Green and J. Swets,
    "Signal detection theory and psychophysics", 1966). Needs the answer.

    Parameters
    ----------
    boxes : pixels (x0, y0, x1, y1), end excluded, of the answer.
    auc : from 0.5, which knows nothing, to 1, which is never wrong.
    seed : of the noise; it stays the same for one grid.

    Raises
    ------
    MetricError : no box, or an area out of range.

    Examples
    --------
    >>> import numpy as np
    >>> from hra.domains import tokens
    >>> context = tokens.TokenContext.of(np.zeros((32, 48, 3), np.float32))
    >>> tokens.OracleRelevance([(16, 0, 48, 16)])(context).tolist()
    [[0.003, 1.0, 1.0], [0.003, 0.003, 0.003]]
    """

    boxes: Sequence[tuple[int, int, int, int]]
    auc: float = 1.0
    seed: int = 0

    def __post_init__(self) -> None:
        if not 0.5 <= self.auc <= 1:
            raise MetricError(f"an area of {self.auc:g}", where="OracleRelevance", fix="use an area from 0.5 to 1")
        if not len(self.boxes):
            raise MetricError("an answer without a box", where="OracleRelevance", fix="give one box or more")

    def __call__(self, context: TokenContext) -> np.ndarray:
        """Relevance [ceil(H/patch), ceil(W/patch)], float64, > 0."""
        inside = np.zeros(context.grid, bool)
        for x0, y0, x1, y1 in self.boxes:
            rows = slice(max(y0, 0) // context.patch, -(-max(y1, 0) // context.patch))
            inside[rows, max(x0, 0) // context.patch : -(-max(x1, 0) // context.patch)] = True
        if self.auc == 1:
            return np.where(inside, 1.0, _ELSEWHERE)
        noise = np.random.default_rng(self.seed).standard_normal(inside.shape)
        return np.exp(noise + np.sqrt(2) * NormalDist().inv_cdf(self.auc) * inside)

"""The oracle: relevance that knows the answer's place, as well as one likes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import ceil
from statistics import NormalDist
from typing import Any

import numpy as np

from hra.domains.tokens.context.context import TokenContext
from hra.errors import ArrayError, MetricError
from hra.model.arrays import is_number, to_numpy, whole_in

_ELSEWHERE = 0.003  # so that what is left of a budget goes to errors elsewhere


@dataclass(frozen=True)
class OracleRelevance:
    """1 in the patches that hold the answer, or a noisy score of a set area under the ROC curve, for experiments.

    Of a patch inside and one outside, the one inside scores higher with probability ``auc``: scores are exp(z), z
    normal with variance 1 and a mean larger by sqrt(2) Phi**-1(auc) inside (the binormal model; D. Green and J. Swets,
    "Signal detection theory and psychophysics", 1966). Needs the answer.

    Parameters
    ----------
    boxes : pixels (x0, y0, x1, y1), end excluded, of the answer; fractions stand for the pixels that they touch.
    auc : from 0.5, which knows nothing, to 1, which is never wrong.
    seed : of the noise; it stays the same for one grid.

    Raises
    ------
    MetricError : no box, an empty one or none of four finite numbers, an area out of range, or a seed that is no whole
        number from 0; when it is called, a box that lies outside of the image.

    Examples
    --------
    >>> import numpy as np
    >>> from hra.domains import tokens
    >>> context = tokens.TokenContext.of(np.zeros((32, 48, 3), np.float32))
    >>> tokens.OracleRelevance([(16, 0, 48, 16)])(context).tolist()
    [[0.003, 1.0, 1.0], [0.003, 0.003, 0.003]]
    """

    boxes: Sequence[tuple[float, float, float, float]]
    auc: float = 1.0
    seed: int = 0

    def __post_init__(self) -> None:
        if not is_number(self.auc) or not 0.5 <= self.auc <= 1:
            raise MetricError(f"an area of {self.auc!r}", where="OracleRelevance", fix="use an area from 0.5 to 1")
        whole_in("seed", self.seed, kind=MetricError)
        object.__setattr__(self, "boxes", tuple(map(tuple, _boxes(self.boxes).tolist())))

    def __call__(self, context: TokenContext) -> np.ndarray:
        """Relevance [ceil(H/patch), ceil(W/patch)], float64, > 0."""
        inside = np.zeros(context.grid, bool)
        height, width = context.image.shape[:2]
        for x0, y0, x1, y1 in self.boxes:
            if x1 <= 0 or y1 <= 0 or x0 >= width or y0 >= height:
                what = f"the box {(x0, y0, x1, y1)} lies outside of the image, which has {width} x {height} pixels"
                raise MetricError(what, where="OracleRelevance", fix="give boxes in pixels of this image")
            rows = slice(max(int(y0), 0) // context.patch, ceil(y1 / context.patch))
            inside[rows, max(int(x0), 0) // context.patch : ceil(x1 / context.patch)] = True
        if self.auc == 1:
            return np.where(inside, 1.0, _ELSEWHERE)
        noise = np.random.default_rng(self.seed).standard_normal(inside.shape)
        return np.exp(noise + np.sqrt(2) * NormalDist().inv_cdf(self.auc) * inside)


def _boxes(given: Any) -> np.ndarray:
    """Boxes as numbers [n, 4]."""
    fix = "give one box (x0, y0, x1, y1) in pixels or more, x0 < x1 and y0 < y1"
    try:
        boxes = to_numpy(given)
    except ArrayError as error:
        raise MetricError("the boxes are not numbers [n, 4]", where="OracleRelevance", fix=fix) from error
    if boxes.ndim != 2 or boxes.shape[1] != 4 or not len(boxes) or boxes.dtype.kind not in "iuf":
        what = f"the boxes are {boxes.dtype} {list(boxes.shape)}, not numbers [n, 4] of an answer"
        raise MetricError(what, where="OracleRelevance", fix=fix)
    bad = np.flatnonzero(~(np.isfinite(boxes).all(axis=1) & (boxes[:, :2] < boxes[:, 2:]).all(axis=1)))
    if bad.size:
        where = f"boxes[{bad[0]}]"
        raise MetricError(f"the box {tuple(boxes[bad[0]].tolist())} is empty or not finite", where=where, fix=fix)
    return boxes

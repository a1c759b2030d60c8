"""What a relevance is: a callable of image and query; and the check of what it returns.

>>> import numpy as np
>>> from hra.domains import tokens
>>> def left_half(image, query):
...     rows, columns = -(-image.shape[0] // 16), -(-image.shape[1] // 16)
...     return np.broadcast_to(np.arange(columns) < columns / 2, (rows, columns)).astype(float)
>>> image = np.zeros((64, 64, 3), np.float32)
>>> tokens.GridTopK(left_half).allocate((image, ""), budget=8).gain
8.0
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import Any

import numpy as np

from hra.domains.tokens.features import Encoder
from hra.errors import MetricError
from hra.model.arrays import to_numpy

Relevance = Callable[[np.ndarray, str], Any]
"""(image float32 [H, W, 3], query) -> relevance of every finest patch [ceil(H/patch), ceil(W/patch)]."""


Encode = Callable[[Encoder], Any]
"""encoder -> its features of the image at hand, perhaps known already."""


class EncodedRelevance(ABC):
    """A relevance made of an encoder's features, or of another relevance that is.

    `score` asks for features instead of calling the encoder, so that an encoder that the hierarchy needs as well runs
    once per image.
    """

    def __call__(self, image: np.ndarray, query: str) -> Any:
        """Relevance [ceil(H/patch), ceil(W/patch)] of an image alone."""
        return self.score(image, query, lambda encoder: encoder(image))

    @abstractmethod
    def score(self, image: np.ndarray, query: str, encode: Encode) -> Any:
        """The same, where ``encode`` knows features of the image."""


def scored(relevance: Relevance, image: np.ndarray, query: str, encode: Encode) -> Any:
    """What ``relevance`` says of an image and a query; features come from ``encode`` if it uses any."""
    if isinstance(relevance, EncodedRelevance):
        return relevance.score(image, query, encode)
    return relevance(image, query)


def checked_relevance(values: Any, grid: tuple[int, int]) -> np.ndarray:
    """Validate a relevance map; negative scores mean "not relevant" and count as 0.

    Parameters
    ----------
    values : [rows, columns] numbers, one per finest patch; any array-like.
    grid : the expected (rows, columns).

    Returns
    -------
    float64 [rows, columns], >= 0.

    Raises
    ------
    MetricError : wrong shape, not numeric, NaN or infinite.
    """
    scores = to_numpy(values)
    if scores.shape != grid or scores.dtype.kind not in "iuf":
        raise MetricError(
            f"the relevance has shape {scores.shape} of {scores.dtype}, expected {grid} numbers",
            where="relevance",
            fix="return one number per patch: [ceil(H/patch), ceil(W/patch)]",
        )
    bad = np.argwhere(~np.isfinite(scores))
    if bad.size:
        y, x = bad[0]
        raise MetricError(f"the relevance is {scores[y, x]}", where=f"patch row {y}, column {x}")
    return np.maximum(scores.astype(np.float64), 0)

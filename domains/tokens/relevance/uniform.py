"""The relevance that knows no query: every patch counts alike."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True)
class UniformRelevance:
    """The same relevance for every patch: the error itself decides (the oracle of reconstructions).

    Parameters
    ----------
    patch : side of a patch in pixels.

    Examples
    --------
    >>> import numpy as np
    >>> from hra.domains import tokens
    >>> image = np.random.default_rng(0).random((128, 192, 3), dtype=np.float32)
    >>> tokens.UniformRelevance()(image, "").shape
    (8, 12)
    """

    patch: int = 16

    def __call__(self, image: np.ndarray, query: str) -> np.ndarray:
        """Ones [ceil(H/patch), ceil(W/patch)], float32."""
        rows, columns = (-(-extent // self.patch) for extent in image.shape[:2])
        return np.ones((rows, columns), np.float32)

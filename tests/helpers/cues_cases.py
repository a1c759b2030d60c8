"""What several tests of cues share."""

from __future__ import annotations

import numpy as np

from hra.domains.tokens.context.context import TokenContext


def grey(values: np.ndarray) -> np.ndarray:
    return np.repeat(values[..., None], 3, axis=2).astype(np.float32)


def context(image: np.ndarray, query: str = "", patch: int = 16) -> TokenContext:
    return TokenContext.of(image, query, patch=patch)

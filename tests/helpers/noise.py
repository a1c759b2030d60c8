"""Images of noise, which no method can make anything of."""

from __future__ import annotations

import numpy as np


def noise(height: int, width: int, seed: int = 0) -> np.ndarray:
    """Independent values in [0, 1), float32 [H, W, 3]."""
    return np.random.default_rng(seed).random((height, width, 3), dtype=np.float32)

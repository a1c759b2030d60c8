"""What several tests of embeddings share."""

from __future__ import annotations

import numpy as np

from hra.domains import tokens


def chosen_by(name: str, image: np.ndarray, budget: int = 40) -> tokens.TokenSet:
    allocator = tokens.preset(name)
    if name in ("gestalt-saccades", "two-pass"):
        allocator = tokens.PRESETS[name](gestalt=tokens.ResizedGestalt(4, 4))
    return allocator.realize(allocator.allocate((image, "left"), budget))


def patch_means(image: np.ndarray) -> np.ndarray:
    """An encoder of patches of 16 pixels: the mean colour of each, [rows, columns, 3]."""
    height, width = image.shape[:2]
    rows = np.add.reduceat(image.astype(np.float64), np.arange(0, height, 16), axis=0)
    sums = np.add.reduceat(rows, np.arange(0, width, 16), axis=1)
    counts = np.outer(*(np.minimum(16, extent - np.arange(0, extent, 16)) for extent in (height, width)))
    return sums / counts[..., None]

"""What several tests of allocators share."""

from __future__ import annotations

import numpy as np

from hra.domains import tokens


def shown_levels(token_set: tokens.PatchTokens) -> np.ndarray:
    """The finest level that shows each pixel."""
    level = np.full(token_set.image_size, 99)
    for (depth, _, _), (x0, y0, x1, y1) in zip(token_set.places, token_set.boxes, strict=True):
        level[y0:y1, x0:x1] = np.minimum(level[y0:y1, x0:x1], depth)
    return level

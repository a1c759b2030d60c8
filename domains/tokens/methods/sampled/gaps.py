"""What lies between the tokens: unknown pixels from the known ones around them."""

from __future__ import annotations

import numpy as np

from hra.domains.tokens.context.blocks import block_sums
from hra.domains.tokens.patches.interpolation import refine


def fill_gaps(pixels: np.ndarray, known: np.ndarray) -> np.ndarray:
    """Fill unknown pixels from the finest coarser level that knows something there; mid-grey if nothing is known.

    Source: pull-push, S. Gortler et al., "The Lumigraph" (SIGGRAPH 1996), with average interpolation as the push.

    Parameters
    ----------
    pixels : float32 [H, W, C], ignored where not ``known`` bool [H, W].

    Returns
    -------
    float32 [H, W, C], `pixels` wherever they are known.
    """
    if known.all():
        return pixels
    if not known.any():
        return np.full_like(pixels, 0.5)
    counts = block_sums(known.astype(np.float32), 2)[..., None]
    means = block_sums(np.where(known[..., None], pixels, 0), 2) / np.maximum(counts, 1)
    coarse = fill_gaps(means.astype(np.float32), counts[..., 0] > 0)
    return np.where(known[..., None], pixels, refine(coarse, *known.shape))

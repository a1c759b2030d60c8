"""Text-likeness of patches: strokes have as many strong rising edges as falling ones."""

from __future__ import annotations

import numpy as np

from hra.domains.tokens.channels.steps import horizontal_steps
from hra.domains.tokens.context.blocks import block_counts

_NOISE = 16 / 255  # steps below this are sensor noise, paper grain and soft shading, not strokes


def text_likeness(image: np.ndarray, patch: int = 16) -> np.ndarray:
    """Balanced horizontal gradient energy of every patch.

    The smaller of the summed rising and the summed falling luma steps between horizontal neighbours, per pixel, in
    steps above the noise. Strokes have both; a smooth gradient or the border of a large object has only one.

    Source: accumulated horizontal gradients, F. LeBourgeois, "Robust multifont OCR system from gray level images"
    (ICDAR 1997), as in C. Wolf and J.-M. Jolion, "Extraction and recognition of artificial text in multimedia
    documents" (2003); counting the signs apart is ours.

    Parameters
    ----------
    image : float32 [H, W, 3] in [0, 1].

    Returns
    -------
    float32 [ceil(H/patch), ceil(W/patch)], >= 0.
    """
    rising, falling = horizontal_steps(image, patch, _NOISE)
    pixels = block_counts(image.shape[0], image.shape[1], patch)
    return (np.minimum(rising, falling) / pixels).astype(np.float32)

"""How close two images are."""

from __future__ import annotations

from typing import Any

import numpy as np

from hra.arrays import to_numpy
from hra.errors import ImageError


def psnr(image: Any, reference: Any, peak: float = 1.0) -> float:
    """Peak signal-to-noise ratio in dB, over all pixels and channels; inf for equal images.

    Parameters
    ----------
    image, reference : numbers of one shape.
    peak : the largest value that a pixel can have.

    Raises
    ------
    ImageError : different shapes.
    """
    first, second = to_numpy(image), to_numpy(reference)
    if first.shape != second.shape:
        raise ImageError(f"images of {list(first.shape)} and {list(second.shape)} cannot be compared", where="psnr")
    error = float(np.mean((first.astype(np.float64) - second) ** 2))
    return float(10 * np.log10(peak**2 / error)) if error else float("inf")

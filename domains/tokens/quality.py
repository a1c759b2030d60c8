"""How close two images are."""

from __future__ import annotations

import numpy as np

from hra.errors import ImageError
from hra.image_arrays import as_image


def psnr(image: np.ndarray, reference: np.ndarray) -> float:
    """Peak signal-to-noise ratio in dB for values in [0, 1], over all pixels and channels; inf for equal images.

    Raises
    ------
    ImageError : different sizes, or not an image.
    """
    first, second = as_image(image), as_image(reference)
    if first.shape != second.shape:
        raise ImageError(f"images of {list(first.shape)} and {list(second.shape)} cannot be compared", where="psnr")
    error = np.mean((first.astype(np.float64) - second) ** 2)
    return float(-10 * np.log10(error)) if error else float("inf")

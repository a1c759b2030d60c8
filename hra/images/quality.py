"""How close two images are."""

from __future__ import annotations

from typing import Any

import numpy as np

from hra.errors import ImageError, MissingExtra
from hra.images.channels import luma
from hra.model.arrays import to_numpy

_WINDOW = 11  # pixels that the Gaussian of `ssim` reaches over


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


def ssim(image: np.ndarray, reference: np.ndarray) -> float:
    """Mean structural similarity of the luma, at most 1: what is lost in structure rather than in brightness.

    Source: Z. Wang, A. Bovik, H. Sheikh, E. Simoncelli, "Image quality assessment" (2004), with their Gaussian window
    of 11 x 11 pixels; images of fewer pixels are continued by their edge.

    Parameters
    ----------
    image, reference : [H, W, 3] in [0, 1].

    Raises
    ------
    ImageError : different shapes.
    MissingExtra : scikit-image is not installed.
    """
    try:
        from skimage.metrics import structural_similarity
    except ImportError as error:
        raise MissingExtra.of("scikit-image", "tokens") from error
    if image.shape != reference.shape:
        raise ImageError(f"images of {list(image.shape)} and {list(reference.shape)} cannot be compared", where="ssim")
    missing = [(0, max(0, _WINDOW - extent)) for extent in image.shape[:2]]
    first, second = (np.pad(luma(pixels)[..., 0], missing, mode="edge") for pixels in (image, reference))
    similarity: Any = structural_similarity(
        first, second, data_range=1.0, gaussian_weights=True, sigma=1.5, use_sample_covariance=False
    )
    return float(similarity)

"""How close two images are."""

from __future__ import annotations

from typing import Any

import numpy as np

from hra.errors import ImageError, needs
from hra.files.images.arrays import luma
from hra.kernels.row_blocks import for_each
from hra.model.arrays import numbers, to_numpy

_PART = 1 << 22  # numbers that are compared at a time
_WINDOW = 11  # pixels that the Gaussian of `ssim` reaches over
_ROWS = 128  # of the windows that are compared at a time
# A screen 0.7 m wide with 3840 pixels, seen from 0.7 m: the viewing conditions of FLIP's authors.
_PIXELS_PER_DEGREE = 67.02


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
    first, second = _of_one_shape(image, reference, "psnr")
    error = _mean_square(first, second)
    return float(10 * np.log10(peak**2 / error)) if error else float("inf")


def _mean_square(first: np.ndarray, second: np.ndarray) -> float:
    """Mean of (first - second)^2 in doubles, by parts: those of a whole photo of floats take eight times its bytes."""
    if first.ndim == 0 or first.size <= _PART:
        return float(np.mean((first.astype(np.float64) - second) ** 2))
    rows = max(1, _PART * len(first) // first.size)
    parts = (slice(row, row + rows) for row in range(0, len(first), rows))
    return sum(float(np.sum((first[part].astype(np.float64) - second[part]) ** 2)) for part in parts) / first.size


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
    with needs("scikit-image", "tokens"):
        from skimage.metrics import structural_similarity
    if image.shape != reference.shape:
        raise ImageError(f"images of {list(image.shape)} and {list(reference.shape)} cannot be compared", where="ssim")
    missing = [(0, max(0, _WINDOW - extent)) for extent in image.shape[:2]]
    first, second = (np.pad(luma(pixels)[..., 0], missing, mode="edge") for pixels in (image, reference))
    whole = len(first) - _WINDOW + 1  # rows around which the whole window lies within the images
    found: dict[int, float] = {}

    def compare(row: int) -> None:
        rows = slice(row, min(row + _ROWS, whole) + _WINDOW - 1)
        similarity: Any = structural_similarity(
            first[rows], second[rows], data_range=1.0, gaussian_weights=True, sigma=1.5, use_sample_covariance=False
        )
        found[row] = float(similarity) * (rows.stop - rows.start - _WINDOW + 1)

    starts = list(range(0, whole, _ROWS))
    for_each(starts, first.nbytes, compare)
    return sum(found[row] for row in starts) / whole


def flip(image: Any, reference: Any, pixels_per_degree: float = _PIXELS_PER_DEGREE) -> float:
    """Mean of `flip_map`, 0 for equal images and at most 1; parameters and errors as there."""
    return float(flip_map(image, reference, pixels_per_degree).mean())


def flip_map(image: Any, reference: Any, pixels_per_degree: float = _PIXELS_PER_DEGREE) -> np.ndarray:
    """LDR-FLIP of every pixel by its authors' evaluator: differences in colors that the eye resolves, edges, points.

    Source: P. Andersson and others, "FLIP: A Difference Evaluator for Alternating Images" (HPG 2020).

    Parameters
    ----------
    image, reference : sRGB in 0 .. 1 of one shape, [H, W, 3] or [H, W, 1] for grey; values outside are clipped.
    pixels_per_degree : of visual angle.

    Returns
    -------
    float32 [H, W] in 0 .. 1.

    Raises
    ------
    ImageError : another shape or type, two shapes, pixels that are not finite, or no pixels per degree.
    ArrayError : ``pixels_per_degree`` is not a finite number.
    MissingExtra : flip-evaluator is not installed.
    """
    (density,) = numbers("pixels_per_degree", [pixels_per_degree])
    if density <= 0:
        raise ImageError(f"{density:g} pixels per degree are not positive", where="pixels_per_degree")
    seen, expected = (_colors(part) for part in _of_one_shape(image, reference, "flip"))
    with needs("flip-evaluator", "textures"):
        from flip_evaluator import evaluate
    parameters = {"ppd": float(density)}
    found = evaluate(expected, seen, "LDR", applyMagma=False, computeMeanError=False, parameters=parameters)[0]
    return found.reshape(seen.shape[:2])


def _of_one_shape(image: Any, reference: Any, where: str) -> tuple[np.ndarray, np.ndarray]:
    first, second = to_numpy(image), to_numpy(reference)
    if first.shape != second.shape:
        raise ImageError(f"images of {list(first.shape)} and {list(second.shape)} cannot be compared", where=where)
    return first, second


def _colors(image: np.ndarray) -> np.ndarray:
    """What FLIP takes: float32 [H, W, 3] in 0 .. 1."""
    if image.ndim != 3 or image.shape[2] not in (1, 3) or image.size == 0 or image.dtype.kind != "f":
        what = f"FLIP needs floats [H, W, 3] or [H, W, 1], got {image.dtype} {list(image.shape)}"
        raise ImageError(what, where="flip", fix="divide bytes by 255")
    if not np.isfinite(image).all():
        raise ImageError("a pixel is not finite", where="flip")
    colors = np.broadcast_to(np.clip(image, 0, 1), (*image.shape[:2], 3))
    return np.array(colors, np.float32, order="C")

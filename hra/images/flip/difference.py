"""FLIP: how different two images look when a viewer alternates between them."""

from __future__ import annotations

from typing import Any

import numpy as np

from hra.errors import ImageError
from hra.images.flip.colors import LARGEST_DIFFERENCE, color_difference, to_opponents
from hra.images.flip.filters import edges_and_points, seen_colors
from hra.model.arrays import numbers, to_numpy

# A screen 0.7 m wide with 3840 pixels, seen from 0.7 m: the paper's viewing conditions.
PIXELS_PER_DEGREE = 67.02
# Color differences up to the share _KNEE of the largest are stretched to 0 .. _STRETCHED, the rest is compressed.
_KNEE, _STRETCHED, _COLOR_EXPONENT, _FEATURE_EXPONENT = 0.4, 0.95, 0.7, 0.5


def flip(image: Any, reference: Any, pixels_per_degree: float = PIXELS_PER_DEGREE) -> float:
    """Mean of `flip_map`, 0 for equal images and at most 1; parameters and errors as there."""
    return float(flip_map(image, reference, pixels_per_degree).mean())


def flip_map(image: Any, reference: Any, pixels_per_degree: float = PIXELS_PER_DEGREE) -> np.ndarray:
    """LDR-FLIP of every pixel: differences in the colors that the eye resolves, and in edges and points.

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
    """
    (density,) = numbers("pixels_per_degree", [pixels_per_degree])
    if density <= 0:
        raise ImageError(f"{density:g} pixels per degree are not positive", where="pixels_per_degree")
    first, second = (to_opponents(_checked(part)) for part in _of_one_shape(image, reference))
    features = np.abs(edges_and_points(first[..., 0], density) - edges_and_points(second[..., 0], density)).max(axis=0)
    feature_difference = (features / np.sqrt(np.float32(2))) ** _FEATURE_EXPONENT
    colors = color_difference(seen_colors(first, density), seen_colors(second, density))
    return np.clip(_redistributed(colors) ** (1 - feature_difference), 0, 1)


def _of_one_shape(image: Any, reference: Any) -> tuple[np.ndarray, np.ndarray]:
    first, second = to_numpy(image), to_numpy(reference)
    if first.shape != second.shape:
        raise ImageError(f"images of {list(first.shape)} and {list(second.shape)} cannot be compared", where="flip")
    return first, second


def _checked(image: np.ndarray) -> np.ndarray:
    """float32 [H, W, 3] in 0 .. 1."""
    if image.ndim != 3 or image.shape[2] not in (1, 3) or image.size == 0 or image.dtype.kind != "f":
        what = f"FLIP needs floats [H, W, 3] or [H, W, 1], got {image.dtype} {list(image.shape)}"
        raise ImageError(what, where="flip", fix="divide bytes by 255")
    if not np.isfinite(image).all():
        raise ImageError("a pixel is not finite", where="flip")
    return np.broadcast_to(np.clip(image, 0, 1), (*image.shape[:2], 3)).astype(np.float32)


def _redistributed(difference: np.ndarray) -> np.ndarray:
    """Differences spread over 0 .. 1, so that small ones keep most of the range."""
    largest = LARGEST_DIFFERENCE**_COLOR_EXPONENT
    knee, values = _KNEE * largest, difference**_COLOR_EXPONENT
    above = _STRETCHED + (values - knee) / (largest - knee) * (1 - _STRETCHED)
    return np.where(values < knee, _STRETCHED / knee * values, above).astype(np.float32)

"""Decoded Pillow images of any mode as float32 samples, strip by strip, so that temporary arrays stay small."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING

import numpy as np

from hra.errors import ImageError, RepairWarning
from hra.files.images.channels import luma, over_white, unit_range

if TYPE_CHECKING:
    from PIL import Image

_STRIP_PIXELS = 2**18
_SIXTEEN_BIT_MODES = ("I;16", "I;16L", "I;16B", "I;16N")


def decode(image: Image.Image, channels: int) -> np.ndarray:
    """Samples float32 [H, W, channels] in [0, 1], encoded as they are stored; alpha is laid over white.

    Parameters
    ----------
    image : loaded, of any mode that Pillow converts to RGB.
    channels : 1 for luma, 3 for RGB.

    Raises
    ------
    ImageError : floating-point samples that are not finite, integers outside 16 bits.

    Warns
    -----
    RepairWarning : floating-point samples outside [0, 1] were clipped.
    """
    _check_range(image)
    width, height = image.size
    result = np.empty((height, width, channels), np.float32)
    rows = max(1, _STRIP_PIXELS // width)
    for top in range(0, height, rows):
        bottom = min(top + rows, height)
        samples = _flat(_samples(image.crop((0, top, width, bottom)), top))
        result[top:bottom] = luma(samples) if channels < samples.shape[2] else samples
    return result


def _flat(samples: np.ndarray) -> np.ndarray:
    return over_white(samples) if samples.shape[2] in (2, 4) else samples


def _samples(strip: Image.Image, top: int) -> np.ndarray:
    """Samples [h, W, 1 to 4] of a strip whose first row is ``top``."""
    if strip.mode == "F":
        return _floats(strip, top)
    if strip.mode in (*_SIXTEEN_BIT_MODES, "I"):
        return _integers(strip)
    opaque = "L" if strip.mode in ("1", "L") else "RGB"
    values = np.asarray(strip.convert("RGBA" if strip.has_transparency_data else opaque))
    return unit_range(values.reshape(*values.shape[:2], -1))


def _integers(strip: Image.Image) -> np.ndarray:
    values = np.asarray(strip).astype(np.uint16)
    samples = unit_range(values)[..., None]
    transparent = strip.info.get("transparency")  # the grey of a PNG's tRNS chunk, which Pillow applies to 8 bits only
    if transparent is None:
        return samples
    return np.concatenate([samples, (values != transparent)[..., None]], axis=2, dtype=np.float32)


def _floats(strip: Image.Image, top: int) -> np.ndarray:
    values = np.asarray(strip)
    bad = np.argwhere(~np.isfinite(values))
    if len(bad):
        row, column = bad[0].tolist()
        where = f"row {top + row}, column {column}"
        raise ImageError(f"an image value is {values[row, column]}", where=where, fix="write finite values")
    return np.clip(values, 0, 1)[..., None]


def _check_range(image: Image.Image) -> None:
    if image.mode not in ("I", "F"):
        return
    low, high = (float(np.asarray(end)) for end in image.getextrema())
    if image.mode == "I" and (low < 0 or high > 65535):
        fix = "write 8 or 16 bits per sample, or floating point in [0, 1]"
        raise ImageError(f"32-bit integers from {low:g} to {high:g} have no defined range", fix=fix)
    if image.mode == "F" and (low < 0 or high > 1):
        warnings.warn(f"image values from {low:g} to {high:g} were clipped to [0, 1]", RepairWarning, stacklevel=2)

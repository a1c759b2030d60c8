"""Images as arrays: one form inside the library, float32 [H, W, 3] in [0, 1]."""

from __future__ import annotations

from typing import Any

import numpy as np

from hra.errors import ArrayError, ImageError
from hra.files.images.channels import over_white, unit_range
from hra.files.images.decoding import decode
from hra.model.arrays import to_numpy

_CHANNELS = (1, 3, 4)


def as_image(array: Any) -> np.ndarray:
    """An array as an image of three channels.

    Parameters
    ----------
    array : [H, W] or [H, W, 1] grey, [H, W, 3] colour or [H, W, 4] with alpha, which is laid over white; uint8, uint16,
        or floating point in [0, 1]. Channels may also come first, [3, H, W], where the last axis cannot be channels;
        where both can, they come last, and torch tensors are refused. NumPy, torch, anything with DLPack; or a Pillow
        image, which is not turned.

    Returns
    -------
    float32 [H, W, 3] in [0, 1], encoded as the input is. Shares its memory where nothing had to change.

    Raises
    ------
    ImageError : another layout or dtype, no pixels, or a value that is NaN or outside [0, 1]; names the first one.
    """
    if hasattr(array, "getbands"):  # as an array, a Pillow image with a palette would be its indices
        return _decode(array)
    samples = _samples(array)
    if samples.shape[2] == 4:
        samples = over_white(samples)
    return samples if samples.shape[2] == 3 else np.repeat(samples, 3, axis=2)


def _decode(image: Any) -> np.ndarray:
    try:
        return decode(image, channels=3)
    except (OSError, ValueError) as error:
        raise ImageError(f"the Pillow image cannot be decoded: {error}", where=f"mode {image.mode}") from error


def _samples(array: Any) -> np.ndarray:
    values = _channels_last(_array(array), hasattr(array, "detach"))
    if values.size == 0:
        raise ImageError(f"an image of shape {values.shape} has no pixels")
    if values.dtype.kind == "u" and values.itemsize <= 2:
        return unit_range(values)
    if values.dtype.kind == "f":
        return _check(values.astype(np.float32, copy=False))
    raise ImageError(f"images of {values.dtype} have no defined range", fix="pass uint8, uint16 or float in [0, 1]")


def _channels_last(values: np.ndarray, torch: bool) -> np.ndarray:
    """Values [H, W], [H, W, C] or [C, H, W] as [H, W, C]."""
    if values.ndim == 2:
        return values[..., None]
    last, first = (values.ndim == 3 and values.shape[axis] in _CHANNELS for axis in (2, 0))
    if last and first and torch:
        what = f"a tensor of shape {values.shape} may have its channels first or last"
        raise ImageError(what, fix="pass a NumPy array, channels last: tensor.permute(1, 2, 0).numpy()")
    if last:
        return values
    if first:
        return np.moveaxis(values, 0, 2)
    fix = "pass [H, W], [H, W, 3] or [3, H, W], or 1 or 4 channels; of a batch, one image at a time"
    raise ImageError(f"an array of shape {values.shape} is not an image", fix=fix)


def _array(array: Any) -> np.ndarray:
    try:
        return to_numpy(array)
    except (ArrayError, TypeError) as error:  # torch raises TypeError for dtypes that NumPy lacks, such as bfloat16
        raise ImageError(f"cannot read {type(array).__name__} as an image", fix="pass uint8 or float32") from error


def _check(values: np.ndarray) -> np.ndarray:
    if not (values.min() >= 0 and values.max() <= 1):  # false for NaN; two passes without a temporary array
        index = tuple(np.argwhere(~((values >= 0) & (values <= 1)))[0].tolist())
        fix = "scale or clip the values to [0, 1]"
        raise ImageError(f"an image value is {values[index]:g}", where=f"array{list(index)}", fix=fix)
    return values

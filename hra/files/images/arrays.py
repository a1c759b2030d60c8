"""Images as arrays: one form inside the library, float32 [H, W, 3] in [0, 1].

Whole numbers count as [0, 1], and alpha lies over white. Pillow's images of any mode are decoded strip by strip, so
that temporary arrays stay small.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from hra.errors import ArrayError, HraWarning, ImageError, warn
from hra.files.images.opening import stated_depth, stated_orientation
from hra.model.arrays import to_numpy

if TYPE_CHECKING:
    from PIL import Image

_CHANNELS = (1, 3, 4)
# Rec. 601, the grey of JPEG and of Pillow's mode L, applied to the encoded values as they do.
LUMA = np.array([0.299, 0.587, 0.114], np.float32)
_STRIP_PIXELS = 2**18
_WHITE = 0.95  # lighter than any text that is read on white
_SIXTEEN_BIT_MODES = ("I;16", "I;16L", "I;16B", "I;16N")


def over_white(samples: np.ndarray) -> np.ndarray:
    """Samples [H, W, 2 or 4] with straight alpha in the last channel, laid over white: [H, W, 1 or 3].

    The encoded values are mixed, as browsers and image editors do.
    """
    alpha = samples[..., -1:]
    return samples[..., :-1] * alpha + (1 - alpha)  # exact where alpha is 1


def luma(samples: np.ndarray) -> np.ndarray:
    """Grey [H, W, 1] of samples [H, W, 3]; the luma of the encoded values."""
    return np.minimum(samples @ LUMA, 1)[..., None]


def unit_range(values: np.ndarray) -> np.ndarray:
    """uint8 or uint16 values as float32 in [0, 1]."""
    return np.divide(values, np.float32(np.iinfo(values.dtype).max), dtype=np.float32)


def as_image(array: Any) -> np.ndarray:
    """An array as an image of three channels.

    Parameters
    ----------
    array : [H, W] or [H, W, 1] grey, [H, W, 3] colour or [H, W, 4] with alpha, which is laid over white; uint8, uint16,
        or floating point in [0, 1]. Channels may also come first, [3, H, W], where the last axis cannot be channels;
        where both can, they come last, and torch tensors are refused. NumPy, torch, anything with DLPack; or a Pillow
        image, which is not turned, as the processors of models do not turn it.

    Returns
    -------
    float32 [H, W, 3] in [0, 1], encoded as the input is. Shares its memory where nothing had to change.

    Raises
    ------
    ImageError : another layout or dtype, no pixels, or a value that is NaN or outside [0, 1]; names the first one.

    Warns
    -----
    HraWarning : a Pillow image whose EXIF data say that it is shown turned.
    """
    if hasattr(array, "getbands"):  # as an array, a Pillow image with a palette would be its indices
        return _decode(array)
    samples = _samples(array)
    if samples.shape[2] == 4:
        samples = over_white(samples)
    return samples if samples.shape[2] == 3 else np.repeat(samples, 3, axis=2)


def _decode(image: Any) -> np.ndarray:
    turn = stated_orientation(image)
    if turn != 1:
        what = f"a Pillow image is shown turned by its EXIF orientation {turn}, and its pixels are taken as they lie"
        warn(f"{what}; pass its path, or PIL.ImageOps.exif_transpose(image)", HraWarning)
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
    if hasattr(array, "read") or isinstance(array, (bytes, bytearray)):
        what = f"a {type(array).__name__} holds the bytes of a file, not pixels"
        raise ImageError(what, fix="pass the path of the file, or what PIL.Image.open makes of it")
    try:
        return array if type(array) is np.ndarray else to_numpy(array)
    except (ArrayError, TypeError) as error:  # torch raises TypeError for dtypes that NumPy lacks, such as bfloat16
        raise ImageError(f"cannot read {type(array).__name__} as an image", fix="pass uint8 or float32") from error


def _check(values: np.ndarray) -> np.ndarray:
    if not (values.min() >= 0 and values.max() <= 1):  # false for NaN; two passes without a temporary array
        index = tuple(np.argwhere(~((values >= 0) & (values <= 1)))[0].tolist())
        fix = "scale or clip the values to [0, 1]"
        raise ImageError(f"an image value is {values[index]:g}", where=f"array{list(index)}", fix=fix)
    return values


def decode(image: Image.Image, channels: int, name: str = "") -> np.ndarray:
    """Samples float32 [H, W, channels] in [0, 1], encoded as they are stored; alpha is laid over white.

    Parameters
    ----------
    image : loaded, of any mode that Pillow converts to RGB.
    channels : 1 for luma, 3 for RGB.
    name : of the file, for warnings.

    Raises
    ------
    ImageError : floating-point samples that are not finite, integers outside 16 bits.

    Warns
    -----
    RepairWarning : floating-point samples outside [0, 1] were clipped, or nearly all that is opaque is white, which no
        white ground shows.
    """
    said = f"{name}: " if name else ""
    _check_range(image, said)
    width, height = image.size
    full = 2 ** stated_depth(image) - 1
    result = np.empty((height, width, channels), np.float32)
    rows = max(1, _STRIP_PIXELS // width)
    opaque = white = 0
    for top in range(0, height, rows):
        bottom = min(top + rows, height)
        samples = _strip_samples(image.crop((0, top, width, bottom)), top, full)
        if samples.shape[2] in (2, 4):
            solid = samples[..., -1] > 0.5
            opaque += np.count_nonzero(solid)
            white += np.count_nonzero(solid & (samples[..., :-1].min(axis=2) > _WHITE))
            samples = over_white(samples)
        result[top:bottom] = luma(samples) if channels < samples.shape[2] else samples
    if 0.999 * opaque < white and opaque < width * height / 2:
        what = "the opaque parts of the image are white, and cannot be seen on the white ground laid below"
        warn(f"{said}{what}; lay it over another colour first")
    return result


def _strip_samples(strip: Image.Image, top: int, full: int) -> np.ndarray:
    """Samples [h, W, 1 to 4] of a strip whose first row is ``top``; ``full`` is the white of integers above 8 bits."""
    if strip.mode == "F":
        return _floats(strip, top)
    if strip.mode in (*_SIXTEEN_BIT_MODES, "I"):
        return _integers(strip, full)
    opaque = "L" if strip.mode in ("1", "L") else "RGB"
    values = np.asarray(strip.convert("RGBA" if strip.has_transparency_data else opaque))
    return unit_range(values.reshape(*values.shape[:2], -1))


def _integers(strip: Image.Image, full: int) -> np.ndarray:
    values = np.asarray(strip).astype(np.uint16)
    samples = np.divide(values, np.float32(full), dtype=np.float32)[..., None]
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


def _check_range(image: Image.Image, said: str) -> None:
    if image.mode not in ("I", "F"):
        return
    low, high = (float(np.asarray(end)) for end in image.getextrema())
    if image.mode == "I" and (low < 0 or high > 65535):
        fix = "write 8 or 16 bits per sample, or floating point in [0, 1]"
        raise ImageError(f"32-bit integers from {low:g} to {high:g} have no defined range", fix=fix)
    if image.mode == "F" and (low < 0 or high > 1):
        warn(f"{said}image values from {low:g} to {high:g} were clipped to [0, 1]")

"""Image files in and out, through Pillow (extra ``textures`` or ``tokens``).

Values stay encoded as they are stored, which is sRGB for nearly all files: nothing is linearised here.
"""

from __future__ import annotations

import io
import os
from typing import Any, Literal

import numpy as np

from hra.errors import FileError, ImageError, check_choice, needs
from hra.files.atomic_write import write_atomically
from hra.files.images.arrays import as_image, decode
from hra.files.images.opening import decoded_upright, open_upright
from hra.files.limits import DEFAULT, enough_memory
from hra.files.local_files import local_path

# A page of A2 at 600 dpi has 139 million. Decoding takes 16 to 20 bytes per pixel: Pillow's copy and float32.
MAX_PIXELS = DEFAULT.pixels
_BYTES_PER_PIXEL = 20
_CHANNELS = {"rgb": 3, "gray": 1}


def load_image(
    path: str | os.PathLike[str], *, max_pixels: int = MAX_PIXELS, mode: Literal["rgb", "gray"] = "rgb"
) -> np.ndarray:
    """A PNG, JPEG, WebP, AVIF, TIFF, BMP, GIF, TGA, JPEG 2000 or Netpbm file as an array, upright as it says.

    Alpha is laid over white. Grey and floating-point files keep their 16 or 32 bits; Pillow decodes 16-bit *colour* to
    8 bits per channel. Colour profiles are ignored.

    Parameters
    ----------
    path : of a regular file.
    max_pixels : images with more are refused before they are decoded.
    mode : "rgb", or "gray" for the luma (Rec. 601) of the encoded values.

    Returns
    -------
    float32 [H, W, 3], or [H, W, 1] for "gray", in [0, 1].

    Raises
    ------
    FileError : missing, a directory or another special file, or not readable.
    ImageError : not an image, truncated or corrupt, too many pixels, NaN or infinite values; TIFF of 8 or 16 bits with
        a sign, of more than 8 bits in which white is 0, of channels one behind another that Pillow mixes up, or in
        YCbCr of unusual coefficients.
    OutOfMemory : the machine has too little memory for it.
    MissingExtra : Pillow is not installed.

    Warns
    -----
    RepairWarning : the first of several frames was taken, corrupt EXIF data was ignored, or values were clipped.
    """
    check_choice("mode", mode, _CHANNELS, ImageError)
    with open_upright(path, max_pixels) as image:
        return _samples(image, str(path), _CHANNELS[mode])


def decode_image(content: bytes, *, max_pixels: int = MAX_PIXELS, name: str = "image") -> np.ndarray:
    """`load_image` for a file's content in memory.

    Parameters
    ----------
    content : the bytes of the file.
    max_pixels : images with more are refused before they are decoded.
    name : stands for the file in messages.

    Returns
    -------
    float32 [H, W, 3] in [0, 1].

    Raises
    ------
    ImageError, OutOfMemory, MissingExtra : see `load_image`.

    Examples
    --------
    >>> import hra
    >>> from hra.files.images import decode_image
    >>> decode_image(hra.samples.path("photo.jpg").read_bytes()).shape[2]
    3
    """
    with decoded_upright(io.BytesIO(content), name, max_pixels) as image:
        return _samples(image, name, _CHANNELS["rgb"])


def _samples(image: Any, name: str, channels: int) -> np.ndarray:
    with enough_memory("the image", name, _BYTES_PER_PIXEL * image.width * image.height):
        return decode(image, channels, name)


def save_png(path: str | os.PathLike[str], image: Any) -> None:
    """Write an image as a PNG of 8 bits per channel, whole or not at all.

    Parameters
    ----------
    path : replaced if it exists.
    image : an array as for `as_image`; [H, W] and [H, W, 1] become a grey file, alpha is laid over white.

    Raises
    ------
    ImageError : not an image.
    FileError : another suffix, the folder is missing or not writable, or the disk is full.
    MissingExtra : Pillow is not installed.
    """
    if local_path(path).suffix.lower() != ".png" and not local_path(path).is_dir():
        raise FileError("pictures are written as PNG", where=str(path)[:500], fix="use a name that ends in .png")
    write_atomically(path, png_bytes(image))


def png_bytes(image: Any) -> bytes:
    """The file that `save_png` writes for an image; errors as there."""
    with needs("pillow", "textures"):
        from PIL import Image
    samples = as_image(image)
    if np.shape(image)[2:] in ((), (1,)):
        samples = samples[..., 0]
    buffer = io.BytesIO()
    Image.fromarray(np.rint(samples * 255).astype(np.uint8)).save(buffer, "PNG")
    return buffer.getvalue()

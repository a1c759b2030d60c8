"""Images in the forms that users have them."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Any

import numpy as np

from hra.errors import ArrayError
from hra.files.images import load_image
from hra.files.images.arrays import as_image


def load_if_path(image: Any) -> Any:
    """What `hra.files.images.as_image` takes: of a path its file, anything else as it is.

    Raises
    ------
    ImageError, FileError : unusable file.
    """
    return load_image(image) if isinstance(image, (str, os.PathLike)) else image


def stacked(frames: Sequence[Any], patch: int) -> np.ndarray:
    """The frames of a video one below the other, float32 [T * H, W, 3]; edges are repeated up to whole patches.

    Raises
    ------
    ImageError, FileError : an unusable frame.
    ArrayError : no frames, or frames of different sizes.
    """
    pictures = [as_image(load_if_path(each)) for each in frames]
    if len({each.shape for each in pictures}) != 1:
        what = f"{len(pictures)} frames of {len({each.shape for each in pictures})} sizes are not a video"
        raise ArrayError(what, where="image", fix="pass at least one frame, all of one size")
    missing = [(0, -side % max(patch, 1)) for side in pictures[0].shape[:2]]
    return np.concatenate([np.pad(each, (*missing, (0, 0)), mode="edge") for each in pictures])


def picture(image: Any, size: tuple[int, int]) -> np.ndarray:
    """The image float32 [H, W, 3] of tokens that were made of one of (height, width); also of a token context.

    Raises
    ------
    ArrayError : no image, or one of another size.
    """
    if image is None:
        fix = "pass the image, or the TokenContext that was allocated"
        raise ArrayError("an encoder needs the image, which tokens do not keep", where="image", fix=fix)
    pixels = image.pyramid.image if hasattr(image, "pyramid") else as_image(load_if_path(image))
    if pixels.shape[:2] != size:
        what = f"the image has {pixels.shape[0]} x {pixels.shape[1]} pixels, that of the tokens {size[0]} x {size[1]}"
        raise ArrayError(what, where="image", fix="pass the image that the tokens were made of")
    return pixels

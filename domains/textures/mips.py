"""Mip levels of one image: every level halves the one before, rounded up, down to one texel.

Every level spans the whole image, so that position ``u`` in 0 .. 1 is texel ``u * W_m`` of the ``W_m`` of level m, as
in graphics interfaces. Where sizes are odd, a texel is therefore a little less than twice as wide as one level finer.
"""

from __future__ import annotations

from typing import Any, Literal

import numpy as np

from hra.errors import ImageError
from hra.kernels import build_pyramid
from hra.model.arrays import to_numpy, whole_number


def build_mips(image: Any, srgb: bool = False) -> tuple[np.ndarray, ...]:
    """The mip levels of ``image``, finest first.

    Parameters
    ----------
    image : uint8 or float32 [H, W, C], any size from 1 x 1.
    srgb : the colours are encoded in sRGB, so that light is averaged, not code values (`hra.kernels.build_pyramid`).

    Returns
    -------
    read-only arrays [ceil(H / 2**m), ceil(W / 2**m), C] of the image's dtype.

    Raises
    ------
    ImageError : another layout or dtype, an empty image, or values that are not finite.
    """
    levels = build_pyramid(_check(image), reduce=reduction(srgb)).levels
    for level in levels:
        level.flags.writeable = False
    return levels


def reduction(srgb: bool) -> Literal["mean", "srgb_mean"]:
    """How texels become one of the next level."""
    return "srgb_mean" if srgb else "mean"


def level_shapes(height: int, width: int) -> list[tuple[int, int]]:
    """Height and width of every mip level of an image of ``height`` x ``width`` texels, finest first."""
    shapes = [(height, width)]
    while shapes[-1] != (1, 1):
        height, width = -(-height // 2), -(-width // 2)
        shapes.append((height, width))
    return shapes


def page_side(size: Any) -> int:
    """The side of a page in texels as an int.

    Raises
    ------
    ImageError : no whole number from 1 to 2**31 - 1.
    """
    side = whole_number(size)
    if side is None or not 1 <= side < 2**31:
        what = f"the side of a page must be a whole number of texels, 1 or more, got {size}"
        raise ImageError(what, where="tile or tail", fix="use 64, 128 or 256")
    return side


def tail_level(height: int, width: int, size: int) -> int:
    """The finest mip level that fits into ``size`` x ``size`` texels.

    Raises
    ------
    ImageError : see `page_side`.
    """
    size = page_side(size)
    return next(m for m, shape in enumerate(level_shapes(height, width)) if max(shape) <= size)


def _check(image: Any) -> np.ndarray:
    array = to_numpy(image)
    if array.ndim != 3 or array.dtype not in (np.uint8, np.float32):
        raise ImageError(
            f"a texture image must be uint8 or float32 [H, W, C], got {array.dtype} {list(array.shape)}",
            fix="convert it, for example with image.astype('float32')[..., None] for a grey image of shape [H, W]",
        )
    if array.size == 0:
        raise ImageError("a texture image must have at least one texel and channel", where=f"shape {array.shape}")
    bad = np.argwhere(~np.isfinite(array))
    if bad.size:
        raise ImageError("the image contains values that are not finite", where=f"texel {bad[0].tolist()}")
    return array

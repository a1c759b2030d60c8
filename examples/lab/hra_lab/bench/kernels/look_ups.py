"""Hi-Z culling as it is written by hand with NumPy or torch, which spell all of this alike, and pixel by pixel."""

from __future__ import annotations

from functools import reduce
from operator import or_
from typing import Any, NamedTuple

import numpy as np

from hra.compiling import njit
from hra.kernels import Pyramid

_CORNERS = [[i, j, k] for i in (0, 3) for j in (1, 4) for k in (2, 5)]


class Levels(NamedTuple):
    """A maximum pyramid [..., H, W, 1] as plain arrays.

    Attributes
    ----------
    pixels : all levels, one after the other, each with all images.
    offsets, areas, widths : first pixel, pixels per image and width of every level.
    """

    pixels: Any
    offsets: Any
    areas: Any
    widths: Any

    @classmethod
    def of(cls, pyramid: Pyramid) -> Levels:
        """The levels of a pyramid on the host."""
        sizes = np.array(pyramid.layout.sizes)
        return cls(pyramid.data, np.array(pyramid.offsets), sizes.prod(axis=1), sizes[:, 1])


class Seen(NamedTuple):
    """Where boxes appear: rectangles [K, 4], nearest depths [K], whether they are out of sight or around the eye."""

    rects: Any
    depth: Any
    outside: Any
    near: Any


def largest_in_levels(arrays: Any, levels: Levels, rects: Any, image: Any = 0) -> Any:
    """The largest of 2 x 2 pixels of the finest level where a rectangle spans no more than that, [K].

    Parameters
    ----------
    arrays : numpy or torch.
    rects : int [K, 4], x0, y0, x1, y1 of level 0, last pixel included, within the image.
    image : which of the images, int [K].
    """
    span = arrays.maximum(rects[:, 2] - rects[:, 0], rects[:, 3] - rects[:, 1])
    level = arrays.clip(arrays.frexp(span * 1.0)[1] - 1, 0, None)
    # A rectangle as long as two pixels of this level may still touch three of them.
    left, top, right, bottom = (rects[:, corner] >> level for corner in range(4))
    level = level + ((right - left > 1) | (bottom - top > 1))
    left, top, right, bottom = (rects[:, corner] >> level for corner in range(4))
    start, width = levels.offsets[level] + image * levels.areas[level], levels.widths[level]
    upper, lower = start + top * width, start + bottom * width
    return arrays.maximum(
        arrays.maximum(levels.pixels[upper + left], levels.pixels[upper + right]),
        arrays.maximum(levels.pixels[lower + left], levels.pixels[lower + right]),
    )


def see(arrays: Any, boxes: Any, matrix: Any, height: int, width: int) -> Seen:
    """Boxes [K, 2, 3] before a camera with ``matrix`` [4, 4]: all eight corners, and no allowance for rounding."""
    corners = boxes.reshape(-1, 6)[:, _CORNERS]
    clip = corners @ matrix[:, :3].T + matrix[:, 3]
    x, y, z, w = (clip[..., axis] for axis in range(4))
    planes = (w + x, w - x, w + y, w - y, z, w - z)
    outside = reduce(or_, (arrays.amax(side, 1) < 0 for side in planes))
    near = arrays.amin(z, 1) <= 0
    w = arrays.where(near[:, None], 1.0, w)
    columns, rows = (x / w + 1) * (width / 2), (1 - y / w) * (height / 2)
    edges = [arrays.amin(columns, 1), arrays.amin(rows, 1), arrays.amax(columns, 1), arrays.amax(rows, 1)]
    last = (width - 1, height - 1) * 2
    pixels = [arrays.clip(edge, 0, end) for edge, end in zip(edges, last, strict=True)]
    rects = arrays.asarray(arrays.stack(pixels, 1), dtype=arrays.int32)
    return Seen(rects, arrays.amin(z / w, 1), outside, near)


def in_front(seen: Seen, farthest: Any) -> Any:
    """Whether boxes may be visible before the farthest depths [K] within their rectangles, bool [K]."""
    return ~seen.outside & (seen.near | (seen.depth <= farthest))


@njit(cache=True)
def largest_within(image, rects, index):
    """The largest pixel of image ``index[k]`` of [B, H, W] within each rectangle [K, 4], from all of its pixels."""
    result = np.empty(len(rects), image.dtype)
    for k in range(len(rects)):
        x0, y0, x1, y1 = rects[k]
        largest = image[index[k], y0, x0]
        for y in range(y0, y1 + 1):
            for x in range(x0, x1 + 1):
                largest = max(largest, image[index[k], y, x])
        result[k] = largest
    return result

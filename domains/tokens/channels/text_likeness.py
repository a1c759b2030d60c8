"""Steps of luma between neighbouring pixels, and the text-likeness of patches.

Strokes have as many strong rising edges as falling ones.
"""

from __future__ import annotations

import numpy as np

from hra.compiling import njit
from hra.domains.tokens.pyramid.blocks import block_counts
from hra.files.images.arrays import LUMA


def horizontal_steps(image: np.ndarray, patch: int, noise: float) -> tuple[np.ndarray, np.ndarray]:
    """Sums over blocks of the rising and of the falling steps of luma to the next pixel of a row.

    Parameters
    ----------
    image : float32 [H, W, 3]; patch : side of a block in pixels; noise : steps up to here do not count.

    Returns
    -------
    Two float32 [ceil(H/patch), ceil(W/patch)], >= 0.
    """
    shape = (-(-image.shape[0] // patch), -(-image.shape[1] // patch))
    rising, falling = np.zeros(shape, np.float32), np.zeros(shape, np.float32)
    red, green, blue = LUMA
    _sum_steps(image, red, green, blue, np.float32(noise), patch, rising, falling)
    return rising, falling


@njit(cache=True, nogil=True)
def _sum_steps(image, red, green, blue, noise, patch, rising, falling):
    height, width, _ = image.shape
    grey, up, down = np.empty(width, np.float32), np.zeros(width, np.float32), np.zeros(width, np.float32)
    for y in range(height):
        _grey(image[y], red, green, blue, grey)
        _add_rising(grey, noise, up)
        _add_falling(grey, noise, down)
        if (y + 1) % patch == 0 or y + 1 == height:
            for x in range(width):
                rising[y // patch, x // patch] += up[x]
                falling[y // patch, x // patch] += down[x]
            up[:] = 0
            down[:] = 0


@njit(cache=True, nogil=True)
def _grey(pixels, red, green, blue, grey):
    for x in range(grey.size):
        grey[x] = red * pixels[x, 0] + green * pixels[x, 1] + blue * pixels[x, 2]


@njit(cache=True, nogil=True)
def _add_rising(grey, noise, total):
    for x in range(grey.size - 1):
        step = grey[x + 1] - grey[x]
        total[x] += step if step > noise else np.float32(0)


@njit(cache=True, nogil=True)
def _add_falling(grey, noise, total):
    for x in range(grey.size - 1):
        step = grey[x] - grey[x + 1]
        total[x] += step if step > noise else np.float32(0)


_NOISE = 16 / 255  # steps below this are sensor noise, paper grain and soft shading, not strokes


def text_likeness(image: np.ndarray, patch: int = 16) -> np.ndarray:
    """Balanced horizontal gradient energy of every patch.

    The smaller of the summed rising and the summed falling luma steps between horizontal neighbours, per pixel, in
    steps above the noise. Strokes have both; a smooth gradient or the border of a large object has only one.

    Source: accumulated horizontal gradients, F. LeBourgeois, "Robust multifont OCR system from gray level images"
    (ICDAR 1997), as in C. Wolf and J.-M. Jolion, "Extraction and recognition of artificial text in multimedia
    documents" (2003); counting the signs apart is ours.

    Parameters
    ----------
    image : float32 [H, W, 3] in [0, 1].

    Returns
    -------
    float32 [ceil(H/patch), ceil(W/patch)], >= 0.
    """
    rising, falling = horizontal_steps(image, patch, _NOISE)
    pixels = block_counts(image.shape[0], image.shape[1], patch)
    return (np.minimum(rising, falling) / pixels).astype(np.float32)

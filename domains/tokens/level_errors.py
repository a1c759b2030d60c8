"""How well each pyramid level alone shows the image, patch by patch."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numba import njit

from hra.domains.tokens.interpolation import refine_to


def squared_errors(levels: Sequence[np.ndarray], patch: int) -> list[np.ndarray]:
    """Squared error of every finest patch when one level shows the whole image, for each level.

    A level is brought to full resolution by the same average interpolation that reconstructs images from tokens, and
    clipped to [0, 1]. A coarser level counts at least the error of the finer one, patch by patch: where it fits better
    by chance, it gets no credit that the finer level would have to pay back.

    Parameters
    ----------
    levels : float32 [ceil(H / 2**l), ceil(W / 2**l), 3].

    Returns
    -------
    Per level float64 [ceil(H/patch), ceil(W/patch)], summed over real pixels and channels; zeros for level 0.
    """
    image = levels[0]
    shapes = [level.shape[:2] for level in levels]
    errors = [np.zeros((-(-image.shape[0] // patch), -(-image.shape[1] // patch)))]
    for index in range(1, len(levels)):
        shown = refine_to(levels[index], shapes[index - 1 :: -1])
        errors.append(np.maximum(_squared_error(image, shown, patch), errors[-1]))
    return errors


@njit(cache=True)
def _squared_error(image, shown, patch):
    height, width, channels = image.shape
    error = np.zeros(((height + patch - 1) // patch, (width + patch - 1) // patch))
    for y in range(height):
        for x in range(width):
            total = 0.0
            for c in range(channels):
                difference = image[y, x, c] - min(max(shown[y, x, c], np.float32(0)), np.float32(1))
                total += difference * difference
            error[y // patch, x // patch] += total
    return error

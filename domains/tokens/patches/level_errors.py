"""How well each pyramid level alone shows the image, patch by patch."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from hra.compiling import njit
from hra.domains.tokens.patches.fused_errors import errors_of_levels


def squared_errors(levels: Sequence[np.ndarray], patch: int) -> np.ndarray:
    """Squared error of every finest patch when one level shows the whole image, for each level.

    A level is brought to full resolution by the same average interpolation that reconstructs images from tokens, and
    clipped to [0, 1]. A coarser level counts at least the error of the finer one, patch by patch: where it fits better
    by chance, it gets no credit that the finer level would have to pay back.

    Parameters
    ----------
    levels : float32 [ceil(H / 2**l), ceil(W / 2**l), 3].
    patch : side in pixels, even.

    Returns
    -------
    float64 [L, ceil(H/patch), ceil(W/patch)], summed over real pixels and channels; zeros for level 0.
    """
    image = levels[0]
    errors = np.zeros((len(levels), -(-image.shape[0] // patch), -(-image.shape[1] // patch)))
    if len(levels) > 1:
        np.maximum.accumulate(errors_of_levels(levels, patch), axis=0, out=errors[1:])
    return errors


def error_sums(errors: np.ndarray, weight: np.ndarray, offsets: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Weighted errors over the region of every patch, while it shows the region and while its parent does.

    Parameters
    ----------
    errors : float64 [L, rows, columns], see `squared_errors`; zeros for level 0, which shows the image itself.
    weight : float64 [rows, columns] of the finest patches.
    offsets : int64 [L + 1], where the patches of each level begin, row by row.

    Returns
    -------
    Two float64 [N]; at the coarsest level both are the same.
    """
    own, inherited = np.zeros(offsets[-1]), np.zeros(offsets[-1])
    _add_up(errors, weight, offsets, own, inherited)
    return own, inherited


@njit(cache=True, nogil=True)
def _add_up(errors, weight, offsets, own, inherited):
    levels, rows, columns = errors.shape
    for y in range(rows):  # the finest level on its own: most of the work, and nothing to add up
        for x in range(columns):
            inherited[y * columns + x] = weight[y, x] * errors[min(1, levels - 1), y, x]
    for level in range(1, levels - 1):
        coarser, across = level + 1, (columns - 1 >> level) + 1
        for y in range(rows):
            start = offsets[level] + (y >> level) * across
            for node in range(across):
                part = 0.0
                for x in range(node << level, min(node + 1 << level, columns)):
                    part += weight[y, x] * errors[coarser, y, x]
                inherited[start + node] += part
    for level in range(1, levels):
        # What children inherit is what their parent leaves wrong.
        across, below = (columns - 1 >> level) + 1, (columns - 1 >> level - 1) + 1
        for child in range(offsets[level - 1], offsets[level]):
            y, x = divmod(child - offsets[level - 1], below)
            own[offsets[level] + (y >> 1) * across + (x >> 1)] += inherited[child]
    # Node by node: assigning slices makes Numba compile a second's worth of error messages.
    for root in range(offsets[levels - 1], offsets[levels]):
        inherited[root] = own[root]

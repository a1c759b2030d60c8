"""The baseline that every selection has to beat: the whole image, smaller."""

from __future__ import annotations

from typing import Any

import numpy as np

from hra.domains.tokens.patches.lanczos import along_axes, lanczos, there_and_back
from hra.errors import BudgetTooSmall
from hra.files.images.arrays import as_image

_BACK_PROJECTIONS = 3  # more steps change the photo and the page by less than 0.02 dB


def uniform_downsample(image: Any, budget: int, patch: int = 16) -> np.ndarray:
    """What is left of an image that is down-sampled to at most ``budget`` patches and enlarged again.

    Both ways by the Lanczos filter, then corrected three times by what the enlarged image loses when it is made small
    again (iterative back-projection, M. Irani and S. Peleg, CVGIP 1991): the best of the resampling filters that we
    tried, so that the comparison is fair to it.

    Parameters
    ----------
    image : [H, W, 3], as `hra.files.images.as_image` takes it.
    budget : tokens; the grid of patches is `patch_grid`'s.

    Returns
    -------
    float32 [H, W, 3] in [0, 1]; the image itself where the budget covers it.

    Raises
    ------
    ImageError : wrong layout, dtype or values.
    BudgetTooSmall : no token at all.

    Examples
    --------
    >>> import numpy as np
    >>> from hra.domains import tokens
    >>> image = np.random.default_rng(0).random((128, 192, 3), dtype=np.float32)
    >>> tokens.uniform_downsample(image, budget=24).shape
    (128, 192, 3)
    """
    pixels = as_image(image)
    height, width = pixels.shape[:2]
    rows, columns = patch_grid(height, width, budget, patch)
    return restore(resize(pixels, (min(rows * patch, height), min(columns * patch, width))), (height, width))


def restore(reduced: np.ndarray, size: tuple[int, int]) -> np.ndarray:
    """A down-sampled image [h, w, 3] at ``size`` (height, width) again, float32 in [0, 1]; see `uniform_downsample`."""
    # What is added at full size is what the small image is corrected by, enlarged: only the last step is that large.
    lost = [there_and_back(small, large) for small, large in zip(reduced.shape[:2], size, strict=True)]
    corrected = reduced
    for _ in range(_BACK_PROJECTIONS):
        corrected = corrected + (reduced - along_axes(corrected, *lost))
    enlarged = resize(corrected, size)
    return np.clip(enlarged, 0, 1, out=enlarged)


def patch_grid(height: int, width: int, budget: int, patch: int = 16) -> tuple[int, int]:
    """Rows and columns of at most ``budget`` patches that show an image at the largest scale, then with most patches.

    The scale is that of the axis that is reduced more.

    Raises
    ------
    BudgetTooSmall : no token at all.
    """
    if budget < 1:
        raise BudgetTooSmall(f"{budget} tokens cannot show an image", where="budget", fix="use at least 1")
    rows = np.arange(1, min(int(budget), -(-height // patch)) + 1)
    columns = np.minimum(int(budget) // rows, -(-width // patch))
    scale = np.minimum(np.minimum(rows * patch / height, columns * patch / width), 1.0)
    best = np.lexsort((rows * columns, scale))[-1]
    return int(rows[best]), int(columns[best])


def resize(pixels: np.ndarray, size: tuple[int, int]) -> np.ndarray:
    """Lanczos-resampled float32 [h, w, 3] of another (height, width), not clipped."""
    bands = [lanczos(source, target) for source, target in zip(pixels.shape[:2], size, strict=True)]
    return along_axes(pixels, *bands)

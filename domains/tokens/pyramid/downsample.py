"""The baseline that every selection has to beat: the whole image, smaller; by Lanczos' filter."""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np

from hra.compiling import njit
from hra.domains.tokens.pyramid.blocks import block_squares
from hra.errors import ArrayError, BudgetTooSmall
from hra.files.images.arrays import as_image
from hra.model.arrays import frozen, whole_number
from hra.model.problem import check_number

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
    grid = patch_grid(height, width, budget, patch)
    return restore(_reduced(pixels, grid, int(patch)), (height, width))


def downsampling_squares(pixels: np.ndarray, grid: tuple[int, int], patch: int) -> np.ndarray:
    """What an image loses that is down-sampled to a grid of patches: squared error, float64 [rows, columns] of patches.

    Parameters
    ----------
    pixels : float32 [H, W, 3] in [0, 1].
    grid : rows and columns; what is shown is what `uniform_downsample` returns of that many patches.
    """
    height, width = pixels.shape[:2]
    rows = patch * max(_STRIP_BYTES // (patch * 3 * pixels.itemsize * width), 1)
    restored = _restored_strips(_reduced(pixels, grid, patch), (height, width), rows)
    squares = [
        block_squares(np.subtract(strip, pixels[first : first + len(strip)], out=strip), patch)
        for first, strip in restored
    ]
    return np.concatenate(squares)


def restore(reduced: np.ndarray, size: tuple[int, int]) -> np.ndarray:
    """A down-sampled image [h, w, 3] at ``size`` (height, width) again, float32 in [0, 1]; see `uniform_downsample`."""
    (_, restored), *_ = _restored_strips(reduced, size, size[0])
    return restored


# Rows of an enlarged image that are still in the cache when they are measured.
_STRIP_BYTES = 2**20


def _restored_strips(reduced: np.ndarray, size: tuple[int, int], rows: int) -> Iterator[tuple[int, np.ndarray]]:
    """What `restore` returns, ``rows`` at a time from the top: the first's number and float32 [at most rows, W, 3]."""
    # What is added at full size is what the small image is corrected by, enlarged: only the last step is that large.
    lost = [there_and_back(small, large) for small, large in zip(reduced.shape[:2], size, strict=True)]
    corrected = reduced
    for _ in range(_BACK_PROJECTIONS):
        corrected = corrected + (reduced - along_axes(corrected, *lost))
    vertical, horizontal = (lanczos(small, large) for small, large in zip(reduced.shape[:2], size, strict=True))
    wide = _columns(corrected, horizontal)
    for first in range(0, size[0], rows):
        some = slice(first, first + rows)
        strip = _rows(wide, Band(vertical.first[some], vertical.weights[some]))
        yield first, np.clip(strip, 0, 1, out=strip)


def _reduced(pixels: np.ndarray, grid: tuple[int, int], patch: int) -> np.ndarray:
    """An image at the size of a grid of patches; an axis that is shorter is not enlarged."""
    height, width = pixels.shape[:2]
    return resize(pixels, (min(grid[0] * patch, height), min(grid[1] * patch, width)))


def patch_grid(height: int, width: int, budget: int, patch: int = 16) -> tuple[int, int]:
    """Rows and columns of at most ``budget`` patches that show an image at the largest scale, then with most patches.

    The scale is that of the axis that is reduced more.

    Raises
    ------
    BudgetTooSmall : no token at all.
    ArrayError : patches of no pixel.
    """
    if not check_number(budget) >= 1:
        raise BudgetTooSmall(f"{budget} tokens cannot show an image", where="budget", fix="use at least 1")
    budget, side = min(budget, height * width), whole_number(patch)  # more patches than pixels there are not
    if side is None or side < 1:
        raise ArrayError(f"patches of {patch} pixels", where="patch", fix="use a whole number such as 16")
    patch = side
    rows = np.arange(1, min(int(budget), -(-height // patch)) + 1)
    columns = np.minimum(int(budget) // rows, -(-width // patch))
    scale = np.minimum(np.minimum(rows * patch / height, columns * patch / width), 1.0)
    best = np.lexsort((rows * columns, scale))[-1]
    return int(rows[best]), int(columns[best])


def resize(pixels: np.ndarray, size: tuple[int, int]) -> np.ndarray:
    """Lanczos-resampled float32 [h, w, 3] of another (height, width), not clipped."""
    bands = [lanczos(source, target) for source, target in zip(pixels.shape[:2], size, strict=True)]
    return along_axes(pixels, *bands)


_LOBES = 3.0


class Band(NamedTuple):
    """A matrix [m, n] of which each row has a few entries side by side.

    first : int64 [m], the column of the first entry of each row; weights : float32 [m, taps].
    """

    first: np.ndarray
    weights: np.ndarray


@lru_cache(maxsize=64)
def lanczos(source: int, target: int) -> Band:
    """What makes ``target`` samples of ``source`` ones: the filter is widened where there will be fewer of them."""
    scale = source / target
    wide = max(scale, 1.0)
    centre = (np.arange(target) + 0.5) * scale
    low = np.maximum((centre - _LOBES * wide + 0.5).astype(np.int64), 0)
    high = np.minimum((centre + _LOBES * wide + 0.5).astype(np.int64), source)
    taps = int((high - low).max())
    first = np.minimum(low, source - taps)
    at = first[:, None] + np.arange(taps)
    x = (at + 0.5 - centre[:, None]) / wide
    weights = np.where((at >= low[:, None]) & (at < high[:, None]), np.sinc(x) * np.sinc(x / _LOBES), 0.0)
    weights /= weights.sum(axis=1, keepdims=True)
    return Band(frozen(first), frozen(weights.astype(np.float32)))


@lru_cache(maxsize=64)
def there_and_back(small: int, large: int) -> Band:
    """What enlarging ``small`` samples to ``large`` ones and making them small again does to them."""
    down, up = lanczos(large, small), lanczos(small, large)
    first, last = up.first[down.first], up.first[down.first + down.weights.shape[1] - 1]
    taps = int((last - first).max()) + up.weights.shape[1]
    first = np.minimum(first, small - taps)
    weights = np.zeros((small, taps))
    _multiply(*down, *up, first, weights)
    return Band(frozen(first), frozen(weights.astype(np.float32)))


def along_axes(pixels: np.ndarray, vertical: Band, horizontal: Band) -> np.ndarray:
    """A band along each axis of ``pixels`` [h, w, C]: float32 [h', w', C]; first the one that leaves fewer samples."""
    if len(vertical.first) <= pixels.shape[0]:
        return _columns(_rows(pixels, vertical), horizontal)
    return _rows(_columns(pixels, horizontal), vertical)


def _columns(pixels: np.ndarray, band: Band) -> np.ndarray:
    """A band along the second axis."""
    height, width, channels = pixels.shape
    made = np.empty((height, len(band.first), channels), np.float32)
    source, target = _whole(np.ascontiguousarray(pixels, np.float32)), _whole(made)
    for first in range(0, height, _TURNED):
        some = slice(first, first + _TURNED)
        turned = np.ascontiguousarray(source[some].T).view(np.float32).reshape(width, -1, channels)
        target[some] = _whole(_rows(turned, band)).T
    return made


# Rows that are turned at a time: enough to fill the cache's lines, and few enough to stay there.
_TURNED = 64


def _whole(pixels: np.ndarray) -> np.ndarray:
    """Float32 [h, w, C] as [h, w] of whole pixels, which are moved in a third less time than their samples are."""
    return pixels.view(np.dtype((np.void, pixels.shape[2] * pixels.itemsize)))[..., 0]


def _rows(pixels: np.ndarray, band: Band) -> np.ndarray:
    """A band along the first axis."""
    height, *rest = pixels.shape
    made = np.zeros((len(band.first), int(np.prod(rest))), np.float32)
    _add_rows(np.ascontiguousarray(pixels, np.float32).reshape(height, -1), band.first, band.weights, made)
    return made.reshape(-1, *rest)


@njit(cache=True, nogil=True)
def _add_rows(rows, first, weights, made):
    for i in range(len(first)):
        for tap in range(weights.shape[1]):
            if weights[i, tap] != 0:
                _add_scaled(rows[first[i] + tap], weights[i, tap], made[i])


@njit(cache=True, nogil=True, fastmath={"contract"})
def _add_scaled(row, weight, made):
    for x in range(made.size):
        made[x] += weight * row[x]


@njit(cache=True, nogil=True)
def _multiply(left_first, left, right_first, right, first, made):
    """The product of two bands, whose row i begins in column ``first[i]``."""
    for i in range(len(left_first)):
        for a in range(left.shape[1]):
            row = left_first[i] + a
            for b in range(right.shape[1]):
                made[i, right_first[row] + b - first[i]] += np.float64(left[i, a]) * right[row, b]

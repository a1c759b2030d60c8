"""Saliency of patches: how much a patch differs in colour from what surrounds it."""

from __future__ import annotations

import numpy as np

from hra.domains.tokens.pyramid.blocks import block_means

# Surrounds of about 1/32, 1/16 and 1/8 of a 64-patch image, as the centre-surround scales of the source.
_SURROUNDS = (2.0, 4.0, 8.0)
_BORDER, _NEAR = 64, 15  # colours of the border that are looked at, and the percentile of the distances from them
_TOGETHER = 4096  # patches whose distances are sorted together, a megabyte
_BELL = 0.25  # standard deviation of the middle, as a share of an axis


def saliency(image: np.ndarray, patch: int = 16) -> np.ndarray:
    """Centre-surround colour contrast of every patch, summed over three scales.

    Source: L. Itti, C. Koch, E. Niebur, "A model of saliency-based visual attention for rapid scene analysis" (PAMI
    1998), with Gaussian surrounds on the grid of patch means in place of its pyramid differences.

    Parameters
    ----------
    image : float32 [H, W, 3] in [0, 1].

    Returns
    -------
    float32 [ceil(H/patch), ceil(W/patch)], >= 0; zero everywhere for a constant image.
    """
    return centre_surround(block_means(image, patch))


def centre_surround(means: np.ndarray) -> np.ndarray:
    """`saliency` of the mean colours of patches, [h, w, 3]."""
    centre = np.asarray(means, np.float64)
    distances = [np.linalg.norm(centre - _surround(centre, sigma), axis=-1) for sigma in _SURROUNDS]
    return np.sum(distances, axis=0).astype(np.float32)


def border_contrast(means: np.ndarray) -> np.ndarray:
    """How far a patch is in colour from the border of the image, which is background mostly.

    Source: Y. Wei and others, "Geodesic saliency using background priors" (ECCV 2012), the prior alone: the distance
    that 15 % of the border's colours are within, blurred by one patch.

    Parameters
    ----------
    means : mean colours of patches, [h, w, 3].

    Returns
    -------
    float32 [h, w], >= 0.
    """
    cells = np.asarray(means, np.float32)
    border = np.concatenate([cells[0], cells[-1], cells[:, 0], cells[:, -1]])
    border = border[:: -(-len(border) // _BORDER)]
    parts = np.array_split(cells.reshape(-1, 3), -(-cells.size // (3 * _TOGETHER)))
    distances = np.concatenate([_near(part, border) for part in parts]).reshape(*cells.shape[:2], 1)
    return _surround(distances, 1.0)[..., 0].astype(np.float32)


def _near(colours: np.ndarray, border: np.ndarray) -> np.ndarray:
    """The percentile of the distances of each of ``colours`` [n, 3] from those of the border."""
    # Sorting is vectorised, and NumPy's percentile, which partitions, takes five times as long.
    squares = np.sort(sum((colours[:, c, None] - border[:, c]) ** 2 for c in range(3)))
    rank = _NEAR / 100 * (len(border) - 1)
    near, next_near = np.sqrt(squares[:, [int(rank), int(np.ceil(rank))]]).T
    return near + (next_near - near) * (rank % 1)


def middle(rows: int, columns: int) -> np.ndarray:
    """A bell over the middle, float32 [rows, columns], at most 1: photographers put there what they mean.

    Source: B. W. Tatler, "The central fixation bias in scene viewing" (Journal of Vision, 2007).
    """
    down, across = (np.exp(-0.5 * (((np.arange(n) + 0.5) / n - 0.5) / _BELL) ** 2) for n in (rows, columns))
    return np.outer(down, across).astype(np.float32)


def _surround(cells: np.ndarray, sigma: float) -> np.ndarray:
    """Gaussian mean of [h, w, C] with standard deviation ``sigma`` in cells; outside the grid nothing is counted."""
    vertical, horizontal = (_gaussian_weights(length, sigma) for length in cells.shape[:2])
    # A product for each channel: larger ones are done by threads, which wait for milliseconds where cores are busy.
    return np.moveaxis(vertical @ np.moveaxis(cells, 2, 0) @ horizontal.T, 0, 2)


def _gaussian_weights(length: int, sigma: float) -> np.ndarray:
    """Normalised weights [length, length]: row i averages around position i."""
    position = np.arange(length)
    weights = np.exp(-0.5 * ((position[:, None] - position) / sigma) ** 2)
    return weights / weights.sum(axis=1, keepdims=True)

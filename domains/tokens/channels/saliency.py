"""Saliency of patches: how much a patch differs in colour from what surrounds it."""

from __future__ import annotations

import numpy as np

from hra.domains.tokens.pyramid.blocks import block_means

# Surrounds of about 1/32, 1/16 and 1/8 of a 64-patch image, as the centre-surround scales of the source.
_SURROUNDS = (2.0, 4.0, 8.0)


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


def _surround(cells: np.ndarray, sigma: float) -> np.ndarray:
    """Gaussian mean of [h, w, C] with standard deviation ``sigma`` in cells; outside the grid nothing is counted."""
    vertical, horizontal = (_gaussian_weights(length, sigma) for length in cells.shape[:2])
    return np.einsum("yj,jic,xi->yxc", vertical, cells, horizontal, optimize=True)


def _gaussian_weights(length: int, sigma: float) -> np.ndarray:
    """Normalised weights [length, length]: row i averages around position i."""
    position = np.arange(length)
    weights = np.exp(-0.5 * ((position[:, None] - position) / sigma) ** 2)
    return weights / weights.sum(axis=1, keepdims=True)

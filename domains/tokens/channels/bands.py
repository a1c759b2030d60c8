"""Channels from image pyramids: amplitudes by scale and by orientation."""

from __future__ import annotations

import numpy as np

from hra.domains.tokens.channels.cells import no_cells, square_means
from hra.kernels import gaussian_pyramid, laplacian_pyramid, steerable_pyramid

_BANDS = ("high_pass", "band_1", "band_2", "band_3")
_ORIENTATIONS = ("oriented_0", "oriented_45", "oriented_90", "oriented_135")
_SCALES = 2
# Mirrored pixels around what the steerable pyramid takes as periodic; sizes become multiples, which transform fast.
_MARGIN = 16


def band_channels(luma: np.ndarray, cell: int) -> dict[str, np.ndarray]:
    """Root mean square, by cell, of the four finest bands of the Laplacian pyramid.

    Source: P. J. Burt and E. H. Adelson (1983), see `hra.kernels.laplacian_pyramid`.

    Parameters
    ----------
    luma : float32 [H, W] in [0, 1].
    cell : side of a cell in pixels.

    Returns
    -------
    ``high_pass`` (what a blur over 5 x 5 pixels takes away), ``band_1``, ``band_2``, ``band_3`` (an octave each,
    strongest for wavelengths of 8, 16 and 32 pixels), float32 [ceil(H/cell), ceil(W/cell)]; zeros where the image is
    too small for a band.
    """
    bands = laplacian_pyramid(luma[..., None], levels=len(_BANDS) + 1).levels[:-1]
    energies = [_energy(band[..., 0], level, luma.shape, cell) for level, band in enumerate(bands)]
    missing = len(_BANDS) - len(energies)
    energies += [no_cells(luma.shape, cell)] * missing
    return {name: np.sqrt(energy) for name, energy in zip(_BANDS, energies, strict=True)}


def oriented_channels(luma: np.ndarray, cell: int) -> dict[str, np.ndarray]:
    """Root mean square, by cell, of waves along four directions, over the second and third finest octave together.

    The finest octave would take four times as long; its orientation is in the structure tensor already.

    Source: E. P. Simoncelli and W. T. Freeman (1995), see `hra.kernels.steerable_pyramid`.

    Parameters
    ----------
    luma : float32 [H, W] in [0, 1].
    cell : side of a cell in pixels.

    Returns
    -------
    ``oriented_0`` (waves along x: vertical strokes), ``oriented_45``, ``oriented_90`` (waves along y: lines of text),
    ``oriented_135``, float32 [ceil(H/cell), ceil(W/cell)]; angles run from +x towards +y, which points down.
    """
    halved = gaussian_pyramid(luma[..., None], levels=2).levels[-1]
    margins = [(_MARGIN, _MARGIN + -extent % _MARGIN) for extent in halved.shape[:2]]
    padded = np.pad(halved, [*margins, (0, 0)], mode="symmetric")
    pyramid = steerable_pyramid(padded, scales=_SCALES, orientations=len(_ORIENTATIONS))
    total = [no_cells(luma.shape, cell) for _ in _ORIENTATIONS]
    for scale, bands in enumerate(pyramid.bands):
        start = _MARGIN >> scale
        height, width = (-(-extent >> scale) for extent in halved.shape[:2])
        for orientation, band in enumerate(bands[:, start : start + height, start : start + width, 0]):
            # Transforms are orthonormal: a coefficient of scale s carries the energy of 4**s pixels.
            total[orientation] = total[orientation] + _energy(band, 1 + scale, luma.shape, cell) / 4**scale
    return {name: np.sqrt(energy) for name, energy in zip(_ORIENTATIONS, total, strict=True)}


def _energy(band: np.ndarray, level: int, size: tuple[int, ...], cell: int) -> np.ndarray:
    """Mean square by cell of a band whose pixel i lies on pixel i * 2**level of an image of ``size``."""
    squares, step = band * band, 2**level
    if cell % step == 0:
        return square_means(squares, cell // step)
    fine = squares.repeat(step, axis=0)[: size[0]].repeat(step, axis=1)[:, : size[1]]
    return square_means(fine, cell)

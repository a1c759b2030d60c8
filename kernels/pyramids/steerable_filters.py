"""The filters of the steerable pyramid on the grid of a real Fourier transform."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from math import factorial

import numpy as np


@dataclass(frozen=True, eq=False)
class FrequencyGrid:
    """Polar coordinates of the frequencies that a level keeps, relative to the whole image.

    Parameters
    ----------
    octaves : float32 [h, w // 2 + 1, 1], log2 of the radius, which is 1 at the image's Nyquist frequency.
    x, y : float32 of the same shape, cosine and sine of the angle from +x (columns, to the right) towards +y (rows,
        downwards); 1 and 0 at the frequency 0.
    """

    octaves: np.ndarray
    x: np.ndarray
    y: np.ndarray

    @classmethod
    def of(cls, level: tuple[int, int], image: tuple[int, int]) -> FrequencyGrid:
        """The grid of a level of ``level`` (height, width) pixels of an image of ``image`` pixels."""
        return _grid(level, image) if level[0] * level[1] <= _KEPT else _made(level, image)

    def highpass(self, cutoff: float) -> np.ndarray:
        """1 from ``cutoff`` on, 0 below half of it, a quarter of a cosine in the logarithm of the radius between."""
        return np.cos(np.pi / 2 * np.clip(self._octaves(cutoff), -1, 0)).astype(np.float32)

    def lowpass(self, cutoff: float) -> np.ndarray:
        """What makes the sum of squares with :meth:`highpass` 1 everywhere; exactly 0 from ``cutoff`` on."""
        return np.sin(-np.pi / 2 * np.clip(self._octaves(cutoff), -1, 0)).astype(np.float32)

    def orient(self, orientation: int, orientations: int) -> np.ndarray:
        """A power of the cosine about one orientation; the squares of all sum to 1. Complex, for a real band."""
        order = orientations - 1
        # The squares of K powers cos**(K - 1), turned by pi / K each, sum to a constant (Freeman and Adelson 1991).
        norm = 2**order * factorial(order) / np.sqrt(orientations * factorial(2 * order))
        towards = np.pi * orientation / orientations
        cosine = np.float32(np.cos(towards)) * self.x + np.float32(np.sin(towards)) * self.y
        power = np.full_like(cosine, norm)
        for _ in range(order):
            power *= cosine
        # A real band needs a spectrum with conjugate values at opposite frequencies, where odd powers of the cosine
        # differ in sign: these become imaginary.
        return power * np.complex64((-1j) ** order)

    def _octaves(self, cutoff: float) -> np.ndarray:
        return self.octaves - np.float32(np.log2(cutoff))


def _made(level: tuple[int, int], image: tuple[int, int]) -> FrequencyGrid:
    rows, columns = (np.fft.fftfreq(level[0], 1 / level[0]), np.fft.rfftfreq(level[1], 1 / level[1]))
    # In units of the Nyquist frequency of the image, not of the level, which keeps the lowest of the same frequencies.
    y, x = 2 * rows[:, None, None] / image[0], 2 * columns[None, :, None] / image[1]
    radius = np.hypot(x, y)
    with np.errstate(divide="ignore"):
        octaves = np.log2(radius)
    away = np.where(radius > 0, radius, 1)
    parts = octaves, np.where(radius > 0, x / away, 1), y / away
    return FrequencyGrid(*(part.astype(np.float32) for part in parts))


# Trigonometry and logarithms of a grid take longer than the transform that they are multiplied with.
_KEPT = 2**20  # pixels; the grids of an image of 1024 x 1024 and of its levels take 8 MB
_grid = lru_cache(maxsize=16)(_made)


def crop(spectrum: np.ndarray, size: tuple[int, int]) -> np.ndarray:
    """The lowest frequencies of a real transform [..., H, W // 2 + 1, C], as many as ``size`` (h, w) pixels have."""
    height, width = size
    lowest = spectrum[..., : width // 2 + 1, :]
    return np.concatenate([lowest[..., : _upper(height), :, :], _last_rows(lowest, height // 2)], -3)


def pad(spectrum: np.ndarray, size: tuple[int, int]) -> np.ndarray:
    """The inverse of :func:`crop`: zeros at the frequencies that were cut off."""
    *batch, height, columns, channels = spectrum.shape
    padded = np.zeros((*batch, size[0], size[1] // 2 + 1, channels), spectrum.dtype)
    padded[..., : _upper(height), :columns, :] = spectrum[..., : _upper(height), :, :]
    _last_rows(padded, height // 2)[..., :columns, :] = _last_rows(spectrum, height // 2)
    return padded


def _upper(height: int) -> int:
    """How many of the rows hold frequencies that are not negative."""
    return (height + 1) // 2


def _last_rows(spectrum: np.ndarray, count: int) -> np.ndarray:
    return spectrum[..., spectrum.shape[-3] - count :, :, :]

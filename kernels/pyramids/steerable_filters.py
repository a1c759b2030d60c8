"""The filters of the steerable pyramid on the grid of a real Fourier transform."""

from __future__ import annotations

from dataclasses import dataclass
from math import factorial

import numpy as np


@dataclass(frozen=True)
class FrequencyGrid:
    """Polar coordinates of the frequencies that a level keeps, relative to the whole image.

    Parameters
    ----------
    radius : [h, w // 2 + 1, 1], 1 at the image's Nyquist frequency.
    angle : the same shape, radians from +x (columns, to the right) towards +y (rows, downwards).
    """

    radius: np.ndarray
    angle: np.ndarray

    @classmethod
    def of(cls, level: tuple[int, int], image: tuple[int, int]) -> FrequencyGrid:
        """The grid of a level of ``level`` (height, width) pixels of an image of ``image`` pixels."""
        rows, columns = (np.fft.fftfreq(level[0], 1 / level[0]), np.fft.rfftfreq(level[1], 1 / level[1]))
        y, x = 2 * rows[:, None, None] / image[0], 2 * columns[None, :, None] / image[1]
        return cls(np.hypot(x, y), np.arctan2(y, x))

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
        cosine = np.cos(self.angle - np.pi * orientation / orientations)
        # An odd power changes its sign with the direction of the wave: an imaginary factor keeps the band real.
        return (norm * (-1j) ** order * cosine**order).astype(np.complex64)

    def _octaves(self, cutoff: float) -> np.ndarray:
        with np.errstate(divide="ignore"):
            return np.log2(self.radius / cutoff)


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

"""The filters of the steerable pyramid on the grid of a real Fourier transform."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from math import factorial
from typing import NamedTuple

import numpy as np


@dataclass(frozen=True, eq=False)
class FrequencyGrid:
    """Polar coordinates of the frequencies that a level keeps, relative to the whole image.

    Parameters
    ----------
    octaves : float32 [h, w // 2 + 1], log2 of the radius, which is 1 at the image's Nyquist frequency.
    x, y : float32 of the same shape, cosine and sine of the angle from +x (columns, to the right) towards +y (rows,
        downwards); 1 and 0 at the frequency 0.
    """

    octaves: np.ndarray
    x: np.ndarray
    y: np.ndarray

    def highpass(self, cutoff: float) -> np.ndarray:
        """1 from ``cutoff`` on, 0 below half of it, a quarter of a cosine in the logarithm of the radius between."""
        return np.cos(np.pi / 2 * np.clip(self._octaves(cutoff), -1, 0)).astype(np.float32)

    def lowpass(self, cutoff: float) -> np.ndarray:
        """What makes the sum of squares with :meth:`highpass` 1 everywhere; exactly 0 from ``cutoff`` on."""
        return np.sin(-np.pi / 2 * np.clip(self._octaves(cutoff), -1, 0)).astype(np.float32)

    def oriented(self, cutoff: float, orientations: int) -> np.ndarray:
        """:meth:`highpass` times a power of the cosine about each orientation, whose squares sum to 1: [K, h, w'].

        For a real band a spectrum needs conjugate values at opposite frequencies, where odd powers of the cosine differ
        in sign: what passes is to be multiplied by :func:`phase`.
        """
        order = orientations - 1
        # The squares of K powers cos**(K - 1), turned by pi / K each, sum to a constant (Freeman and Adelson 1991).
        norm = 2**order * factorial(order) / np.sqrt(orientations * factorial(2 * order))
        filters = np.repeat((np.float32(norm) * self.highpass(cutoff))[None], orientations, axis=0)
        for number, each in enumerate(filters):
            towards = np.pi * number / orientations
            cosine = np.float32(np.cos(towards)) * self.x + np.float32(np.sin(towards)) * self.y
            for _ in range(order):
                each *= cosine
        return filters

    def _octaves(self, cutoff: float) -> np.ndarray:
        return self.octaves - np.float32(np.log2(cutoff))


class Filters(NamedTuple):
    """What splits a level: high-pass times orientations [K, h, w'], and low-pass [h, w'], float32."""

    oriented: np.ndarray
    lowpass: np.ndarray


def filters_of(size: tuple[int, int], image: tuple[int, int], cutoff: float, orientations: int) -> Filters:
    """The filters that split a level of ``size`` (height, width) of an image at a radius, read-only."""
    make = _kept if size[0] * size[1] <= _KEPT else _filters
    return make(size, image, cutoff, orientations)


def rests_of(image: tuple[int, int]) -> tuple[np.ndarray, np.ndarray]:
    """High-pass and low-pass [h, w'] of the whole image, float32, read-only: 1 and 0 beyond its Nyquist frequency."""
    return (_kept_rests if image[0] * image[1] <= _KEPT else _rests)(image)


def phase(orientations: int) -> complex:
    """The factor of odd and even powers, see :meth:`FrequencyGrid.oriented`: one of 1, -i, -1 and i."""
    return (1, -1j, -1, 1j)[(orientations - 1) % 4]


def _filters(size: tuple[int, int], image: tuple[int, int], cutoff: float, orientations: int) -> Filters:
    grid = grid_of(size, image)
    return Filters(_read_only(grid.oriented(cutoff, orientations)), _read_only(grid.lowpass(cutoff)))


def _rests(image: tuple[int, int]) -> tuple[np.ndarray, np.ndarray]:
    grid = grid_of(image, image)
    return _read_only(grid.highpass(1)), _read_only(grid.lowpass(1))


def _read_only(array: np.ndarray) -> np.ndarray:
    array.flags.writeable = False
    return array


def grid_of(level: tuple[int, int], image: tuple[int, int]) -> FrequencyGrid:
    """The grid of a level of ``level`` (height, width) pixels of an image of ``image`` pixels."""
    rows, columns = (np.fft.fftfreq(level[0], 1 / level[0]), np.fft.rfftfreq(level[1], 1 / level[1]))
    # In units of the Nyquist frequency of the image, not of the level, which keeps the lowest of the same frequencies.
    y, x = 2 * rows[:, None] / image[0], 2 * columns[None, :] / image[1]
    radius = np.hypot(x, y)
    with np.errstate(divide="ignore"):
        octaves = np.log2(radius)
    away = np.where(radius > 0, radius, 1)
    parts = octaves, np.where(radius > 0, x / away, 1), y / away
    return FrequencyGrid(*(part.astype(np.float32) for part in parts))


# Trigonometry and logarithms of a grid take longer than the transform that they are multiplied with.
_KEPT = 2**20  # pixels; the filters of an image of 1024 x 1024 and of its levels take 18 MB
_kept, _kept_rests = lru_cache(maxsize=16)(_filters), lru_cache(maxsize=2)(_rests)


def crop(spectrum: np.ndarray, size: tuple[int, int]) -> np.ndarray:
    """The lowest frequencies of a real transform [..., H, W // 2 + 1], as many as ``size`` (h, w) pixels have."""
    height, width = size
    lowest = spectrum[..., : width // 2 + 1]
    return np.concatenate([lowest[..., : _upper(height), :], _last_rows(lowest, height // 2)], -2)


def pad(spectrum: np.ndarray, size: tuple[int, int]) -> np.ndarray:
    """The inverse of :func:`crop`: zeros at the frequencies that were cut off."""
    *batch, height, columns = spectrum.shape
    padded = np.zeros((*batch, size[0], size[1] // 2 + 1), spectrum.dtype)
    padded[..., : _upper(height), :columns] = spectrum[..., : _upper(height), :]
    _last_rows(padded, height // 2)[..., :columns] = _last_rows(spectrum, height // 2)
    return padded


def _upper(height: int) -> int:
    """How many of the rows hold frequencies that are not negative."""
    return (height + 1) // 2


def _last_rows(spectrum: np.ndarray, count: int) -> np.ndarray:
    return spectrum[..., spectrum.shape[-2] - count :, :]

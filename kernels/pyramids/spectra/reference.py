"""Spectra by SciPy's transforms, or NumPy's."""

from __future__ import annotations

import math
from importlib import import_module
from importlib.util import find_spec
from typing import Any

import numpy as np

Size = tuple[int, int]


def to_planes(pixels: np.ndarray) -> np.ndarray:
    """[..., H, W, C] as float32 [P, H, W]: transforms of what is scattered in memory take half as long again."""
    planes = np.ascontiguousarray(np.moveaxis(pixels.astype(np.float32, copy=False), -1, -3))
    return planes.reshape(math.prod(planes.shape[:-2]), *planes.shape[-2:])


def to_pixels(planes: np.ndarray, channels: int) -> np.ndarray:
    """Planes [P, h, w], or several of each [K, P, h, w], as [N, h, w, C]."""
    *more, height, width = planes.shape
    count = math.prod(more) // max(channels, 1)
    return np.moveaxis(planes.reshape(count, channels, height, width), 1, -1)


def transform(planes: np.ndarray) -> np.ndarray:
    """The spectrum of planes."""
    return _fft().rfft2(planes, norm="ortho")


def inverse(spectrum: np.ndarray, size: Size) -> np.ndarray:
    """The planes of a spectrum."""
    return _fft().irfft2(spectrum, size, norm="ortho")


def filtered(spectrum: np.ndarray, gain: np.ndarray) -> np.ndarray:
    """The spectrum times a filter [h, w']."""
    return spectrum * gain


def bands(spectrum: np.ndarray, gains: np.ndarray, factor: complex, size: Size) -> np.ndarray:
    """What each filter [K, h, w'] leaves of planes, plane by plane, so in the cache: [K, P, *size]."""
    turned = spectrum * np.complex64(factor)
    made = np.empty((len(gains), len(spectrum), *size), np.float32)
    for number, each in enumerate(gains):
        for place, plane in enumerate(turned):
            made[number, place] = inverse(plane * each, size)
    return made


def combined(given: np.ndarray, gains: np.ndarray, factor: complex) -> np.ndarray:
    """The sum of the spectra of bands [K, P, h, w], each times its filter [K, h, w']."""
    total = transform(given[0])
    total *= gains[0]
    # One at a time: all spectra of a photo at once take eight times its memory.
    for band, gain in zip(given[1:], gains[1:], strict=True):
        part = transform(band)
        part *= gain
        total += part
    total *= np.complex64(factor)
    return total


def lowest(spectrum: np.ndarray, gain: np.ndarray, size: Size) -> np.ndarray:
    """The lowest frequencies of a spectrum times a filter, as many as ``size`` (h, w) pixels have."""
    height, width = size
    low = (spectrum * gain)[..., : width // 2 + 1]
    return np.concatenate([low[..., : _upper(height), :], _last_rows(low, height // 2)], -2)


def widened(spectrum: np.ndarray, gain: np.ndarray, size: Size, more: np.ndarray) -> np.ndarray:
    """The adjoint of :func:`lowest`, zeros at the frequencies that were cut off, plus another spectrum of ``size``."""
    *batch, height, columns = spectrum.shape
    padded = np.zeros((*batch, size[0], size[1] // 2 + 1), spectrum.dtype)
    padded[..., : _upper(height), :columns] = spectrum[..., : _upper(height), :]
    _last_rows(padded, height // 2)[..., :columns] = _last_rows(spectrum, height // 2)
    return padded * gain + more


def added(one: np.ndarray, two: np.ndarray) -> np.ndarray:
    """The sum of two spectra."""
    return one + two


def _upper(height: int) -> int:
    """How many of the rows hold frequencies that are not negative."""
    return (height + 1) // 2


def _last_rows(spectrum: np.ndarray, count: int) -> np.ndarray:
    return spectrum[..., spectrum.shape[-2] - count :, :]


def _fft() -> Any:
    """SciPy's transforms where it is installed, which take several lines at once; NumPy's are the same otherwise."""
    return import_module("scipy.fft") if find_spec("scipy") else np.fft

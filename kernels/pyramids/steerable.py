"""The steerable pyramid: oriented band-pass levels that form a tight frame, by Fourier transform.

Its filters stand on the grid of a real Fourier transform.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from math import factorial
from typing import Any, NamedTuple

import numpy as np

from hra.errors import ArrayError, HraError
from hra.kernels.backends import adopt, check_image, give_back, implementation, on_host
from hra.kernels.pyramids.levels.pyramid import halve

PACKAGE = "hra.kernels.pyramids.spectra"
# NumPy's and SciPy's transforms are what is fastest on the host.
_OFFERED = ("reference", "warp")


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


@dataclass(frozen=True, eq=False)
class SteerablePyramid:
    """High-pass rest, oriented bands and low-pass rest; the sum of all squares is that of the image.

    Parameters
    ----------
    highpass : [..., H, W, C] float32, what is finer than the finest bands.
    bands : per scale, finest first, [K, ..., h, w, C] float32: band ``k`` responds to waves that run ``180 k / K``
        degrees from +x (columns, to the right) towards +y (rows, downwards). So of 4 bands, 0 sees vertical edges and
        stripes, 2 (90 degrees) horizontal ones such as lines of text, and 1 and 3 the diagonals.
    lowpass : [..., h, w, C] float32, what is coarser than the coarsest bands.
    """

    highpass: Any
    bands: tuple[Any, ...]
    lowpass: Any

    @property
    def orientations(self) -> int:
        """Bands per scale."""
        return self.bands[0].shape[0]

    def reconstruct(self, backend: str = "auto") -> Any:
        """The image [..., H, W, C] float32; of unchanged bands, within 2e-6 of its largest value.

        Raises
        ------
        BackendUnavailable : as :func:`steerable_pyramid`.
        """
        highpass = adopt(self.highpass, "highpass")
        spectra = implementation(PACKAGE, backend, highpass, _OFFERED)
        *_, height, width, channels = highpass.shape
        if highpass.size == 0:
            return give_back(highpass.reshape(highpass.shape), self.highpass)
        image = (height, width)
        spectrum = spectra.transform(spectra.to_planes(adopt(self.lowpass, "lowpass")))
        steps = list(_steps(image, len(self.bands)))
        # In a tight frame the adjoint is the inverse: the same filters, conjugated, in reverse.
        for (size, cutoff), bands in zip(reversed(steps), reversed(self.bands), strict=True):
            count = bands.shape[0]
            filters = filters_of(size, image, cutoff / 2, count)
            turned = spectra.combined(_bands_of(spectra, bands), filters.oriented, phase(count).conjugate())
            spectrum = spectra.widened(spectrum, filters.lowpass, size, turned)
        high, low = rests_of(image)
        finest = spectra.filtered(spectra.transform(spectra.to_planes(highpass)), high)
        planes = spectra.inverse(spectra.added(spectra.filtered(spectrum, low), finest), image)
        return _given(spectra.to_pixels(planes, channels), tuple(highpass.shape), highpass, self.highpass)


def _bands_of(spectra: Any, bands: Any) -> Any:
    """Bands [K, ..., h, w, C] as planes [K, P, h, w]."""
    # Warp's arrays have four axes at most, those of others may have more.
    flat = bands.reshape((-1, *bands.shape[-3:])) if len(bands.shape) > 4 else bands
    planes = spectra.to_planes(adopt(flat, "bands"))
    return planes.reshape((bands.shape[0], planes.shape[0] // bands.shape[0], *planes.shape[1:]))


def steerable_pyramid(
    image: Any, scales: int | None = None, orientations: int = 4, backend: str = "auto"
) -> SteerablePyramid:
    """Split an image into bands by scale (an octave each) and orientation, and two rests.

    The frame is tight: the squares of all coefficients sum to those of the image, and `SteerablePyramid.reconstruct`
    applies the same filters once more. Bands of scale ``s`` have ceil(n / 2**s) pixels. The image is taken as periodic.
    An even number of orientations gives odd filters, which answer to an edge, not to a line's centre.

    Parameters
    ----------
    image : [..., H, W, C] float32, float16 or uint8; the last three axes are height, width, channels, the others a
        batch. Any kind of array that :func:`build_pyramid` takes.
    scales : number of scales, at least 1; None leaves about 4 pixels along the shorter side of the low-pass rest.
    orientations : bands per scale, K, from 1 to 16.
    backend : "auto", "reference" (NumPy, or SciPy where it is installed) or "warp", whose transforms take any size: as
        many steps per axis as it has prime factors, each as long as its factor.

    Returns
    -------
    SteerablePyramid : float32, of the same kind of array and on the same device as the image. Backends agree within
        2e-6 of the image's largest value; NaN in an image makes all of its coefficients NaN.

    Raises
    ------
    ArrayError : no array, fewer than three axes, or another dtype.
    HraError : ``scales`` or ``orientations`` out of range.
    BackendUnavailable : the backend is missing, has none of it, or cannot read the device.

    Notes
    -----
    Simoncelli and Freeman, The Steerable Pyramid: A Flexible Architecture for Multi-Scale Derivative Computation, ICIP
    1995, with the filters of Portilla and Simoncelli, A Parametric Texture Model Based on Joint Statistics of Complex
    Wavelet Coefficients, IJCV 40(1), 2000, and orthonormal transforms, so that energies of scales compare.

    Examples
    --------
    >>> import numpy as np
    >>> stripes = np.tile(np.sin(np.arange(64) * np.pi / 4)[None, :, None], (64, 1, 1)).astype(np.float32)
    >>> pyramid = steerable_pyramid(stripes, scales=2)
    >>> int(np.argmax([np.sum(band**2) for band in pyramid.bands[1]]))
    0
    """
    pixels = adopt(image, "image")
    check_image(pixels)
    if type(image).__module__.startswith("warp") and image.ndim > 3:
        what = "bands of a batch have five axes, and arrays of Warp have four"
        raise ArrayError(what, where="argument image", fix="pass one image at a time, or a tensor of torch")
    spectra = implementation(PACKAGE, backend, pixels, _OFFERED)
    *batch, height, width, channels = pixels.shape
    count = max(min(height, width).bit_length() - 3, 1) if scales is None else _check(scales, "scales", 32)
    orientations = _check(orientations, "orientations", 16)
    planes = spectra.to_planes(pixels)
    split = _analyse(spectra, planes, count, orientations) if pixels.size else _nothing(planes, count, orientations)
    highpass, bands, lowpass = split
    made = []
    for each in (highpass, *bands, lowpass):
        # A band has an axis of orientations more.
        shape = (*each.shape[:-3], *batch, *each.shape[-2:], channels)
        made.append(_given(spectra.to_pixels(each, channels), shape, pixels, image))
    return SteerablePyramid(made[0], tuple(made[1:-1]), made[-1])


def _analyse(spectra: Any, planes: Any, scales: int, orientations: int) -> tuple[Any, list[Any], Any]:
    """Rests and bands of planes [P, H, W]."""
    image = (planes.shape[1], planes.shape[2])
    spectrum, (high, low) = spectra.transform(planes), rests_of(image)
    highpass = spectra.inverse(spectra.filtered(spectrum, high), image)
    spectrum, size, bands = spectra.filtered(spectrum, low), image, []
    for size, cutoff in _steps(image, scales):
        filters = filters_of(size, image, cutoff / 2, orientations)
        # High-pass and low-pass of one cutoff have squares that sum to 1, and so have the orientations: energy is
        # split, not lost.
        bands.append(spectra.bands(spectrum, filters.oriented, phase(orientations), size))
        size = _halve(size)
        # The low-pass is 0 from half the cutoff on, so that half as many samples hold what is left (Nyquist).
        spectrum = spectra.lowest(spectrum, filters.lowpass, size)
    return highpass, bands, spectra.inverse(spectrum, size)


def _nothing(planes: Any, scales: int, orientations: int) -> tuple[Any, list[Any], Any]:
    count, height, width = planes.shape
    sizes = [size for size, _ in _steps((height, width), scales + 1)]
    bands = [planes.reshape((orientations, count, *size)) for size in sizes[:-1]]
    return planes, bands, planes.reshape((count, *sizes[-1]))


def _given(made: Any, shape: tuple[int, ...], adopted: Any, template: Any) -> Any:
    """Pixels [N, h, w, C] of the kind of array that ``template`` is; copied where strides may not do."""
    pixels = made.numpy() if on_host(adopted) and not on_host(made) else made
    if isinstance(template, np.ndarray):
        return pixels.reshape(shape)
    if isinstance(pixels, np.ndarray):
        return give_back(np.ascontiguousarray(pixels).reshape(shape), template)
    # Warp's arrays have four axes at most: those of others are made of them before they get more.
    return give_back(pixels, template).reshape(shape)


def _steps(size: tuple[int, int], scales: int) -> Iterator[tuple[tuple[int, int], float]]:
    """Size in pixels of every scale and the radius from which on its spectrum is empty."""
    for scale in range(scales):
        yield size, 0.5**scale
        size = _halve(size)


def _halve(size: tuple[int, int]) -> tuple[int, int]:
    return halve(size[0]), halve(size[1])


def _check(value: int, name: str, largest: int) -> int:
    if isinstance(value, int | np.integer) and not isinstance(value, bool) and 1 <= value <= largest:
        return int(value)
    raise HraError(f"{name} is {value!r}", where=f"argument {name}", fix=f"a whole number from 1 to {largest}")

"""The steerable pyramid: oriented band-pass levels that form a tight frame, by Fourier transform."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from hra.errors import BackendUnavailable, HraError
from hra.kernels.arrays import adopt, check_image, give_back, on_host
from hra.kernels.pyramids.levels.reductions import halve
from hra.kernels.pyramids.steerable_filters import FrequencyGrid, crop, pad

_AXES = (-3, -2)


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

    def reconstruct(self) -> Any:
        """The image [..., H, W, C] float32; of unchanged bands, within 2e-6 of its largest value."""
        highpass = adopt(self.highpass, "highpass")
        if highpass.size == 0:
            return give_back(highpass.copy(), self.highpass)
        image = (highpass.shape[-3], highpass.shape[-2])
        spectrum = _transform(adopt(self.lowpass, "lowpass"))
        steps = list(_steps(image, len(self.bands)))
        bands_of_scales = [adopt(bands, "bands") for bands in self.bands]
        # In a tight frame the adjoint is the inverse: the same filters, conjugated, in reverse.
        for (size, cutoff), bands in zip(reversed(steps), reversed(bands_of_scales), strict=True):
            grid = FrequencyGrid.of(size, image)
            spectrum = pad(spectrum, size) * grid.lowpass(cutoff / 2) + _combine(grid, cutoff / 2, bands)
        grid = FrequencyGrid.of(image, image)
        spectrum = spectrum * grid.lowpass(1) + _transform(highpass) * grid.highpass(1)
        return give_back(_inverse(spectrum, image), self.highpass)


def steerable_pyramid(image: Any, scales: int | None = None, orientations: int = 4) -> SteerablePyramid:
    """Split an image into bands by scale (an octave each) and orientation, and two rests.

    The frame is tight: the squares of all coefficients sum to those of the image, and `SteerablePyramid.reconstruct`
    applies the same filters once more. Bands of scale ``s`` have ceil(n / 2**s) pixels. The image is taken as periodic.
    An even number of orientations gives odd filters, which answer to an edge, not to a line's centre.

    Parameters
    ----------
    image : [..., H, W, C] float32, float16 or uint8, on the host; the last three axes are height, width, channels, the
        others a batch. Any kind of array that :func:`build_pyramid` takes.
    scales : number of scales, at least 1; None leaves about 4 pixels along the shorter side of the low-pass rest.
    orientations : bands per scale, K, from 1 to 16.

    Returns
    -------
    SteerablePyramid : float32, of the same kind of array as the image.

    Raises
    ------
    ArrayError : no array, fewer than three axes, or another dtype.
    HraError : ``scales`` or ``orientations`` out of range.
    BackendUnavailable : the image lies on a CUDA device.

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
    if not on_host(pixels):
        what = f"the steerable pyramid cannot read arrays on {pixels.device}"
        raise BackendUnavailable(what, where="argument image", fix="copy the image to the CPU")
    count = max(min(pixels.shape[-3:-1]).bit_length() - 3, 1) if scales is None else _check(scales, "scales", 32)
    split = _analyse if pixels.size else _nothing
    highpass, bands, lowpass = split(pixels.astype(np.float32), count, _check(orientations, "orientations", 16))
    return SteerablePyramid(
        give_back(highpass, image), tuple(give_back(band, image) for band in bands), give_back(lowpass, image)
    )


def _analyse(pixels: np.ndarray, scales: int, orientations: int) -> tuple[np.ndarray, list[np.ndarray], np.ndarray]:
    image = (pixels.shape[-3], pixels.shape[-2])
    spectrum, grid = _transform(pixels), FrequencyGrid.of(image, image)
    highpass = _inverse(spectrum * grid.highpass(1), image)
    spectrum, size, bands = spectrum * grid.lowpass(1), image, []
    for size, cutoff in _steps(image, scales):
        grid = FrequencyGrid.of(size, image)
        # High-pass and low-pass of one cutoff have squares that sum to 1, and so have the orientations: energy is
        # split, not lost.
        band_pass = spectrum * grid.highpass(cutoff / 2)
        oriented = [_inverse(band_pass * grid.orient(k, orientations), size) for k in range(orientations)]
        bands.append(np.stack(oriented))
        size = _halve(size)
        # The low-pass is 0 from half the cutoff on, so that half as many samples hold what is left (Nyquist).
        spectrum = crop(spectrum * grid.lowpass(cutoff / 2), size)
    return highpass, bands, _inverse(spectrum, size)


def _nothing(pixels: np.ndarray, scales: int, orientations: int) -> tuple[np.ndarray, list[np.ndarray], np.ndarray]:
    *batch, height, width, channels = pixels.shape
    sizes = [size for size, _ in _steps((height, width), scales + 1)]
    bands = [np.empty((orientations, *batch, *size, channels), np.float32) for size in sizes[:-1]]
    return pixels, bands, np.empty((*batch, *sizes[-1], channels), np.float32)


def _combine(grid: FrequencyGrid, cutoff: float, bands: np.ndarray) -> np.ndarray:
    filtered = [_transform(band) * grid.orient(k, len(bands)).conj() for k, band in enumerate(bands)]
    return np.sum(filtered, axis=0) * grid.highpass(cutoff)


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


def _transform(pixels: np.ndarray) -> np.ndarray:
    return np.fft.rfft2(pixels, axes=_AXES, norm="ortho")


def _inverse(spectrum: np.ndarray, size: tuple[int, int]) -> np.ndarray:
    return np.fft.irfft2(spectrum, size, axes=_AXES, norm="ortho")

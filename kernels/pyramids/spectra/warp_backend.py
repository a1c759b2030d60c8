"""Spectra by Warp, on the CPU (one thread) and on CUDA: Stockham's transform with a step per prime factor of a side.

One thread adds up one number of a step, in float64; the factors of unity come from a table that is made in float64.
"""

# Warp compiles this file itself: see `levels.warp_kernels`.
# pyright: reportInvalidTypeForm=false, reportOperatorIssue=false, reportAssignmentType=false
# pyright: reportGeneralTypeIssues=false, reportArgumentType=false, reportCallIssue=false, reportReturnType=false
# pyright: reportIndexIssue=false, reportAttributeAccessIssue=false

from __future__ import annotations

import math
from functools import lru_cache
from typing import Any

import numpy as np

from hra.errors import ArrayError
from hra.kernels.backends import on_host
from hra.kernels.warp_arrays import compiled_for, new, view, wp  # there Warp is told to be silent

wp.set_module_options({"enable_backward": False})
Size = tuple[int, int]
_RADICES = (8, 4, 2, 3, 5, 7)
_MOST = 2**31 - 1


@compiled_for(wp.uint8, wp.float16, wp.float32)
@wp.kernel
def planes_of(pixels: wp.array4d(dtype=Any), planes: wp.array3d(dtype=wp.float32)):
    """[B, H, W, C] as [B * C, H, W]."""
    p, y, x = wp.tid()
    channels = pixels.shape[3]
    planes[p, y, x] = float(pixels[p / channels, y, x, p % channels])


@wp.kernel
def pixels_of(planes: wp.array3d(dtype=wp.float32), pixels: wp.array4d(dtype=wp.float32)):
    """[B * C, H, W] as [B, H, W, C]."""
    b, y, x, c = wp.tid()
    pixels[b, y, x, c] = planes[b * pixels.shape[3] + c, y, x]


@wp.kernel
def to_complex(planes: wp.array3d(dtype=wp.float32), spectrum: wp.array3d(dtype=wp.vec2f)):
    """Real numbers as complex ones."""
    p, y, x = wp.tid()
    spectrum[p, y, x] = wp.vec2f(planes[p, y, x], 0.0)


@wp.kernel
def half_of(whole: wp.array3d(dtype=wp.vec2f), scale: float, half: wp.array3d(dtype=wp.vec2f)):
    """The columns that the spectrum of real rows needs."""
    p, y, x = wp.tid()
    half[p, y, x] = whole[p, y, x] * scale


@wp.kernel
def whole_of(half: wp.array3d(dtype=wp.vec2f), whole: wp.array3d(dtype=wp.vec2f)):
    """All columns of the spectrum of real rows, of which the first and the middle one are real."""
    p, y, x = wp.tid()
    mirrored = whole.shape[2] - x
    if x == 0 or x == mirrored:
        whole[p, y, x] = wp.vec2f(half[p, y, x][0], 0.0)
    elif x < half.shape[2]:
        whole[p, y, x] = half[p, y, x]
    else:
        value = half[p, y, mirrored]
        whole[p, y, x] = wp.vec2f(value[0], -value[1])


@wp.kernel
def real_of(whole: wp.array3d(dtype=wp.vec2f), scale: float, planes: wp.array3d(dtype=wp.float32)):
    """The real parts."""
    p, y, x = wp.tid()
    planes[p, y, x] = whole[p, y, x][0] * scale


@wp.kernel
def fourier_step(
    source: wp.array3d(dtype=wp.vec2f),
    unity: wp.array(dtype=wp.vec2f),
    radix: int,
    length: int,
    done: int,
    sign: float,
    target: wp.array3d(dtype=wp.vec2f),
):
    """One step along the middle axis, which is in runs of ``length`` that lie ``done`` apart."""
    o, t, i = wp.tid()
    q = t % done
    j = (t / done) % radix
    p = t / (done * radix)
    apart = length / radix
    real, imaginary = wp.float64(0.0), wp.float64(0.0)
    for k in range(radix):
        place = p + apart * k
        turn = int((wp.int64(j) * wp.int64(place)) % wp.int64(length)) * done
        value, factor = source[o, q + done * place, i], unity[turn]
        a, b = wp.float64(value[0]), wp.float64(value[1])
        c, d = wp.float64(factor[0]), wp.float64(sign * factor[1])
        real += a * c - b * d
        imaginary += a * d + b * c
    target[o, t, i] = wp.vec2f(float(real), float(imaginary))


@wp.func
def _row(y: int, rows: int, held: int) -> int:
    """Where the frequency of row ``y`` of ``rows`` is among ``held`` rows, -1 if it is not."""
    if y < (wp.min(rows, held) + 1) / 2:
        return y
    if rows - y <= wp.min(rows, held) / 2:
        return held - (rows - y)
    return -1


@wp.kernel
def keep_lowest(
    spectrum: wp.array3d(dtype=wp.vec2f), gain: wp.array2d(dtype=wp.float32), low: wp.array3d(dtype=wp.vec2f)
):
    """The lowest frequencies times their filter."""
    p, y, x = wp.tid()
    row = _row(y, low.shape[1], spectrum.shape[1])
    low[p, y, x] = spectrum[p, row, x] * gain[row, x]


@wp.kernel
def widen(
    spectrum: wp.array3d(dtype=wp.vec2f),
    gain: wp.array2d(dtype=wp.float32),
    more: wp.array3d(dtype=wp.vec2f),
    wide: wp.array3d(dtype=wp.vec2f),
):
    """Zeros where the frequency is not there, times the filter, and another spectrum."""
    p, y, x = wp.tid()
    row = _row(y, wide.shape[1], spectrum.shape[1])
    value = wp.vec2f(0.0, 0.0)
    if row >= 0 and x < spectrum.shape[2]:
        value = spectrum[p, row, x]
    wide[p, y, x] = value * gain[y, x] + more[p, y, x]


@wp.func
def _times(one: wp.vec2f, two: wp.vec2f) -> wp.vec2f:
    return wp.vec2f(one[0] * two[0] - one[1] * two[1], one[0] * two[1] + one[1] * two[0])


@wp.kernel
def turn_bands(
    spectrum: wp.array3d(dtype=wp.vec2f),
    gains: wp.array3d(dtype=wp.float32),
    factor: wp.vec2f,
    bands: wp.array3d(dtype=wp.vec2f),
):
    """The spectrum times a factor and each filter, [K * P, h, w']."""
    n, y, x = wp.tid()
    value = spectrum[n % spectrum.shape[0], y, x] * gains[n / spectrum.shape[0], y, x]
    bands[n, y, x] = _times(value, factor)


@wp.kernel
def add_turned(
    bands: wp.array3d(dtype=wp.vec2f),
    gains: wp.array3d(dtype=wp.float32),
    factor: wp.vec2f,
    spectrum: wp.array3d(dtype=wp.vec2f),
):
    """The sum of bands [K * P, h, w'] times their filters and a factor."""
    p, y, x = wp.tid()
    value = wp.vec2f(0.0, 0.0)
    for k in range(gains.shape[0]):
        value += bands[k * spectrum.shape[0] + p, y, x] * gains[k, y, x]
    spectrum[p, y, x] = _times(value, factor)


@wp.kernel
def add(one: wp.array3d(dtype=wp.vec2f), two: wp.array3d(dtype=wp.vec2f), both: wp.array3d(dtype=wp.vec2f)):
    """The sum."""
    p, y, x = wp.tid()
    both[p, y, x] = one[p, y, x] + two[p, y, x]


def to_planes(pixels: Any) -> Any:
    """See `reference.to_planes`."""
    *batch, height, width, channels = pixels.shape
    count = math.prod(batch)
    # Complex numbers of the whole image are the most that is counted.
    if count * channels * height * width > _MOST:
        raise ArrayError("the image has 2**31 values or more", where="argument image", fix="split it, or the batch")
    whole = pixels if on_host(pixels) else pixels.contiguous()
    stack = view(whole.reshape((count, height, width, channels)))
    planes = new((count * channels, height, width), wp.float32, stack.device)
    wp.launch(planes_of, planes.shape, [stack, planes], device=stack.device)
    return planes


def to_pixels(planes: Any, channels: int) -> Any:
    """See `reference.to_pixels`."""
    *more, height, width = planes.shape
    count = math.prod(more) // max(channels, 1)
    pixels = new((count, height, width, channels), wp.float32, planes.device)
    flat = planes.reshape((count * channels, height, width))
    wp.launch(pixels_of, pixels.shape, [flat, pixels], device=planes.device)
    return pixels


def transform(planes: Any) -> Any:
    """See `reference.transform`."""
    count, height, width = planes.shape
    whole = new(planes.shape, wp.vec2f, planes.device)
    wp.launch(to_complex, planes.shape, [planes, whole], device=planes.device)
    whole = _along(whole.reshape((count * height, width, 1)), 1.0).reshape(planes.shape)
    half = new((count, height, width // 2 + 1), wp.vec2f, planes.device)
    scale = 1 / math.sqrt(height * width)
    wp.launch(half_of, half.shape, [whole, scale, half], device=planes.device)
    return _along(half, 1.0)


def inverse(spectrum: Any, size: Size) -> Any:
    """See `reference.inverse`."""
    shape, device = (spectrum.shape[0], *size), spectrum.device
    half, whole = _along(spectrum, -1.0), new(shape, wp.vec2f, device)
    wp.launch(whole_of, shape, [half, whole], device=device)
    whole = _along(whole.reshape((shape[0] * size[0], size[1], 1)), -1.0).reshape(shape)
    planes = new(shape, wp.float32, device)
    wp.launch(real_of, shape, [whole, 1 / math.sqrt(size[0] * size[1]), planes], device=device)
    return planes


def filtered(spectrum: Any, gain: np.ndarray) -> Any:
    """See `reference.filtered`."""
    return _lowest(spectrum, gain, spectrum.shape)


def bands(spectrum: Any, gains: np.ndarray, factor: complex, size: Size) -> Any:
    """See `reference.bands`."""
    device, count = spectrum.device, len(gains)
    turned = new((count * spectrum.shape[0], *spectrum.shape[1:]), wp.vec2f, device)
    inputs = [spectrum, _sent(gains, device), _pair(factor), turned]
    wp.launch(turn_bands, turned.shape, inputs, device=device)
    return inverse(turned, size).reshape((count, spectrum.shape[0], *size))


def combined(given: Any, gains: np.ndarray, factor: complex) -> Any:
    """See `reference.combined`."""
    device, (count, planes, height, width) = given.device, given.shape
    turned = transform(given.reshape((count * planes, height, width)))
    spectrum = new((planes, *turned.shape[1:]), wp.vec2f, device)
    wp.launch(add_turned, spectrum.shape, [turned, _sent(gains, device), _pair(factor), spectrum], device=device)
    return spectrum


def lowest(spectrum: Any, gain: np.ndarray, size: Size) -> Any:
    """See `reference.lowest`."""
    return _lowest(spectrum, gain, (spectrum.shape[0], size[0], size[1] // 2 + 1))


def widened(spectrum: Any, gain: np.ndarray, size: Size, more: Any) -> Any:
    """See `reference.widened`."""
    wide = new((spectrum.shape[0], size[0], size[1] // 2 + 1), wp.vec2f, spectrum.device)
    wp.launch(widen, wide.shape, [spectrum, _sent(gain, wide.device), more, wide], device=wide.device)
    return wide


def added(one: Any, two: Any) -> Any:
    """See `reference.added`."""
    both = new(one.shape, wp.vec2f, one.device)
    wp.launch(add, both.shape, [one, two, both], device=one.device)
    return both


def _lowest(spectrum: Any, gain: np.ndarray, shape: tuple[int, ...]) -> Any:
    low = new(shape, wp.vec2f, spectrum.device)
    wp.launch(keep_lowest, shape, [spectrum, _sent(gain, low.device), low], device=low.device)
    return low


def _along(values: Any, sign: float) -> Any:
    """The transform along the middle axis of [outer, n, inner]; -1 for the inverse, without its factor."""
    size, device = values.shape[1], values.device
    unity, length, done = _unity(size, str(device)), size, 1
    for radix in _factors(size):
        target = new(values.shape, wp.vec2f, device)
        wp.launch(fourier_step, values.shape, [values, unity, radix, length, done, sign, target], device=device)
        values, length, done = target, length // radix, done * radix
    return values


@lru_cache(maxsize=64)
def _factors(size: int) -> tuple[int, ...]:
    found, radix = [], 0
    candidates = [*_RADICES, *range(11, math.isqrt(size) + 1, 2)]
    for radix in candidates:
        while size % radix == 0 and size > 1:
            found.append(radix)
            size //= radix
    return (*found, size) if size > 1 else tuple(found)


@lru_cache(maxsize=64)
def _unity(size: int, device: str) -> Any:
    """exp(-2 pi i k / size) for all k."""
    turns = np.exp(-2j * np.pi * np.arange(size) / size)
    return wp.array(np.stack([turns.real, turns.imag], axis=1).astype(np.float32), dtype=wp.vec2f, device=device)


def _sent(gain: np.ndarray, device: Any) -> Any:
    return wp.array(gain, dtype=wp.float32, device=device)


def _pair(factor: complex) -> Any:
    return wp.vec2f(complex(factor).real, complex(factor).imag)

"""REDUCE and EXPAND of Burt and Adelson by Numba, large levels with a thread per core. Levels are [B, H, W, C].

The loops run over rows [first, last) of images [B, H, W * C] float32; those for 1, 3 and 4 channels are compiled
apart, as in `hra.kernels.pyramids.levels.numba_rows`.
"""

from __future__ import annotations

import numpy as np

from hra.compiling import njit
from hra.kernels.pyramids.burt.reference import copy, place
from hra.kernels.row_blocks import Block, for_each, split

__all__ = ["add_expanded", "copy", "place", "reduce_level"]
_CENTER, _NEAR, _FAR = np.float32(6 / 16), np.float32(4 / 16), np.float32(1 / 16)
_OWN, _OTHER, _HALF = np.float32(6 / 8), np.float32(1 / 8), np.float32(1 / 2)


@njit(cache=True)
def _mirror(i, count):
    """Index in [0, count) of pixel ``i`` of the image mirrored about its outermost pixels."""
    # The mirrored image recurs after 2 (n - 1) pixels: the outermost ones are not repeated.
    period = max(2 * (count - 1), 1)
    i = abs(i) % period
    return min(i, period - i) if count > 1 else 0


@njit(cache=True, inline="always")
def _reduce_columns(row, target, channels):
    for x in range(target.size // channels):
        for c in range(channels):
            i = (2 * x + 2) * channels + c
            near = row[i - channels] + row[i + channels]
            far = row[i - 2 * channels] + row[i + 2 * channels]
            # 1 4 6 4 1 over 16: the generating kernel of Burt and Adelson (1983) with a = 3 / 8.
            target[x * channels + c] = row[i] * _CENTER + near * _NEAR + far * _FAR


@njit(cache=True)
def _reduce_row(row, target, channels):
    if channels == 1:
        _reduce_columns(row, target, 1)
    elif channels == 3:
        _reduce_columns(row, target, 3)
    elif channels == 4:
        _reduce_columns(row, target, 4)
    else:
        _reduce_columns(row, target, channels)


@njit(cache=True)
def _blur_rows(source, y, row):
    height = source.shape[0]
    above, below = source[_mirror(y - 1, height)], source[_mirror(y + 1, height)]
    top, bottom = source[_mirror(y - 2, height)], source[_mirror(y + 2, height)]
    here = source[y]
    for i in range(row.size):
        row[i] = here[i] * _CENTER + (above[i] + below[i]) * _NEAR + (top[i] + bottom[i]) * _FAR


@njit(cache=True, nogil=True)
def reduce_rows(source, target, channels, first, last):
    """Write rows of the blurred and halved ``source``."""
    size, margin = source.shape[2], 2 * channels
    width = size // channels
    # The kernel reaches two pixels to either side: this many mirrored ones stand around each row.
    row = np.empty(size + 2 * margin, np.float32)
    for image in range(target.shape[0]):
        for y in range(first, last):
            inner = row[margin : margin + size]
            # The kernel is separable: across rows first, then along the one that is left.
            _blur_rows(source[image], 2 * y, inner)
            for x in (-2, -1, width, width + 1):
                for c in range(channels):
                    row[margin + x * channels + c] = inner[_mirror(x, width) * channels + c]
            _reduce_row(row, target[image, y], channels)


@njit(cache=True, inline="always")
def _add_columns(row, target, channels, sign):
    count = target.size // channels
    for x in range(count // 2):
        for c in range(channels):
            i = (x + 1) * channels + c
            left, here, right = row[i - channels], row[i], row[i + channels]
            # Twice the same kernel: at an even pixel its taps 1 6 1 meet coarse ones, at an odd pixel 4 4.
            target[2 * x * channels + c] += sign * (here * _OWN + (left + right) * _OTHER)
            target[(2 * x + 1) * channels + c] += sign * ((here + right) * _HALF)
    # The last of an odd number of pixels is an even one.
    if count % 2 == 1:
        x = count // 2
        for c in range(channels):
            i = (x + 1) * channels + c
            target[2 * x * channels + c] += sign * (row[i] * _OWN + (row[i - channels] + row[i + channels]) * _OTHER)


@njit(cache=True)
def _add_row(row, target, channels, sign):
    if channels == 1:
        _add_columns(row, target, 1, sign)
    elif channels == 3:
        _add_columns(row, target, 3, sign)
    elif channels == 4:
        _add_columns(row, target, 4, sign)
    else:
        _add_columns(row, target, channels, sign)


@njit(cache=True)
def _expand_rows(coarse, y, height, row):
    below = coarse[_mirror(2 * (y // 2) + 2, height) // 2]
    here = coarse[y // 2]
    if y % 2 == 1:
        for i in range(row.size):
            row[i] = (here[i] + below[i]) * _HALF
        return
    above = coarse[_mirror(y - 2, height) // 2]
    for i in range(row.size):
        row[i] = here[i] * _OWN + (above[i] + below[i]) * _OTHER


@njit(cache=True, nogil=True)
def add_expanded_rows(coarse, fine, channels, sign, first, last):
    """Add ``sign`` times the expanded ``coarse`` to rows of ``fine``."""
    size, height, width = coarse.shape[2], fine.shape[1], fine.shape[2] // channels
    row = np.empty(size + 2 * channels, np.float32)
    inner = row[channels : channels + size]
    # Coarse pixel i lies on fine pixel 2i, and the image is mirrored on the fine grid: coarse -1 is fine -2. The period
    # of the mirrored image is even, so that even pixels meet even ones.
    left, right = _mirror(-2, width) // 2, _mirror(2 * (size // channels), width) // 2
    for image in range(fine.shape[0]):
        for y in range(first, last):
            _expand_rows(coarse[image], y, height, inner)
            for c in range(channels):
                row[c], row[channels + size + c] = inner[left * channels + c], inner[right * channels + c]
            _add_row(row, fine[image, y], channels, sign)


def reduce_level(source: np.ndarray, target: np.ndarray) -> None:
    """Write every second pixel of the blurred ``source`` to ``target``."""
    fine, coarse = _flat(source), _flat(target)

    def work(block: Block) -> None:
        images = slice(block.begin, block.end)
        reduce_rows(fine[images], coarse[images], source.shape[3], block.first, block.last)

    for_each(split(target.shape[0], target.shape[1], 2 * source[:1, :1].nbytes), source.nbytes, work)


def add_expanded(coarse: np.ndarray, fine: np.ndarray, sign: float) -> None:
    """Add ``sign`` times the expanded ``coarse`` to ``fine``."""
    source, target, factor = _flat(coarse), _flat(fine), np.float32(sign)

    def work(block: Block) -> None:
        rows = target[block.begin : block.end]
        expanded = source[block.begin : block.end]
        add_expanded_rows(expanded, rows, fine.shape[3], factor, block.first, block.last)

    for_each(split(fine.shape[0], fine.shape[1], fine[:1, :1].nbytes), fine.nbytes, work)


def _flat(level: np.ndarray) -> np.ndarray:
    return level.reshape(*level.shape[:2], -1)

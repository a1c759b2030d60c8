"""Errors of levels, nodes and tiles, and pixels of blocks, by Numba: all levels of a row at once, images by threads."""

from __future__ import annotations

import numpy as np

from hra.caching import Scratch
from hra.compiling import njit
from hra.kernels.pyramids.blocks.blocks import Along
from hra.kernels.pyramids.blocks.reference import FAR, NEAR
from hra.kernels.row_blocks import Block, for_each, split

_NEAR, _FAR = np.float32(NEAR), np.float32(FAR)
_ZERO, _ONE = np.float32(0), np.float32(1)
_KEPT = 2**23  # numbers, 32 MB: seven levels of 1024 x 1024 pixels have 4.7 million
_LEAST = 3  # levels of a larger image that are compared at a time: each time costs a pass over its pixels
_memory = Scratch()


def level_errors(levels: list[np.ndarray], patch: int, grid: tuple[int, ...]) -> np.ndarray:
    """See :func:`hra.kernels.pyramids.blocks.blocks.level_errors`; ``levels`` [B, h, w, C]."""
    errors = np.zeros((len(levels[0]), *grid))

    def work(image: int) -> None:
        if len(levels) > 1:
            _errors_of([level[image] for level in levels], patch, errors[image, 1:])
            np.maximum.accumulate(errors[image], axis=0, out=errors[image])

    for_each(list(range(len(errors))), levels[0].nbytes, work)
    return errors


def _errors_of(levels: list[np.ndarray], patch: int, errors: np.ndarray) -> None:
    """Add the errors of one image [h, w, C] to those of its levels from 1 on."""
    planes = [np.ascontiguousarray(np.moveaxis(level, 2, 0)) for level in levels[1:]]
    together = max(_LEAST, min(len(planes), _KEPT // planes[0].size))
    for first in range(0, len(planes), together):
        seen = _shown(planes, range(first, min(first + together, len(planes))))
        _compare(levels[0], seen, patch, errors[first : first + len(seen)])


def _shown(planes: list[np.ndarray], levels: range) -> np.ndarray:
    """Each of the ``levels`` at the size of the first of ``planes`` [C, h, w], float32 [L, C, h, w]."""
    shown = _room((len(levels), *planes[0].shape))
    for number, level in enumerate(levels):
        cells = planes[level]
        for finer in range(level - 1, -1, -1):
            fine = shown[number] if finer == 0 else np.empty_like(planes[finer])
            _refine(cells, fine)
            cells = fine
        if level == 0:
            shown[number] = cells
    return shown


def _room(shape: tuple[int, ...]) -> np.ndarray:
    """Memory of this shape; images of usual sizes find it touched already, which takes as long as filling it."""
    return _memory.array("shown", shape, np.float32) if np.prod(shape) <= _KEPT else np.empty(shape, np.float32)


@njit(cache=True, nogil=True)
def _slope_between_rows(up, down, far_up, far_down, slope):
    for x in range(slope.size):
        slope[x] = _NEAR * (down[x] - up[x]) + _FAR * (far_down[x] - far_up[x])


@njit(cache=True, nogil=True)
def _below(cells, slope, row):
    for x in range(cells.size):
        row[x] = cells[x] + slope[x]


@njit(cache=True, nogil=True)
def _above(cells, slope, row):
    for x in range(cells.size):
        row[x] = cells[x] - slope[x]


@njit(cache=True, nogil=True)
def _rows_of(cells, i, slope, upper, lower):
    """The two rows of finer cells in row ``i`` of ``cells`` [h, w], with two repeated cells at either end."""
    last, width = cells.shape[0] - 1, cells.shape[1]
    _slope_between_rows(
        *(cells[max(i - 1, 0)], cells[min(i + 1, last)]),
        *(cells[max(i - 2, 0)], cells[min(i + 2, last)]),
        slope,
    )
    _above(cells[i], slope, upper[2 : width + 2])
    _below(cells[i], slope, lower[2 : width + 2])
    for row in (upper, lower):
        row[0] = row[1] = row[2]
        row[width + 2] = row[width + 3] = row[width + 1]


@njit(cache=True, nogil=True)
def _refine(cells, fine):
    """Cells [C, h, w] of means as the finer cells [C, 2 h or one less, 2 w or one less]."""
    channels, rows, columns = cells.shape
    slope = np.empty(columns, np.float32)
    upper, lower = np.empty(columns + 4, np.float32), np.empty(columns + 4, np.float32)
    for c in range(channels):
        for i in range(rows):
            _rows_of(cells[c], i, slope, upper, lower)
            _split(upper, fine[c, 2 * i])
            if 2 * i + 1 < fine.shape[1]:
                _split(lower, fine[c, 2 * i + 1])


@njit(cache=True, nogil=True)
def _split(cells, fine):
    """Every cell [n + 4] (two more at either end) as two, [2 n] or one less."""
    for x in range(fine.size // 2):
        slope = _NEAR * (cells[x + 3] - cells[x + 1]) + _FAR * (cells[x + 4] - cells[x])
        fine[2 * x] = cells[x + 2] - slope
        fine[2 * x + 1] = cells[x + 2] + slope
    for x in range(fine.size // 2, (fine.size + 1) // 2):
        slope = _NEAR * (cells[x + 3] - cells[x + 1]) + _FAR * (cells[x + 4] - cells[x])
        fine[2 * x] = cells[x + 2] - slope


@njit(cache=True, nogil=True)
def _compare(image, shown, patch, errors):
    height, width, channels = image.shape
    levels, _, rows, columns = shown.shape
    even, odd = np.empty((2, channels, columns), np.float32), np.empty((2, channels, width // 2), np.float32)
    slope = np.empty(columns, np.float32)
    upper, lower = np.empty(columns + 4, np.float32), np.empty(columns + 4, np.float32)
    total = np.zeros((levels, columns), np.float32)
    for i in range(rows):
        both = 2 * i + 1 < height
        _pairs(image[2 * i], even[0], odd[0])
        if both:
            _pairs(image[2 * i + 1], even[1], odd[1])
        for level in range(levels):
            for c in range(channels):
                _rows_of(shown[level, c], i, slope, upper, lower)
                _add_squares(upper, even[0, c], odd[0, c], total[level])
                if both:
                    _add_squares(lower, even[1, c], odd[1, c], total[level])
        if (2 * i + 2) % patch == 0 or i + 1 == rows:
            _add_up_of_level(total, patch // 2, errors[:, 2 * i // patch])
            total[:] = 0


@njit(cache=True, nogil=True)
def _pairs(pixels, even, odd):
    """The pixels [W, C] of a row as first and second of every pair, [C, ceil(W / 2)] and [C, floor(W / 2)]."""
    width, channels = pixels.shape
    for c in range(channels):
        for x in range(width // 2):
            even[c, x] = pixels[2 * x, c]
            odd[c, x] = pixels[2 * x + 1, c]
        if width % 2:
            even[c, width // 2] = pixels[width - 1, c]


@njit(cache=True, inline="always")
def _clipped(value):
    value = _ZERO if value < _ZERO else value  # NaN stays what it is
    return _ONE if value > _ONE else value


@njit(cache=True, nogil=True, fastmath={"contract", "nsz"})
def _add_squares(cells, even, odd, total):
    """Add what pairs of pixels lack of a row of cells; the last cell may have a first pixel only."""
    for x in range(odd.size):
        slope = _NEAR * (cells[x + 3] - cells[x + 1]) + _FAR * (cells[x + 4] - cells[x])
        first = even[x] - _clipped(cells[x + 2] - slope)
        second = odd[x] - _clipped(cells[x + 2] + slope)
        total[x] += first * first + second * second
    for x in range(odd.size, even.size):
        slope = _NEAR * (cells[x + 3] - cells[x + 1]) + _FAR * (cells[x + 4] - cells[x])
        first = even[x] - _clipped(cells[x + 2] - slope)
        total[x] += first * first


@njit(cache=True, nogil=True)
def _add_up_of_level(total, pairs, errors):
    """Add sums of ``pairs`` columns of ``total`` [L, w] to the patches of a row, errors [L, columns]."""
    for level in range(total.shape[0]):
        for x in range(total.shape[1]):
            errors[level, x // pairs] += total[level, x]


def node_errors(errors: np.ndarray, weight: np.ndarray | None, offsets: list[int]) -> tuple[np.ndarray, np.ndarray]:
    """See :func:`hra.kernels.pyramids.blocks.blocks.node_errors`; ``errors`` [B, L, rows, columns]."""
    own, inherited = np.zeros((len(errors), offsets[-1])), np.zeros((len(errors), offsets[-1]))
    ones, begins = np.ones(errors.shape[2:]), np.array(offsets)
    for image, each in enumerate(errors):
        _add_up(each, ones if weight is None else weight[image], begins, own[image], inherited[image])
    return own, inherited


@njit(cache=True, nogil=True)
def _add_up(errors, weight, offsets, own, inherited):
    levels, rows, columns = errors.shape
    for y in range(rows):  # the finest level on its own: most of the work, and nothing to add up
        for x in range(columns):
            inherited[y * columns + x] = weight[y, x] * errors[min(1, levels - 1), y, x]
    for level in range(1, levels - 1):
        coarser, across = level + 1, (columns - 1 >> level) + 1
        for y in range(rows):
            start = offsets[level] + (y >> level) * across
            for node in range(across):
                part = 0.0
                for x in range(node << level, min(node + 1 << level, columns)):
                    part += weight[y, x] * errors[coarser, y, x]
                inherited[start + node] += part
    for level in range(1, levels):
        # What children inherit is what their parent leaves wrong.
        across, below = (columns - 1 >> level) + 1, (columns - 1 >> level - 1) + 1
        for child in range(offsets[level - 1], offsets[level]):
            y, x = divmod(child - offsets[level - 1], below)
            own[offsets[level] + (y >> 1) * across + (x >> 1)] += inherited[child]
    # Node by node: assigning slices makes Numba compile a second's worth of error messages.
    for root in range(offsets[levels - 1], offsets[levels]):
        inherited[root] = own[root]


def enlarged_squares(fine: np.ndarray, coarse: np.ndarray, along_y: Along, along_x: Along, cell: int) -> np.ndarray:
    """See :func:`hra.kernels.pyramids.blocks.blocks.enlarged_squares`."""
    # Numba has no float16 on the host.
    pixels, below = (each.astype(np.float32) if each.dtype == np.float16 else each for each in (fine, coarse))
    height, width, channels = pixels.shape
    sums = np.zeros((-(-height // cell), -(-width // cell)))
    # One pixel of a row after the other: indices of values, not of pixels.
    first, second = ((part[:, None] * channels + np.arange(channels)).ravel() for part in along_x[:2])
    across = np.repeat(along_x.weight, channels)
    rows, flat = pixels.reshape(height, -1), np.ascontiguousarray(below).reshape(len(below), -1)
    rows.flags.writeable = flat.flags.writeable = False  # these views, whatever came in: one kind is compiled

    def work(block: Block) -> None:
        part = slice(block.first, block.last)
        axis = tuple(each[part] for each in along_y)
        _add_bands(rows[part], flat, axis, (first, second, across), cell * channels, cell, block.first, sums)

    for_each(split(1, height, rows[:1].nbytes, cell), pixels.nbytes, work)
    return sums


@njit(cache=True, nogil=True)
def _add_bands(fine, coarse, along_y, along_x, run, cell, begin, sums):
    above, below, down = along_y
    first, second, across = along_x
    upper, lower = np.empty(first.size, np.float32), np.empty(first.size, np.float32)
    held = np.full(2, -1)
    for y in range(len(fine)):
        # Rows that follow each other lie between the same two.
        if above[y] != held[0]:
            _along_row(coarse[above[y]], first, second, across, upper)
        if below[y] != held[1]:
            _along_row(coarse[below[y]], first, second, across, lower)
        held[0], held[1] = above[y], below[y]
        for tile in range(sums.shape[1]):
            part = slice(tile * run, min((tile + 1) * run, first.size))
            sums[(begin + y) // cell, tile] += _squares(fine[y, part], upper[part], lower[part], down[y])


@njit(cache=True, nogil=True)
def _along_row(row, first, second, across, result):
    for x in range(first.size):
        result[x] = np.float32(row[first[x]]) * (_ONE - across[x]) + np.float32(row[second[x]]) * across[x]


@njit(cache=True, nogil=True, fastmath={"reassoc", "contract", "nsz"})
def _squares(fine, upper, lower, down):
    # Sums of a row of a tile: some hundred squares, of which float32 keeps six digits.
    total, up = _ZERO, _ONE - down
    for x in range(fine.size):
        band = np.float32(fine[x]) - (upper[x] * up + lower[x] * down)
        total += band * band
    return np.float64(total)


def take_blocks(data: np.ndarray, table: np.ndarray, blocks: np.ndarray, patch: int, channels: int) -> np.ndarray:
    """See :func:`hra.kernels.pyramids.blocks.blocks.take_blocks`."""
    taken = np.empty((len(blocks), patch, patch, channels), data.dtype)
    # Bits are moved, not numbers: Numba has no float16.
    word = f"u{data.dtype.itemsize}"
    _take(data.view(word), table, blocks, patch, channels, taken.view(word).reshape(-1))
    return taken


@njit(cache=True, nogil=True)
def _take(data, table, blocks, patch, channels, taken):
    size, at = table[-1, 0], 0
    for k in range(blocks.size):
        image, block = divmod(blocks[k], size)
        level = 0
        while block >= table[level + 1, 0]:
            level += 1
        height, width = table[level, 1], table[level, 2]
        begin = table[level, 3] + image * height * width * channels
        row, column = divmod(block - table[level, 0], (width + patch - 1) // patch)
        inside = min(patch, width - column * patch)
        for i in range(patch):
            source = begin + (min(row * patch + i, height - 1) * width + column * patch) * channels
            for j in range(inside * channels):
                taken[at + j] = data[source + j]
            for j in range(inside * channels, patch * channels):
                taken[at + j] = data[source + (inside - 1) * channels + j % channels]
            at += patch * channels

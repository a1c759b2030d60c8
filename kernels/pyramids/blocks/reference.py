"""The plain reference of errors of levels, nodes and tiles, in float64 and by the definition."""

from __future__ import annotations

from typing import Any

import numpy as np

from hra.kernels.pyramids.blocks.blocks import Along

# Slope of the polynomial of degree four with the given five cell means: half the difference of a cell's two halves.
NEAR, FAR = 22 / 128, -3 / 128


def level_errors(levels: list[np.ndarray], patch: int, grid: tuple[int, ...]) -> np.ndarray:
    """See :func:`hra.kernels.pyramids.blocks.blocks.level_errors`; ``levels`` [B, h, w, C]."""
    image, errors = levels[0].astype(np.float64), np.zeros((len(levels[0]), *grid))
    for number in range(1, len(levels)):
        shown = levels[number].astype(np.float64)
        for finer in reversed(levels[:number]):
            shown = _split(_split(shown, 1, finer.shape[1]), 2, finer.shape[2])
        squares = np.square(image - np.clip(shown, 0, 1)).sum(axis=3)
        np.maximum(errors[:, number - 1], _tiles(squares, patch), out=errors[:, number])
    return errors


def _split(cells: np.ndarray, axis: int, size: int) -> np.ndarray:
    """Each cell of an axis as two, ``size`` of them; cells outside repeat the edge."""
    border: list[Any] = [(0, 0)] * cells.ndim
    border[axis] = (2, 2)
    far_before, before, here, after, far_after = (
        np.moveaxis(np.pad(cells, border, mode="edge"), axis, 0)[tap : tap + cells.shape[axis]] for tap in range(5)
    )
    slope = NEAR * (after - before) + FAR * (far_after - far_before)
    fine = np.stack([here - slope, here + slope], axis=1)
    return np.moveaxis(fine.reshape(-1, *here.shape[1:])[:size], 0, axis)


def node_errors(errors: np.ndarray, weight: np.ndarray | None, offsets: list[int]) -> tuple[np.ndarray, np.ndarray]:
    """See :func:`hra.kernels.pyramids.blocks.blocks.node_errors`; ``errors`` [B, L, rows, columns]."""
    count, levels, rows, columns = errors.shape
    weighted = errors if weight is None else weight[:, None] * errors
    own, inherited = np.zeros((count, offsets[-1])), np.zeros((count, offsets[-1]))
    y, x = np.indices((rows, columns))
    for level in range(levels):
        node = offsets[level] + (y >> level) * ((columns - 1 >> level) + 1) + (x >> level)
        nodes = slice(offsets[level], offsets[level + 1])
        if level < levels - 1:
            # A row's part is added up first, as the compiled backends do: so that all bits are the same.
            for row in range(rows):
                part = np.zeros((count, offsets[-1]))
                np.add.at(part.T, node[row], weighted[:, level + 1, row].T)
                inherited += part
        if level:
            across, below = (columns - 1 >> level) + 1, (columns - 1 >> level - 1) + 1
            child = np.arange(offsets[level - 1], offsets[level])
            row, column = np.divmod(child - offsets[level - 1], below)
            np.add.at(own.T, offsets[level] + row // 2 * across + column // 2, inherited[:, child].T)
        if level == levels - 1:
            inherited[:, nodes] = own[:, nodes]
    return own, inherited


def enlarged_squares(fine: np.ndarray, coarse: np.ndarray, along_y: Along, along_x: Along, cell: int) -> np.ndarray:
    """See :func:`hra.kernels.pyramids.blocks.blocks.enlarged_squares`."""
    down, across = along_y.weight[:, None, None], along_x.weight[:, None]
    pixels = coarse.astype(np.float32)
    upper, lower = (
        pixels[rows][:, along_x.first] * (1 - across) + pixels[rows][:, along_x.second] * across for rows in along_y[:2]
    )
    squares = np.square(fine - (upper * (1 - down) + lower * down)).sum(axis=2, dtype=np.float64)
    return _tiles(squares[None], cell)[0]


def _tiles(squares: np.ndarray, side: int) -> np.ndarray:
    """Sums over tiles of [B, H, W]."""
    rows = np.add.reduceat(squares, np.arange(0, squares.shape[1], side), axis=1)
    return np.add.reduceat(rows, np.arange(0, squares.shape[2], side), axis=2)


def take_blocks(data: np.ndarray, table: np.ndarray, blocks: np.ndarray, patch: int, channels: int) -> np.ndarray:
    """See :func:`hra.kernels.pyramids.blocks.blocks.take_blocks`."""
    taken = np.empty((len(blocks), patch, patch, channels), data.dtype)
    for k, number in enumerate(blocks.tolist()):
        image, block = divmod(number, int(table[-1, 0]))
        level = int(np.searchsorted(table[:, 0], block, "right")) - 1
        first, height, width, begin = table[level].tolist()
        pixels = data[begin + image * height * width * channels :][: height * width * channels]
        row, column = divmod(block - first, -(-width // patch))
        y, x = (
            np.minimum(place * patch + np.arange(patch), size - 1) for place, size in ((row, height), (column, width))
        )
        taken[k] = pixels.reshape(height, width, channels)[y[:, None], x]
    return taken

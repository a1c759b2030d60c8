"""Errors of levels, nodes and tiles, and pixels of blocks, in Warp, on the CPU (one thread) and on CUDA.

There are no atomics: sums have a fixed order.
"""

# Warp compiles this file itself: see `levels.warp_kernels`.
# pyright: reportInvalidTypeForm=false, reportOperatorIssue=false, reportAssignmentType=false
# pyright: reportGeneralTypeIssues=false, reportArgumentType=false, reportCallIssue=false, reportReturnType=false
# pyright: reportIndexIssue=false, reportAttributeAccessIssue=false
# ruff: noqa: UP018, RUF046

from __future__ import annotations

from typing import Any

import numpy as np

from hra.kernels.backends import device_of
from hra.kernels.pyramids.blocks.blocks import Along
from hra.kernels.pyramids.blocks.reference import FAR, NEAR
from hra.kernels.warp_arrays import compiled_for, like, new, view, wp, zeros  # there Warp is told to be silent

# Fused multiply-adds would round otherwise than the host does.
wp.set_module_options({"fuse_fp": False, "enable_backward": False})
_NEAR, _FAR = wp.constant(wp.float32(NEAR)), wp.constant(wp.float32(FAR))


@wp.func
def _rows(cells: wp.array4d(dtype=wp.float32), image: int, y: int, x: int, c: int) -> float:
    """The pixel of fine row ``y`` over column ``x`` of the cells, which repeat their edge."""
    last = cells.shape[1] - 1
    column = wp.clamp(x, 0, cells.shape[2] - 1)
    i = y / 2
    near = cells[image, wp.min(i + 1, last), column, c] - cells[image, wp.max(i - 1, 0), column, c]
    far = cells[image, wp.min(i + 2, last), column, c] - cells[image, wp.max(i - 2, 0), column, c]
    slope = _NEAR * near + _FAR * far
    here = cells[image, i, column, c]
    return wp.where(y % 2 == 0, here - slope, here + slope)


@wp.func
def _refined(cells: wp.array4d(dtype=wp.float32), image: int, y: int, x: int, c: int) -> float:
    """Pixel (y, x) of the next finer level by average interpolation."""
    j = x / 2
    near = _rows(cells, image, y, j + 1, c) - _rows(cells, image, y, j - 1, c)
    far = _rows(cells, image, y, j + 2, c) - _rows(cells, image, y, j - 2, c)
    slope = _NEAR * near + _FAR * far
    here = _rows(cells, image, y, j, c)
    return wp.where(x % 2 == 0, here - slope, here + slope)


@wp.kernel
def refine(cells: wp.array4d(dtype=wp.float32), fine: wp.array4d(dtype=wp.float32)):
    """The next finer level."""
    image, y, x, c = wp.tid()
    fine[image, y, x, c] = _refined(cells, image, y, x, c)


@wp.kernel
def compare(
    pixels: wp.array4d(dtype=wp.float32),
    cells: wp.array4d(dtype=wp.float32),
    patch: int,
    level: int,
    errors: wp.array4d(dtype=wp.float64),
):
    """Squared error of each block while level 1 shows it, and at least that of the finer level."""
    image, row, column = wp.tid()
    total = wp.float64(0.0)
    for y in range(row * patch, wp.min((row + 1) * patch, pixels.shape[1])):
        of_row = float(0.0)
        for x in range(column * patch, wp.min((column + 1) * patch, pixels.shape[2])):
            for c in range(pixels.shape[3]):
                shown = _refined(cells, image, y, x, c)
                # A clamp of Warp turns NaN into a number.
                shown = wp.where(shown < 0.0, 0.0, wp.where(shown > 1.0, 1.0, shown))
                missing = pixels[image, y, x, c] - shown
                of_row += missing * missing
        total += wp.float64(of_row)
    before = errors[image, level - 1, row, column]
    errors[image, level, row, column] = wp.where(total >= before or total != total, total, before)


@wp.kernel
def inherit(
    errors: wp.array4d(dtype=wp.float64),
    weight: wp.array3d(dtype=wp.float64),
    level: int,
    begin: int,
    across: int,
    inherited: wp.array2d(dtype=wp.float64),
):
    """What each node's region lacks while its parent shows it."""
    image, row, column = wp.tid()
    side = 1 << level
    total = wp.float64(0.0)
    for y in range(row * side, wp.min((row + 1) * side, errors.shape[2])):
        part = wp.float64(0.0)
        for x in range(column * side, wp.min((column + 1) * side, errors.shape[3])):
            error = errors[image, level + 1, y, x]
            if weight.shape[0] > 0:
                error = weight[image, y, x] * error
            part += error
        total += part
    inherited[image, begin + row * across + column] = total


@wp.kernel
def add_children(
    begin: int,
    across: int,
    rows_below: int,
    columns_below: int,
    begin_below: int,
    coarsest: bool,
    own: wp.array2d(dtype=wp.float64),
    inherited: wp.array2d(dtype=wp.float64),
):
    """What each node leaves wrong: what its children would inherit."""
    image, row, column = wp.tid()
    total = wp.float64(0.0)
    for y in range(2 * row, wp.min(2 * row + 2, rows_below)):
        for x in range(2 * column, wp.min(2 * column + 2, columns_below)):
            total += inherited[image, begin_below + y * columns_below + x]
    node = begin + row * across + column
    own[image, node] = total
    if coarsest:
        inherited[image, node] = total


@compiled_for(wp.uint8, wp.float16, wp.float32)
@wp.kernel
def add_bands(
    fine: wp.array3d(dtype=Any),
    coarse: wp.array3d(dtype=Any),
    rows: wp.array2d(dtype=wp.int32),
    columns: wp.array2d(dtype=wp.int32),
    down: wp.array(dtype=wp.float32),
    across: wp.array(dtype=wp.float32),
    cell: int,
    parts: wp.array2d(dtype=wp.float64),
):
    """Squares of one row of a tile."""
    y, tile = wp.tid()
    above, below, lower_share = rows[0, y], rows[1, y], down[y]
    total = wp.float64(0.0)
    for x in range(tile * cell, wp.min((tile + 1) * cell, fine.shape[1])):
        left, right, share = columns[0, x], columns[1, x], across[x]
        for c in range(fine.shape[2]):
            upper = float(coarse[above, left, c]) * (1.0 - share) + float(coarse[above, right, c]) * share
            lower = float(coarse[below, left, c]) * (1.0 - share) + float(coarse[below, right, c]) * share
            band = float(fine[y, x, c]) - (upper * (1.0 - lower_share) + lower * lower_share)
            total += wp.float64(band * band)
    parts[y, tile] = total


@wp.kernel
def add_rows(parts: wp.array2d(dtype=wp.float64), cell: int, sums: wp.array2d(dtype=wp.float64)):
    """The sum of the rows of each tile."""
    row, tile = wp.tid()
    total = wp.float64(0.0)
    for y in range(row * cell, wp.min((row + 1) * cell, parts.shape[0])):
        total += parts[y, tile]
    sums[row, tile] = total


@compiled_for(wp.uint8, wp.float16, wp.float32)
@wp.kernel
def take(
    data: wp.array(dtype=Any),
    table: wp.array2d(dtype=wp.int32),
    blocks: wp.array(dtype=wp.int32),
    images: int,
    taken: wp.array4d(dtype=Any),
):
    """One pixel of one block."""
    k, i, j = wp.tid()
    size = table[table.shape[0] - 1, 0]
    image = blocks[k] / size
    block = blocks[k] % size
    if blocks[k] < 0 or image >= images:
        for c in range(taken.shape[3]):
            taken[k, i, j, c] = taken.dtype(0)
        return
    level = int(0)
    while block >= table[level + 1, 0]:
        level += 1
    height, width = table[level, 1], table[level, 2]
    begin = table[level, 3] + image * height * width * taken.shape[3]
    across = (width + taken.shape[1] - 1) / taken.shape[1]
    place = block - table[level, 0]
    y = wp.min(place / across * taken.shape[1] + i, height - 1)
    x = wp.min(place % across * taken.shape[1] + j, width - 1)
    for c in range(taken.shape[3]):
        taken[k, i, j, c] = data[begin + (y * width + x) * taken.shape[3] + c]


def level_errors(levels: list[Any], patch: int, grid: tuple[int, ...]) -> Any:
    """See :func:`hra.kernels.pyramids.blocks.blocks.level_errors`; ``levels`` [B, h, w, C]."""
    stack = [view(level) for level in levels]
    pixels, device = stack[0], stack[0].device
    errors = zeros((pixels.shape[0], *grid), wp.float64, device)
    for number in range(1, len(stack)):
        cells = stack[number]
        for finer in reversed(stack[1:number]):
            fine = new(finer.shape, wp.float32, device)
            wp.launch(refine, fine.shape, [cells, fine], device=device)
            cells = fine
        wp.launch(compare, (pixels.shape[0], *grid[1:]), [pixels, cells, patch, number, errors], device=device)
    return like(errors, levels[0])


def node_errors(errors: Any, weight: Any, offsets: list[int]) -> tuple[Any, Any]:
    """See :func:`hra.kernels.pyramids.blocks.blocks.node_errors`; ``errors`` [B, L, rows, columns]."""
    given = view(errors)
    count, levels, rows, columns = given.shape
    device = given.device
    weights = new((0, 0, 0), wp.float64, device) if weight is None else view(weight)
    own = zeros((count, offsets[-1]), wp.float64, device)
    inherited = zeros((count, offsets[-1]), wp.float64, device)
    grids = [((rows - 1 >> level) + 1, (columns - 1 >> level) + 1) for level in range(levels)]
    for level, (down, across) in enumerate(grids):
        begin, shape = offsets[level], (count, down, across)
        if level < levels - 1:
            wp.launch(inherit, shape, [given, weights, level, begin, across, inherited], device=device)
        if level:
            below = [*grids[level - 1], offsets[level - 1], level == levels - 1]
            wp.launch(add_children, shape, [begin, across, *below, own, inherited], device=device)
    return like(own, errors), like(inherited, errors)


def enlarged_squares(fine: Any, coarse: Any, along_y: Along, along_x: Along, cell: int) -> Any:
    """See :func:`hra.kernels.pyramids.blocks.blocks.enlarged_squares`."""
    device, pixels = device_of(fine), view(fine)
    axes = [wp.array(np.stack(along[:2]).astype(np.int32), device=device) for along in (along_y, along_x)]
    shares = [wp.array(along.weight, dtype=wp.float32, device=device) for along in (along_y, along_x)]
    tiles = -(-pixels.shape[1] // cell)
    parts = new((pixels.shape[0], tiles), wp.float64, device)
    wp.launch(add_bands, parts.shape, [pixels, view(coarse), *axes, *shares, cell, parts], device=device)
    sums = new((-(-pixels.shape[0] // cell), tiles), wp.float64, device)
    wp.launch(add_rows, sums.shape, [parts, cell, sums], device=device)
    return like(sums, fine)


def take_blocks(data: Any, table: np.ndarray, blocks: Any, patch: int, channels: int) -> Any:
    """See :func:`hra.kernels.pyramids.blocks.blocks.take_blocks`."""
    pixels, device = view(data), device_of(data)
    images = pixels.shape[0] // max(1, int(table[:-1, 1] @ table[:-1, 2]) * channels)
    taken = new((blocks.shape[0], patch, patch, channels), pixels.dtype, device)
    rows = wp.array(table, device=device)
    wp.launch(take, taken.shape[:3], [pixels, rows, view(blocks), images, taken], device=device)
    return like(taken, data)

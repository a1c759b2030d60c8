"""Warp kernels, one thread per output value; a level is [B, H, W, C]."""

# Warp compiles this file itself: its types are not Python types, functions are overloaded by redefinition, variables
# that a loop changes are declared by a cast.
# pyright: reportInvalidTypeForm=false, reportOperatorIssue=false, reportAssignmentType=false
# pyright: reportGeneralTypeIssues=false, reportArgumentType=false, reportCallIssue=false, reportReturnType=false
# pyright: reportRedeclaration=false
# ruff: noqa: UP018, RUF046

from __future__ import annotations

from typing import Any

from hra.kernels.warp_arrays import compiled_for, wp


@wp.func
def _is_nan(value: wp.float32) -> bool:
    return value != value  # wp.isnan makes the whole kernel 3 times slower on the CPU


@wp.func
def _is_nan(value: wp.float16) -> bool:
    return value != value


@wp.func
def _is_nan(value: wp.uint8) -> bool:
    return False


@wp.func
def _better(a: Any, b: Any, smallest: bool):
    wins = wp.where(smallest, a < b, a > b)
    return wp.where(wins or _is_nan(a), a, b)  # a NaN wins on either side


@compiled_for(wp.uint8, wp.float16, wp.float32)
@wp.kernel(enable_backward=False)
def extremum_level(source: wp.array4d(dtype=Any), target: wp.array4d(dtype=Any), smallest: bool):
    """Maximum (minimum if ``smallest``) of 2 x 2 pixels."""
    image, y, x, c = wp.tid()
    top = 2 * y
    left = 2 * x
    bottom = wp.min(top + 1, source.shape[1] - 1)
    right = wp.min(left + 1, source.shape[2] - 1)
    upper = _better(source[image, top, left, c], source[image, top, right, c], smallest)
    lower = _better(source[image, bottom, left, c], source[image, bottom, right, c], smallest)
    target[image, y, x, c] = _better(upper, lower, smallest)


@wp.func
def _share(i: int, tap: int, count: int, blocks: bool) -> int:
    """Integer weight of pixel ``2i + tap`` in output pixel i (derived in the reference)."""
    length = (count + 1) / 2
    if blocks and 2 * i + 1 == count:
        return wp.where(tap == 0, 2, 0)
    if blocks or count % 2 == 0:
        return wp.where(tap < 0, 0, 1)
    if tap < 0:
        return i
    return wp.where(tap == 0, length, length - 1 - i)


@wp.func
def _divisor(count: int, blocks: bool) -> int:
    return wp.where(blocks or count % 2 == 0, 2, count)


@wp.func
def _mean_of_four(source: wp.array4d(dtype=Any), image: int, y: int, x: int, c: int) -> float:
    upper = float(source[image, y, x, c]) * 0.25 + float(source[image, y, x + 1, c]) * 0.25
    lower = float(source[image, y + 1, x, c]) * 0.25 + float(source[image, y + 1, x + 1, c]) * 0.25
    return upper + lower


@wp.func
def _light(value: float, is_color: bool) -> float:
    """Linear light of a colour in sRGB (see `color`)."""
    if not is_color:
        return value
    size = wp.abs(value)
    if size <= 0.04045:
        return value / 12.92
    return wp.sign(value) * wp.pow((size + 0.055) / 1.055, 2.4)


@wp.func
def _encode(light: float, is_color: bool) -> float:
    if not is_color:
        return light
    size = wp.abs(light)
    if size <= 0.04045 / 12.92:
        return light * 12.92
    return wp.sign(light) * (1.055 * wp.pow(size, 1.0 / 2.4) - 0.055)


@wp.func
def _mean_of_nine(
    source: wp.array4d(dtype=Any), image: int, y: int, x: int, c: int, white: float, is_color: bool, blocks: bool
) -> float:
    height = source.shape[1]
    width = source.shape[2]
    total = float(0.0)
    for dy in range(-1, 2):
        weight_y = _share(y, dy, height, blocks)
        for dx in range(-1, 2):
            weight_x = _share(x, dx, width, blocks)
            # A pixel outside the image has weight 0 and must not be read; 0 * inf would be NaN, too.
            if weight_y > 0 and weight_x > 0:
                weight = (
                    float(weight_y)
                    / float(_divisor(height, blocks))
                    * (float(weight_x) / float(_divisor(width, blocks)))
                )
                total += _light(float(source[image, 2 * y + dy, 2 * x + dx, c]) / white, is_color) * weight
    return total


@compiled_for(wp.float16, wp.float32)
@wp.kernel(enable_backward=False)
def mean_level(source: wp.array4d(dtype=Any), target: wp.array4d(dtype=Any), blocks: bool):
    """Mean of the source pixels under each target pixel, in float32."""
    image, y, x, c = wp.tid()
    if source.shape[1] % 2 == 0 and source.shape[2] % 2 == 0:
        target[image, y, x, c] = target.dtype(_mean_of_four(source, image, 2 * y, 2 * x, c))
    else:
        target[image, y, x, c] = target.dtype(_mean_of_nine(source, image, y, x, c, 1.0, False, blocks))


@compiled_for(wp.float16, wp.float32)
@wp.kernel(enable_backward=False)
def srgb_mean_level(source: wp.array4d(dtype=Any), target: wp.array4d(dtype=Any), colors: int):
    """Mean as :func:`mean_level`, of the linear light of the first ``colors`` channels."""
    image, y, x, c = wp.tid()
    light = _mean_of_nine(source, image, y, x, c, 1.0, c < colors, False)
    target[image, y, x, c] = target.dtype(_encode(light, c < colors))


@wp.kernel(enable_backward=False)
def srgb_mean_level_bytes(source: wp.array4d(dtype=wp.uint8), target: wp.array4d(dtype=wp.uint8), colors: int):
    """Mean as :func:`srgb_mean_level`, rounded to nearest."""
    image, y, x, c = wp.tid()
    # 255 only for colours: the mean of alpha stays a sum of whole numbers, so that ties are exact where they can be.
    white = wp.where(c < colors, 255.0, 1.0)
    light = _mean_of_nine(source, image, y, x, c, white, c < colors, False)
    target[image, y, x, c] = wp.uint8(wp.rint(_encode(light, c < colors) * white))


@wp.kernel(enable_backward=False)
def mean_level_bytes(source: wp.array4d(dtype=wp.uint8), target: wp.array4d(dtype=wp.uint8), blocks: bool):
    """Mean as :func:`mean_level`, rounded to nearest and ties to even."""
    image, y, x, c = wp.tid()
    height = source.shape[1]
    width = source.shape[2]
    total = wp.int64(0)
    for dy in range(-1, 2):
        weight_y = _share(y, dy, height, blocks)
        for dx in range(-1, 2):
            weight_x = _share(x, dx, width, blocks)
            if weight_y > 0 and weight_x > 0:
                pixel = wp.int64(source[image, 2 * y + dy, 2 * x + dx, c])
                total += pixel * wp.int64(weight_y) * wp.int64(weight_x)
    divisor = wp.int64(_divisor(height, blocks)) * wp.int64(_divisor(width, blocks))
    quotient = total / divisor
    twice_rest = wp.int64(2) * (total - quotient * divisor)
    # Half an odd quotient up, half an even one down.
    rounds_up = twice_rest + quotient % wp.int64(2) > divisor
    target[image, y, x, c] = wp.uint8(wp.where(rounds_up, quotient + wp.int64(1), quotient))


@wp.func
def _reaches(value: Any, against: Any, smallest: bool) -> bool:
    beyond = wp.where(smallest, value > against, value < against)
    return not beyond  # NaN reaches everything


@compiled_for(wp.uint8, wp.float16, wp.float32)
@wp.kernel(enable_backward=False)
def rect_extremum(
    data: wp.array(dtype=Any),
    offsets: wp.array(dtype=wp.int32),
    sizes: wp.array2d(dtype=wp.int32),
    rects: wp.array2d(dtype=wp.int32),
    batch_index: wp.array(dtype=wp.int32),
    images: int,
    against: wp.array(dtype=Any),
    finer: int,
    nothing: Any,
    smallest: bool,
    result: wp.array(dtype=Any),
):
    """Extremum of at most 2 x 2 pixels, at the finest level where the rectangle spans no more; else ``nothing``.

    Where that reaches ``against`` (may be empty), look again at up to ``finer`` further levels, in each as far as the
    first pixel that does; the result is then ``against``, else ``nothing``.
    """
    k = wp.tid()
    image = batch_index[k]
    x0 = wp.max(rects[k, 0], 0)
    y0 = wp.max(rects[k, 1], 0)
    x1 = wp.min(rects[k, 2], sizes[0, 1] - 1)
    y1 = wp.min(rects[k, 3], sizes[0, 0] - 1)
    best = nothing
    if x0 <= x1 and y0 <= y1 and image >= 0 and image < images:
        level = int(0)
        # Ends on top at the latest: that is one pixel, where both differences are 0.
        while wp.max((x1 >> level) - (x0 >> level), (y1 >> level) - (y0 >> level)) > 1:
            level += 1
        begin = offsets[level] + image * sizes[level, 0] * sizes[level, 1]
        for y in range(y0 >> level, (y1 >> level) + 1):
            for x in range(x0 >> level, (x1 >> level) + 1):
                best = _better(data[begin + y * sizes[level, 1] + x], best, smallest)
        last = level
        if against.shape[0] > 0:
            last = wp.max(level - finer, 0)
        while level > last and _reaches(best, against[k], smallest):
            level -= 1
            begin = offsets[level] + image * sizes[level, 0] * sizes[level, 1]
            best = nothing
            y = y0 >> level
            while y <= y1 >> level:
                x = x0 >> level
                while x <= x1 >> level:
                    best = _better(data[begin + y * sizes[level, 1] + x], best, smallest)
                    x += 1
                    if _reaches(best, against[k], smallest):
                        # Both loops end.
                        x = sizes[level, 1]
                        y = sizes[level, 0]
                y += 1
        if against.shape[0] > 0:
            best = wp.where(_reaches(best, against[k], smallest), against[k], nothing)
    result[k] = best

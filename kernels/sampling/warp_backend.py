"""Look-ups in a pyramid by Warp, one thread per value; by its texture units, one thread per point and level.

A texture cannot be written after it was made with levels, and Warp makes their sizes by halving down: so each level is
a texture of its own, and what lies between levels is added up here.
"""

# Warp compiles this file itself: its types are not Python types, and variables that a loop changes are declared by a
# cast.
# pyright: reportInvalidTypeForm=false, reportOperatorIssue=false, reportAssignmentType=false
# pyright: reportGeneralTypeIssues=false, reportArgumentType=false, reportCallIssue=false, reportReturnType=false
# pyright: reportIndexIssue=false, reportAttributeAccessIssue=false
# ruff: noqa: UP018, RUF046

from __future__ import annotations

from typing import Any

import numpy as np

from hra.kernels.backends import device_of, dtype_of
from hra.kernels.pyramids.levels.warp_backend import check_size
from hra.kernels.sampling.sample import MOST_PROBES, Look, check_channels
from hra.kernels.warp_arrays import compiled_for, like, new, view, wp, zeros

# Fused multiply-adds would round otherwise than the host does.
wp.set_module_options({"fuse_fp": False, "enable_backward": False})
_MOST = wp.constant(wp.float64(MOST_PROBES))
_ONE = wp.constant(wp.float64(1.0))
_HALF = wp.constant(wp.float64(0.5))
_ZERO = wp.constant(wp.float64(0.0))


@compiled_for(wp.float32, wp.float64)
@wp.kernel
def plan_levels(
    points: wp.array2d(dtype=Any), level: wp.array(dtype=Any), top: wp.float64, probes: wp.array2d(dtype=wp.float64)
):
    """One look-up per point: count, side, level and place, [K, 6]."""
    k = wp.tid()
    probes[k, 4] = wp.float64(points[k, 0])
    probes[k, 5] = wp.float64(points[k, 1])
    wanted = wp.float64(level[k])
    probes[k, 0] = _ONE
    probes[k, 1] = _ZERO
    probes[k, 2] = _ZERO
    probes[k, 3] = wp.where(wanted == wanted, wp.clamp(wanted, _ZERO, top), wanted)


@compiled_for(wp.float32, wp.float64)
@wp.kernel
def plan_footprints(
    points: wp.array2d(dtype=Any), sides: wp.array3d(dtype=Any), top: wp.float64, probes: wp.array2d(dtype=wp.float64)
):
    """As many look-ups as the footprint is longer than wide, [K, 6]."""
    k = wp.tid()
    probes[k, 4] = wp.float64(points[k, 0])
    probes[k, 5] = wp.float64(points[k, 1])
    ax, ay = wp.float64(sides[k, 0, 0]), wp.float64(sides[k, 0, 1])
    bx, by = wp.float64(sides[k, 1, 0]), wp.float64(sides[k, 1, 1])
    first, second = wp.sqrt(ax * ax + ay * ay), wp.sqrt(bx * bx + by * by)
    broken = first != first or second != second
    first, second = wp.max(first, _ONE), wp.max(second, _ONE)
    longer = wp.max(first, second)
    count = wp.ceil(wp.clamp(longer / wp.min(first, second), _ONE, _MOST))
    level = wp.clamp(wp.log2(longer / count), _ZERO, top)
    probes[k, 0] = wp.where(broken, _ONE, count)
    probes[k, 1] = wp.where(first >= second, ax, bx)
    probes[k, 2] = wp.where(first >= second, ay, by)
    probes[k, 3] = wp.where(broken, wp.float64(wp.nan), level)


@wp.func
def _inside(position: wp.float64, count: int) -> wp.float64:
    return wp.clamp(position, _ZERO, wp.float64(count - 1))


@wp.func
def _bilinear(
    data: wp.array(dtype=Any),
    begin: int,
    height: int,
    width: int,
    channels: int,
    place: wp.vec2d,
) -> float:
    x = _inside(place[0], width)
    y = _inside(place[1], height)
    left = int(x)
    top = int(y)
    right = wp.min(left + 1, width - 1)
    bottom = wp.min(top + 1, height - 1)
    across = float(x - wp.float64(left))
    down = float(y - wp.float64(top))
    upper = begin + top * width * channels
    under = begin + bottom * width * channels
    above = (1.0 - across) * float(data[upper + left * channels]) + across * float(data[upper + right * channels])
    below = (1.0 - across) * float(data[under + left * channels]) + across * float(data[under + right * channels])
    return (1.0 - down) * above + down * below


@compiled_for(wp.uint8, wp.float16, wp.float32)
@wp.kernel
def sample_values(
    data: wp.array(dtype=Any),
    offsets: wp.array(dtype=wp.int32),
    sizes: wp.array2d(dtype=wp.int32),
    maps: wp.array2d(dtype=wp.float64),
    index: wp.array(dtype=wp.int32),
    images: int,
    probes: wp.array2d(dtype=wp.float64),
    values: wp.array2d(dtype=wp.float32),
):
    """One channel of one point."""
    k, c = wp.tid()
    image = int(0)
    if index.shape[0] > 0:
        image = index[k]
    level = probes[k, 3]
    total = float(0.0)
    if level != level or image < 0 or image >= images:
        total = wp.nan
    else:
        finest = int(level)
        share = float(level - wp.float64(finest))
        channels = values.shape[1]
        count = int(probes[k, 0])
        for probe in range(count):
            away = (wp.float64(probe) + _HALF) / probes[k, 0] - _HALF
            x = probes[k, 4] + probes[k, 1] * away
            y = probes[k, 5] + probes[k, 2] * away
            if x != x or y != y:
                total = wp.nan
            else:
                # Both levels; the coarser one is not read where it does not count.
                for step in range(2):
                    weight = wp.where(step == 0, 1.0 - share, share)
                    if weight > 0.0:
                        n = finest + step
                        begin = offsets[n] + image * sizes[n, 0] * sizes[n, 1] * channels + c
                        place = wp.vec2d(x * maps[n, 0] + maps[n, 1], y * maps[n, 2] + maps[n, 3])
                        found = _bilinear(data, begin, sizes[n, 0], sizes[n, 1], channels, place)
                        total += weight * found / float(count)
    values[k, c] = total


@wp.kernel
def add_texture(
    texture: wp.Texture2D,
    number: int,
    image: int,
    white: float,
    map: wp.vec4d,
    index: wp.array(dtype=wp.int32),
    probes: wp.array2d(dtype=wp.float64),
    values: wp.array(dtype=wp.vec4),
):
    """Add what one level of one image has to a point, read by the texture unit."""
    k = wp.tid()
    own = int(0)
    if index.shape[0] > 0:
        own = index[k]
    level = probes[k, 3]
    weight = 1.0 - wp.abs(float(level - wp.float64(number)))
    if level != level:
        values[k] = wp.vec4(wp.nan)
    elif own == image and weight > 0.0:
        count = int(probes[k, 0])
        total = wp.vec4(0.0)
        for probe in range(count):
            away = (wp.float64(probe) + _HALF) / probes[k, 0] - _HALF
            x = (probes[k, 4] + probes[k, 1] * away) * map[0] + map[1]
            y = (probes[k, 5] + probes[k, 2] * away) * map[2] + map[3]
            if x != x or y != y:
                total += wp.vec4(wp.nan)
            else:
                place = wp.vec2(float(x) + 0.5, float(y) + 0.5)
                total += wp.texture_sample(texture, place, dtype=wp.vec4)
        values[k] = values[k] + total * (white * weight / float(count))


def sample(look: Look) -> Any:
    """Values float32 [K, C], on the pyramid's device."""
    check_size(look.layout)
    device, layout = device_of(look.data), look.layout
    count = look.points.shape[0]
    values = new((count, layout.channels), wp.float32, device)
    if count:
        offsets = wp.array(layout.offsets[:-1], dtype=wp.int32, device=device)
        sizes = wp.array(np.array(layout.sizes, np.int32), dtype=wp.int32, device=device)
        maps = wp.array(look.maps, dtype=wp.float64, device=device)
        given = [_index(look, device), layout.images, _probes(look, device)]
        inputs = [view(look.data), offsets, sizes, maps, *given]
        wp.launch(sample_values, values.shape, [*inputs, values], device=device)
    return like(values, look.data)


def sample_by_hardware(look: Look) -> Any:
    """`sample`, filtered within a level by the texture units."""
    check_channels(look.layout, "backend 'warp'")
    device, layout = device_of(look.data), look.layout
    count, white = look.points.shape[0], 255.0 if dtype_of(look.data) == np.uint8 else 1.0
    values = zeros(count, wp.vec4, device)
    if count:
        given = [_index(look, device), _probes(look, device), values]
        for number, level in enumerate(layout.stacks(view(look.data))):
            for image in range(layout.images):
                texture = _texture(level[image], device)
                map = wp.vec4d(*look.maps[number])
                wp.launch(add_texture, count, [texture, number, image, white, map, *given], device=device)
    if not count:
        return like(new((0, layout.channels), wp.float32, device), look.data)
    return like(values.view(wp.float32).reshape((count, 4))[:, : layout.channels].contiguous(), look.data)


def _texture(pixels: Any, device: Any) -> Any:
    """A texture over a copy of ``pixels`` [H, W, C], with four channels."""
    height, width, channels = pixels.shape
    padded = wp.zeros((height, width, 4), dtype=pixels.dtype, device=device)
    wp.copy(padded[:, :, :channels], pixels)
    return wp.Texture2D(padded, normalized_coords=False, device=device)


def _index(look: Look, device: Any) -> Any:
    return new(0, wp.int32, device) if look.index is None else view(look.index)


def _probes(look: Look, device: Any) -> Any:
    probes = new((look.points.shape[0], 6), wp.float64, device)
    kernel, given = (plan_levels, look.level) if look.footprint is None else (plan_footprints, look.footprint)
    top = wp.float64(len(look.layout.sizes) - 1)
    wp.launch(kernel, probes.shape[0], [view(look.points), view(given), top, probes], device=device)
    return probes

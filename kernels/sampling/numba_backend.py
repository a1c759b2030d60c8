"""Look-ups in a pyramid by Numba, many points with a thread per core."""

from __future__ import annotations

import numpy as np

from hra.compiling import njit
from hra.kernels.row_blocks import for_each, ranges
from hra.kernels.sampling.sample import Look, probes

# Of the types that there are otherwise: for others all would be compiled again.
_NO_INDEX, _NO_COUNT, _NO_SIDES = np.empty(0, np.int32), np.empty(0, np.int64), np.empty((0, 2))


def sample(look: Look) -> np.ndarray:
    """Values float32 [K, C]."""
    # Numba has no float16 on the CPU.
    data = np.ascontiguousarray(look.data, np.float32) if look.data.dtype == np.float16 else look.data
    sizes, offsets = np.array(look.layout.sizes, np.int64), np.array(look.layout.offsets, np.int64)
    values = np.empty((len(look.points), look.layout.channels), np.float32)

    def work(part: slice) -> None:
        image = _NO_INDEX if look.index is None else look.index[part]
        if look.level is None:
            count, along, level = probes(look, part)
        else:
            count, along, level = _NO_COUNT, _NO_SIDES, np.ascontiguousarray(look.level[part], np.float64)
        points = np.ascontiguousarray(look.points[part], np.float64)
        _sample(data, offsets, sizes, look.maps, image, points, count, along, level, values[part])

    for_each(ranges(len(values)), 4 * values.nbytes, work)
    return values


@njit(cache=True, nogil=True)
def _sample(data, offsets, sizes, maps, image, points, count, along, level, values):
    # One flat loop: with functions for its parts it takes four times as long.
    channels, top, one = values.shape[1], np.float64(len(sizes) - 1), np.float32(1)
    for k in range(len(points)):
        own, number = image[k] if image.size else 0, count[k] if count.size else 1
        wanted = min(max(level[k], 0.0), top)
        finest = int(wanted) if wanted == wanted else 0
        coarser = np.float32(wanted - finest)
        for probe in range(number):
            x, y = points[k]
            if count.size:
                away = (probe + 0.5) / number - 0.5
                x, y = x + along[k, 0] * away, y + along[k, 1] * away
            if x != x or y != y or wanted != wanted:
                for c in range(channels):
                    values[k, c] = np.nan
                continue
            for step in range(2):
                weight = (coarser if step else one - coarser) / np.float32(number)
                if weight > 0:
                    height, width = sizes[finest + step]
                    left, right, across = between(x * maps[finest + step, 0] + maps[finest + step, 1], width)
                    top_row, bottom, down = between(y * maps[finest + step, 2] + maps[finest + step, 3], height)
                    begin = offsets[finest + step] + own * height * width * channels
                    upper, under = begin + top_row * width * channels, begin + bottom * width * channels
                    above, below = weight * (one - down), weight * down
                    w, v, u, t = above * (one - across), above * across, below * (one - across), below * across
                    i, j = upper + left * channels, upper + right * channels
                    m, n = under + left * channels, under + right * channels
                    if probe + step == 0:
                        for c in range(channels):
                            values[k, c] = w * data[i + c] + v * data[j + c] + u * data[m + c] + t * data[n + c]
                    else:
                        for c in range(channels):
                            values[k, c] += w * data[i + c] + v * data[j + c] + u * data[m + c] + t * data[n + c]


@njit(cache=True, nogil=True)
def between(position, count):
    """The two neighbours of a position among ``count`` cells, and how far it lies from the first to the second."""
    inside = min(max(position, 0.0), count - 1.0)
    first = int(inside)
    return first, min(first + 1, count - 1), np.float32(inside - first)

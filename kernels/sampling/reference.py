"""Look-ups in a pyramid in plain NumPy, level by level and probe by probe."""

from __future__ import annotations

import numpy as np

from hra.kernels.sampling.sample import Look, images_of, probes


def sample(look: Look) -> np.ndarray:
    """Values float32 [K, C]."""
    count, along, level = probes(look)
    values = np.zeros((len(count), look.layout.channels))
    for probe in range(count.max(initial=0)):
        points = look.points + along * ((probe + 0.5) / count - 0.5)[:, None]
        values += np.where((probe < count)[:, None], _trilinear(look, points, level), 0) / count[:, None]
    return values.astype(np.float32)


def _trilinear(look: Look, points: np.ndarray, level: np.ndarray) -> np.ndarray:
    values = np.zeros((len(points), look.layout.channels))
    values[np.isnan(level) | np.isnan(points).any(axis=1)] = np.nan
    for number, pixels in enumerate(look.layout.stacks(look.data)):
        weight = np.maximum(1 - np.abs(level - number), 0)
        here = weight > 0
        inside = np.nan_to_num(points[here], posinf=np.inf, neginf=-np.inf)
        found = _bilinear(pixels, images_of(look)[here], inside * look.maps[number, ::2] + look.maps[number, 1::2])
        values[here] += weight[here, None] * found
    return values


def _bilinear(pixels: np.ndarray, image: np.ndarray, places: np.ndarray) -> np.ndarray:
    """Values [K, C] of ``pixels`` [B, H, W, C] between the four around ``places`` [K, 2]."""
    last = np.array(pixels.shape[2:0:-1]) - 1
    inside = np.clip(places, 0, last)
    first = inside.astype(np.int64)
    (left, top), (right, bottom) = first.T, np.minimum(first + 1, last).T
    across, down = (inside - first).T[..., None]
    upper = (1 - across) * pixels[image, top, left] + across * pixels[image, top, right]
    under = (1 - across) * pixels[image, bottom, left] + across * pixels[image, bottom, right]
    return (1 - down) * upper + down * under

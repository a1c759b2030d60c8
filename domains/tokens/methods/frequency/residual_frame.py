"""The Haar split: each scale is what the next coarser one, repeated, leaves wrong."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from hra.domains.tokens.methods.frequency.band_tokens import band_values
from hra.domains.tokens.methods.frequency.frames import Band, Frame
from hra.domains.tokens.pyramid.interpolation import halve
from hra.domains.tokens.pyramid.pyramid import PatchPyramid, full_depth
from hra.errors import ArrayError
from hra.model.arrays import POSITIVE, whole_in


@dataclass(frozen=True)
class HaarFrame(Frame):
    """Means of 2 x 2 pixels, and what is missing to the finer level. Residuals of all scales are orthogonal.

    The image is extended to whole cells (see `cell`) by repeating its edge, so that every mean is one of four pixels.

    Parameters
    ----------
    scales : at most this many, the means included.
    """

    scales: int = 5

    def __post_init__(self) -> None:
        object.__setattr__(self, "scales", whole_in("scales", self.scales, POSITIVE, ArrayError))

    def bands(self, image_size: tuple[int, int], patch: int) -> list[Band]:
        """Residuals from fine to coarse, then the means."""
        cell = self.cell(image_size, patch)
        height, width = (-(-extent // cell) * cell for extent in image_size)
        levels = range(self._depth(image_size, patch))
        return [Band(height >> level, width >> level, level, 4.0**level) for level in levels]

    def analyse(self, image: np.ndarray, patch: int) -> list[np.ndarray]:
        """The residual of every level, and the means of the coarsest."""
        levels = self._halvings(image, patch)
        return [fine - _repeat(coarse) for fine, coarse in pairwise(levels)] + levels[-1:]

    def levels(self, pyramid: PatchPyramid) -> list[np.ndarray]:
        """The means of every scale, float32 [h, w, 3]: those of the pyramid, if its patches are whole and enough."""
        size, depth = pyramid.image.shape[:2], self._depth(pyramid.image.shape[:2], pyramid.patch)
        cell = self.cell(size, pyramid.patch)
        if depth <= len(pyramid.levels) and not any(extent % cell for extent in size):
            return list(pyramid.levels[:depth])
        return pyramid.once((self, "levels"), lambda: self._halvings(pyramid.image, pyramid.patch))

    def _halvings(self, image: np.ndarray, patch: int) -> list[np.ndarray]:
        rows, columns = (-extent % self.cell(image.shape[:2], patch) for extent in image.shape[:2])
        levels = [np.pad(image, ((0, rows), (0, columns), (0, 0)), mode="edge")]
        while len(levels) < self._depth(image.shape[:2], patch):
            levels.append(halve(levels[-1]))
        return levels

    def synthesise(self, coefficients: Sequence[np.ndarray], image_size: tuple[int, int], patch: int) -> np.ndarray:
        """Each scale repeated and added to the next finer one, from the means on."""
        *residuals, image = self._checked(coefficients, image_size, patch)
        for residual in reversed(residuals):
            image = _repeat(image) + residual
        return image[: image_size[0], : image_size[1]]

    def cell(self, image_size: tuple[int, ...], patch: int) -> int:
        """Side in pixels of squares that no coefficient crosses: a patch, or one of the coarsest scale's pixels."""
        coarsest = 2 ** (self._depth(image_size, patch) - 1)
        return patch if patch % coarsest == 0 else coarsest

    def _depth(self, image_size: tuple[int, ...], patch: int) -> int:
        return min(self.scales, full_depth(image_size, patch))


def _repeat(pixels: np.ndarray) -> np.ndarray:
    """Every pixel as 2 x 2 pixels."""
    return pixels.repeat(2, axis=0).repeat(2, axis=1)


def residual_values(levels: Sequence[np.ndarray], positions: np.ndarray, patch: int) -> np.ndarray:
    """Residuals of patches (level, x, y) [K, 3] of even sides, 0 beyond the border: float32 [K, patch * patch * 3]."""
    values = band_values(levels, positions, patch)
    below = positions[:, 0] < len(levels) - 1
    level, x, y = positions[below].T
    coarse = band_values(levels, np.stack([level + 1, x, y], axis=1), patch // 2).reshape(-1, patch // 2, patch // 2, 3)
    values[below] -= coarse.repeat(2, axis=1).repeat(2, axis=2).reshape(len(coarse), 3 * patch**2)
    return values

"""Ways to split an image into bands that add up to it again."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from hra.domains.tokens.pyramid.pyramid import full_depth
from hra.errors import ArrayError
from hra.kernels import LaplacianPyramid, SteerablePyramid, laplacian_pyramid, steerable_pyramid
from hra.kernels.pyramids.levels.pyramid import Layout
from hra.model.arrays import to_numpy


@dataclass(frozen=True)
class Band:
    """One band of an image.

    Parameters
    ----------
    height, width : in coefficients, each of 3 channels.
    level : log2 of the pixels along a coefficient's side.
    norm : how much a squared coefficient counts as squared error of the image; of Laplacian bands, up to twice that.
    direction : degrees from +x in which the structures of the band run (edges, strokes, lines of text), 0 to below
        180; None for all directions.
    """

    height: int
    width: int
    level: int
    norm: float = 1.0
    direction: float | None = None


class Frame(ABC):
    """A linear split of an image into bands; the last one is the low-pass rest.

    Depths are those of the patch pyramid: the rest is about one patch along the image's longer side.
    """

    @abstractmethod
    def bands(self, image_size: tuple[int, int], patch: int) -> list[Band]:
        """The bands of an image of (height, width) pixels."""

    @abstractmethod
    def analyse(self, image: np.ndarray, patch: int) -> list[np.ndarray]:
        """Coefficients float32 [height, width, 3] of every band of an image float32 [H, W, 3]."""

    @abstractmethod
    def synthesise(self, coefficients: Sequence[np.ndarray], image_size: tuple[int, int], patch: int) -> np.ndarray:
        """The image float32 [H, W, 3] of the coefficients of all bands."""

    def _checked(self, coefficients: Sequence[Any], image_size: tuple[int, int], patch: int) -> list[np.ndarray]:
        """Coefficients as arrays, which `synthesise` reads; ArrayError : others than those of all bands."""
        arrays = [to_numpy(values) for values in coefficients]
        shapes = [(band.height, band.width, 3) for band in self.bands(image_size, patch)]
        if [values.shape for values in arrays] != shapes:
            what = f"coefficients of shapes {[values.shape for values in arrays]}, not {shapes}"
            raise ArrayError(what, where="coefficients", fix="pass those of all bands, as analyse returns them")
        return arrays


@dataclass(frozen=True)
class LaplacianFrame(Frame):
    """Band-pass levels of Burt and Adelson, see `hra.kernels.laplacian_pyramid`: 4/3 coefficients per pixel.

    Examples
    --------
    >>> import numpy as np
    >>> from hra.domains import tokens
    >>> image = np.random.default_rng(0).random((128, 192, 3), dtype=np.float32)
    >>> frame = tokens.LaplacianFrame()
    >>> coefficients = frame.analyse(image, 16)
    >>> [band.level for band in frame.bands((128, 192), 16)]
    [0, 1, 2, 3, 4]
    >>> np.allclose(frame.synthesise(coefficients, (128, 192), 16), image, atol=1e-5)
    True
    """

    def bands(self, image_size: tuple[int, int], patch: int) -> list[Band]:
        """From fine to coarse."""
        sizes = Layout.of((*image_size, 3), full_depth(image_size, patch)).sizes
        return [Band(height, width, level, 4.0**level) for level, (height, width) in enumerate(sizes)]

    def analyse(self, image: np.ndarray, patch: int) -> list[np.ndarray]:
        """The levels of the pyramid."""
        return list(laplacian_pyramid(image, full_depth(image.shape[:2], patch)).levels)

    def synthesise(self, coefficients: Sequence[np.ndarray], image_size: tuple[int, int], patch: int) -> np.ndarray:
        """The sum of the expanded levels."""
        bands = self._checked(coefficients, image_size, patch)
        layout = Layout.of((*image_size, 3), full_depth(image_size, patch))
        return LaplacianPyramid(np.concatenate([band.ravel() for band in bands]), layout).reconstruct()


@dataclass(frozen=True)
class SteerableFrame(Frame):
    """Scales times four directions, see `hra.kernels.steerable_pyramid`: 6 1/3 coefficients per pixel, a tight frame.

    A wave that runs along x has crests along y: the kernel's angle of the wave and the direction here differ by 90.

    Examples
    --------
    >>> import numpy as np
    >>> from hra.domains import tokens
    >>> image = np.random.default_rng(0).random((128, 192, 3), dtype=np.float32)
    >>> frame = tokens.SteerableFrame()
    >>> [band.direction for band in frame.bands((128, 192), 16)][:6]
    [None, 90.0, 135.0, 0.0, 45.0, 90.0]
    >>> np.allclose(frame.synthesise(frame.analyse(image, 16), (128, 192), 16), image, atol=1e-4)
    True
    """

    orientations: int = 4

    def bands(self, image_size: tuple[int, int], patch: int) -> list[Band]:
        """The high-pass rest, the directions of each scale from fine to coarse, the low-pass rest."""
        scales, (height, width) = self._scales(image_size, patch), image_size
        bands = [Band(height, width, 0)]
        for level in range(scales):
            shape = (-(-height >> level), -(-width >> level))
            directions = [(180 * k / self.orientations + 90) % 180 for k in range(self.orientations)]
            bands += [Band(*shape, level, direction=direction) for direction in directions]
        return [*bands, Band(-(-height >> scales), -(-width >> scales), scales)]

    def analyse(self, image: np.ndarray, patch: int) -> list[np.ndarray]:
        """All bands of the pyramid."""
        pyramid = steerable_pyramid(image, self._scales(image.shape[:2], patch), self.orientations)
        return [pyramid.highpass, *(band for scale in pyramid.bands for band in scale), pyramid.lowpass]

    def synthesise(self, coefficients: Sequence[np.ndarray], image_size: tuple[int, int], patch: int) -> np.ndarray:
        """The transposed transform, which is the inverse of a tight frame."""
        highpass, *oriented, lowpass = self._checked(coefficients, image_size, patch)
        starts = range(0, len(oriented), self.orientations)
        scales = tuple(np.stack(oriented[start : start + self.orientations]) for start in starts)
        return SteerablePyramid(highpass, scales, lowpass).reconstruct()

    def _scales(self, image_size: tuple[int, int], patch: int) -> int:
        return max(full_depth(image_size, patch) - 1, 1)

"""Tokens that carry the coefficients of one band in one place."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, final

import numpy as np

from hra.caching import cached_property
from hra.domains.tokens.embedding.feature_grid import Regions
from hra.domains.tokens.embedding.features import Encoder
from hra.domains.tokens.methods.frequency.frames import Band, Frame
from hra.domains.tokens.pyramid.blocks import block_squares
from hra.domains.tokens.pyramid.pyramid import PatchPyramid
from hra.domains.tokens.token_sets.position_codes import finest_on_top
from hra.domains.tokens.token_sets.token_set import TokenSet
from hra.errors import ArrayError

_OTHER = "use a method whose tokens are patches, regions or samples, or the coefficients themselves, values"


@final
@dataclass(frozen=True, eq=False, repr=False)
class BandTokens(TokenSet):
    """K tokens, each a patch of patch x patch coefficients of one band. What they show adds up.

    Attributes
    ----------
    values : float32 [K, patch * patch * 3], row by row, channels last; 0 beyond the band's border.
    places : int32 [K, 3], (band, x, y) in patches of that band.
    relevance : float64 [K], mean relevance of the token's region.
    image_size : (height, width) of the image in pixels.
    patch : coefficients along a side.
    frame : what the bands are.
    fixations : float64 [K, 2] or None, see `TokenSet`.

    Examples
    --------
    >>> import numpy as np
    >>> from hra.domains import tokens
    >>> image = np.random.default_rng(0).random((128, 192, 3), dtype=np.float32)
    >>> allocator = tokens.FrequencyAware()
    >>> bands = allocator.realize(allocator.allocate((image, ""), budget=20))
    >>> isinstance(bands, tokens.BandTokens), bands.places.shape
    (True, (20, 3))
    """

    values: np.ndarray
    places: np.ndarray
    relevance: np.ndarray
    image_size: tuple[int, int]
    patch: int
    frame: Frame
    fixations: np.ndarray | None = None

    @property
    def boxes(self) -> np.ndarray:
        """Pixels (x0, y0, x1, y1), end excluded, under each token's coefficients, int32 [K, 4]."""
        return band_boxes(self._bands, self.places, self.patch, self.image_size)

    @property
    def detail(self) -> np.ndarray:
        """log2 of the pixels along a coefficient's side, float32 [K]."""
        return np.array([band.level for band in self._bands], np.float32)[self.places[:, 0]]

    def token_map(self) -> np.ndarray:
        """The token of finest scale that lies over each pixel, -1 for none: int32 [H, W]."""
        return finest_on_top(self.boxes, self.detail, self.image_size)

    def reconstruct(self) -> np.ndarray:
        """The sum of what the tokens show, float32 [H, W, 3], clipped to [0, 1]; the image, if all are here."""
        coefficients = paste(self.values, self.places, self._bands, self.patch)
        return np.clip(self.frame.synthesise(coefficients, self.image_size, self.patch), 0, 1)

    def encode(self, encoder: Encoder, image: Any = None) -> Any:
        """Refused: coefficients are not picture.

        Raises
        ------
        ArrayError : always.
        """
        raise ArrayError("coefficients of bands are not pictures", where="BandTokens.encode", fix=_OTHER)

    @property
    def _regions(self) -> Regions:
        """What each token stands for.

        Raises
        ------
        ArrayError : a band-pass token, which is a difference of means; the low-pass rest is one.
        """
        if (self.places[:, 0] != len(self._bands) - 1).any():
            what = "band-pass tokens are differences, so a mean of features cannot represent them"
            raise ArrayError(what, where="BandTokens", fix=_OTHER)
        return super()._regions

    @property
    def _bands(self) -> list[Band]:
        return self.frame.bands(self.image_size, self.patch)


@dataclass(frozen=True, eq=False)
class BandPatches:
    """The bands of an image, cut into patches; the same for every query.

    Attributes
    ----------
    bands : from fine to coarse; coefficients : float32 [h, w, 3] of each.
    positions : int32 [N, 3], (band, x, y) of every patch.
    boxes : int32 [N, 4], see `band_boxes`; patch : coefficients along a side.
    """

    bands: Sequence[Band]
    coefficients: Sequence[np.ndarray]
    positions: np.ndarray
    boxes: np.ndarray
    patch: int

    @classmethod
    def of(cls, pyramid: PatchPyramid, frame: Frame) -> BandPatches:
        """What ``frame`` makes of an image, computed once."""
        return pyramid.once((frame, "bands"), lambda: cls._make(pyramid, frame))

    @classmethod
    def _make(cls, pyramid: PatchPyramid, frame: Frame) -> BandPatches:
        image, patch = pyramid.image, pyramid.patch
        size = (image.shape[0], image.shape[1])
        bands = frame.bands(size, patch)
        positions = band_positions(bands, patch)
        boxes = band_boxes(bands, positions, patch, size)
        return cls(bands, frame.analyse(image, patch), positions, boxes, patch)

    @cached_property
    def energy(self) -> np.ndarray:
        """Squared values of every patch times the norm of its band, float64 [N]."""
        pairs = zip(self.bands, self.coefficients, strict=True)
        return np.concatenate([band.norm * block_squares(each, self.patch).ravel() for band, each in pairs])

    def values(self, cut: np.ndarray) -> np.ndarray:
        """Coefficients of the patches ``cut`` [K], 0 beyond the border of their band: [K, patch * patch * 3]."""
        return band_values(self.coefficients, self.positions[cut], self.patch)


def band_positions(bands: Sequence[Band], patch: int) -> np.ndarray:
    """(band, x, y) of every patch of every band, int32 [N, 3], band by band, row by row."""
    grids = [np.indices((-(-band.height // patch), -(-band.width // patch)), np.int32) for band in bands]
    parts = [np.stack([np.full_like(x, band), x, y], axis=-1).reshape(-1, 3) for band, (y, x) in enumerate(grids)]
    return np.concatenate(parts)


def band_values(coefficients: Sequence[np.ndarray], positions: np.ndarray, patch: int) -> np.ndarray:
    """Coefficients [h, w, 3] of all bands as the patches (band, x, y) [K, 3]: float32 [K, patch * patch * 3]."""
    values = np.zeros((len(positions), patch, patch, 3), np.float32)
    for into, (band, x, y) in zip(values, positions.tolist(), strict=True):
        block = coefficients[band][y * patch : (y + 1) * patch, x * patch : (x + 1) * patch]
        into[: block.shape[0], : block.shape[1]] = block
    return values.reshape(len(positions), 3 * patch**2)


def paste(values: np.ndarray, positions: np.ndarray, bands: Sequence[Band], patch: int) -> list[np.ndarray]:
    """Coefficients float32 [h, w, 3] of all bands from patches; 0 where there is none."""
    coefficients = []
    for number, band in enumerate(bands):
        here = positions[:, 0] == number
        rows, columns = -(-band.height // patch), -(-band.width // patch)
        blocks = np.zeros((rows, patch, columns, patch, 3), np.float32)
        blocks[positions[here, 2], :, positions[here, 1]] = values[here].reshape(-1, patch, patch, 3)
        coefficients.append(blocks.reshape(rows * patch, columns * patch, 3)[: band.height, : band.width])
    return coefficients


def band_boxes(bands: Sequence[Band], positions: np.ndarray, patch: int, image_size: tuple[int, int]) -> np.ndarray:
    """Pixels (x0, y0, x1, y1), end excluded, under patches (band, x, y) [K, 3], int32 [K, 4]."""
    side = patch << np.array([band.level for band in bands])[positions[:, 0], None]
    low = positions[:, 1:] * side
    return np.concatenate([low, np.minimum(low + side, image_size[::-1])], axis=1).astype(np.int32)

"""Residual scales: means of the whole image first, then what is missing, where it matters.

What residuals of the Haar split are worth comes straight from the means of two levels: no residual is held.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from hra.compiling import njit
from hra.domains.tokens.allocator import TokenAllocator
from hra.domains.tokens.context.context import Relevance, TokenContext
from hra.domains.tokens.context.token_builder import TokenBuilder
from hra.domains.tokens.embedding.embeddings import pool_regions
from hra.domains.tokens.embedding.feature_grid import FeatureGrid, Regions
from hra.domains.tokens.methods.frequency.band_tokens import BandTokens, band_boxes, band_positions
from hra.domains.tokens.methods.frequency.residual_frame import HaarFrame, residual_values
from hra.domains.tokens.methods.whole_image import covers
from hra.domains.tokens.patches.metrics import AttributeGain
from hra.domains.tokens.token_sets.position_codes import mean_over_boxes
from hra.model.hierarchy import Hierarchy
from hra.traversals.hull import Hull


def residual_gains(levels: Sequence[np.ndarray], weight: np.ndarray, cell: int, patch: int) -> np.ndarray:
    """What each patch of each scale takes off the relevance-weighted mean squared error, float64 [N].

    The mean is over the extended image, in which the residuals are orthogonal: a squared one counts for all pixels that
    it covers.

    Parameters
    ----------
    levels : float32 [h, w, C], see `HaarFrame.levels`.
    weight : [rows, columns] of cells of ``cell`` pixels, which no coefficient crosses.
    patch : coefficients along a side.
    """
    share = weight / (3 * cell**2 * weight.sum())
    gains = []
    for number, level in enumerate(levels):
        height, width, channels = level.shape
        gain = np.zeros((-(-height // patch), -(-width // patch)))
        across = (4.0**number * share)[:, np.arange(width) * 2**number // cell].repeat(channels, axis=1)
        # The means of the coarsest scale are taken as they are.
        coarse = levels[number + 1] if number + 1 < len(levels) else np.zeros((0, 0, channels), np.float32)
        _add_weighted(level.reshape(height, -1), coarse, across, 2**number, cell, (patch, channels), gain)
        gains.append(gain.ravel())
    return np.concatenate(gains)


@njit(cache=True, nogil=True)
def _add_weighted(level, coarse, weight, step, cell, shape, gain):
    """Squared residuals times ``weight`` [cells down, numbers across], summed over patches of ``shape[0]`` rows."""
    patch, side = shape[0], shape[0] * shape[1]
    total, shown = np.zeros(level.shape[1]), np.zeros(level.shape[1], np.float32)
    for y in range(len(level)):
        if y % 2 == 0 and len(coarse) > 0:
            _repeat(coarse[y // 2], shown)
        _add_squares(level[y], shown, weight[y * step // cell], total)
        if (y + 1) % patch == 0 or y + 1 == len(level):
            for x in range(total.size):
                gain[y // patch, x // side] += total[x]
                total[x] = 0


@njit(cache=True, nogil=True)
def _repeat(pixels, row):
    """Every pixel [w, C] twice, [2 w C]."""
    channels = pixels.shape[1]
    for x in range(len(pixels)):
        for c in range(channels):
            row[2 * x * channels + c] = pixels[x, c]
            row[(2 * x + 1) * channels + c] = pixels[x, c]


@njit(cache=True, nogil=True)
def _add_squares(row, shown, weight, total):
    for x in range(total.size):
        total[x] += weight[x] * (row[x] - shown[x]) ** 2


@dataclass(frozen=True)
class ResidualBuilder(TokenBuilder[BandTokens]):
    """Patches of residuals as a tree to which children are added: the coarser residual stays below the finer one.

    Parameters
    ----------
    frame : splits the image into scales.
    """

    frame: HaarFrame = field(default_factory=HaarFrame)

    def build(self, context: TokenContext) -> Hierarchy:
        """A tree with "band" (level), "x", "y" and "gain"; its base is the coarsest scale."""
        pyramid = context.pyramid
        size, patch = pyramid.image.shape[:2], pyramid.patch
        positions = self._positions(context)
        places = dict(zip(("band", "x", "y"), positions.T, strict=True))
        cell = self.frame.cell(size, patch)
        gain = residual_gains(self.frame.levels(pyramid), _by_cell(context.relevance, size, cell, patch), cell, patch)
        attributes = {**places, "gain": gain}
        ones = np.ones(len(positions))
        return Hierarchy.tree(_parents(positions), ones, mode="add", attributes=attributes, cost_unit="tokens")

    def tokens(self, context: TokenContext, hierarchy: Hierarchy, cut: np.ndarray) -> BandTokens:
        """The residuals of ``cut``."""
        pyramid, positions = context.pyramid, self._positions(context)[cut]
        size, patch = pyramid.image.shape[:2], pyramid.patch
        boxes = band_boxes(self.frame.bands(size, patch), positions, patch, size)
        values = residual_values(self.frame.levels(pyramid), positions, patch)
        relevance = mean_over_boxes(context.relevance, boxes, patch)
        return BandTokens(values, positions, relevance, size, patch, self.frame)

    def _positions(self, context: TokenContext) -> np.ndarray:
        """(band, x, y) of every patch of every scale, int32 [N, 3]."""
        return band_positions(self.frame.bands(context.pyramid.image.shape[:2], context.patch), context.patch)


class ResidualScales(TokenAllocator[BandTokens]):
    """Every scale adds its residual: all of the coarsest scale, finer ones only below a residual that was taken.

    Grids of 16 x 16, 32 x 32 ... 256 x 256 patches for an image of 4096 x 4096 pixels, 87,296 tokens in all; smaller
    images have smaller grids. The residuals are those of the Haar transform, and none crosses a cell of constant
    relevance (a finest patch, or 2**(scales - 1) pixels where that does not divide the patch): what is left wrong is
    exactly the sum of the residuals not taken, and allocations carry a certificate. (Images of other sizes are extended
    to whole cells, and the error is that of the extended image.) The price is visible blocks: nothing is interpolated.

    Source: K. Tian et al., "Visual autoregressive modeling: scalable image generation via next-scale prediction"
    (NeurIPS 2024), in reverse: there all tokens of all scales are generated, and residuals are of learned features.

    Parameters
    ----------
    relevance : see `Relevance`; by default `CueRelevance`.
    patch : pixels along the side of a token at its scale.
    scales : at most this many. The coarsest is the smallest budget.

    Examples
    --------
    >>> import numpy as np
    >>> from hra.domains import tokens
    >>> image = np.random.default_rng(0).random((128, 192, 3), dtype=np.float32)
    >>> allocator = tokens.ResidualScales()
    >>> allocation = allocator.allocate((image, "what is at the top left?"), budget=20)
    >>> allocator.realize(allocation).values.shape
    (20, 768)
    """

    def __init__(self, relevance: Relevance | None = None, *, patch: int = 16, scales: int = 5) -> None:
        metric = AttributeGain("gain", "relevance-weighted mean squared error", additive=True)
        builder = ResidualBuilder(HaarFrame(scales))
        super().__init__(
            builder, metric, Hull(spend_all=True), relevance=relevance, patch=patch, levels=scales, stand_in=self._whole
        )

    def _whole(self, context: TokenContext, budget: float) -> TokenAllocator[BandTokens] | None:
        """A single scale, the image itself, where the budget covers it: residuals are a third more tokens."""
        if not covers(budget, context) or self.builder == _WHOLE:
            return None
        return TokenAllocator(_WHOLE, self.error_metric(context), self.traversal)


_WHOLE = ResidualBuilder(HaarFrame(1))


def _parents(positions: np.ndarray) -> np.ndarray:
    """Index of the patch over each patch (band, x, y) [N, 3] in the next coarser band, -1 in the last: int64 [N]."""
    band, x, y = positions.T.astype(np.int64)
    columns = np.zeros(band.max() + 2, np.int64)
    np.maximum.at(columns, band, x + 1)
    offsets = np.searchsorted(band, np.arange(len(columns)))
    return np.where(band < band.max(), offsets[band + 1] + y // 2 * columns[band + 1] + x // 2, -1)


def _by_cell(relevance: np.ndarray, image_size: tuple[int, int], cell: int, patch: int) -> np.ndarray:
    """Relevance of cells of ``cell`` pixels, the mean by area of the finest patches below: float64 [rows, columns]."""
    grid = (-(-image_size[0] // cell), -(-image_size[1] // cell))
    if cell == patch:
        return relevance
    y, x = np.divmod(np.arange(grid[0] * grid[1]), grid[1])
    boxes = np.minimum(np.stack([x, y, x + 1, y + 1], axis=1) * cell, np.tile(image_size[::-1], 2))
    features = FeatureGrid.of(relevance[..., None])
    return pool_regions(features, Regions.of(boxes), len(boxes), image_size, patch).astype(np.float64).reshape(grid)

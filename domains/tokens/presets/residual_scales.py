"""Residual scales: means of the whole image first, then what is missing, where it matters."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from hra.domains.tokens.allocator import TokenAllocator
from hra.domains.tokens.attribute_gain import AttributeGain
from hra.domains.tokens.blocks import block_sums
from hra.domains.tokens.context import TokenContext
from hra.domains.tokens.frequency.band_tokens import BandPatches, BandTokens, pasted
from hra.domains.tokens.frequency.builder import cut_band_tokens
from hra.domains.tokens.frequency.residual_frame import HaarFrame
from hra.domains.tokens.patches.pyramid import PatchPyramid
from hra.domains.tokens.relevance.base import Relevance
from hra.domains.tokens.token_builder import TokenBuilder
from hra.model.hierarchy import Hierarchy
from hra.traversals.hull import Hull


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
        positions = BandPatches.of(pyramid, self.frame).positions
        places = dict(zip(("band", "x", "y"), positions.T, strict=True))
        energies = pyramid.once((self.frame, "energies"), lambda: _energies(self.frame, pyramid))
        attributes = {**places, "gain": _weighted(energies, context.relevance, pyramid.patch)}
        ones = np.ones(len(positions))
        return Hierarchy.tree(_parents(positions), ones, mode="add", attributes=attributes, cost_unit="tokens")

    def tokens(self, context: TokenContext, hierarchy: Hierarchy, cut: np.ndarray) -> BandTokens:
        """The residuals of ``cut``."""
        return cut_band_tokens(context, cut, self.frame)


class ResidualScales(TokenAllocator[BandTokens]):
    """Every scale adds its residual: all of the coarsest scale, finer ones only below a residual that was taken.

    Grids of 16 x 16, 32 x 32 ... 256 x 256 patches for an image of 4096 x 4096 pixels, 87,296 tokens in all; smaller
    images have smaller grids. The residuals are those of the Haar transform, and no residual is wider than a finest
    patch, over which the relevance is constant: what is left wrong is exactly the sum of the residuals not taken, and
    allocations carry a certificate. (Images of other sizes are extended to whole patches, and the error is that of the
    extended image.) The price are visible blocks: nothing is interpolated.

    Source: K. Tian et al., "Visual autoregressive modeling: scalable image generation via next-scale prediction"
    (NeurIPS 2024), in reverse: there all tokens of all scales are generated, and residuals are of learned features.

    Parameters
    ----------
    relevance : see `Relevance`; by default `CueRelevance`.
    patch : pixels along the side of a token at its scale.
    scales : at most so many; 2**(scales - 1) must divide the patch. The coarsest is the smallest budget.

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
        super().__init__(builder, metric, Hull(spend_all=True), relevance=relevance, patch=patch, levels=scales)


def _parents(positions: np.ndarray) -> np.ndarray:
    """Index of the patch over each patch (band, x, y) [N, 3] in the next coarser band, -1 in the last: int64 [N]."""
    band, x, y = positions.T.astype(np.int64)
    columns = np.zeros(band.max() + 2, np.int64)
    np.maximum.at(columns, band, x + 1)
    offsets = np.searchsorted(band, np.arange(len(columns)))
    return np.where(band < band.max(), offsets[band + 1] + y // 2 * columns[band + 1] + x // 2, -1)


def _energies(frame: HaarFrame, pyramid: PatchPyramid) -> list[np.ndarray]:
    """Squared residuals under every finest patch, at each scale: float64 [rows, columns]."""
    values, patch = BandPatches.of(pyramid, frame), pyramid.patch
    energies = []
    for level, residual in enumerate(pasted(values.values, values.positions, values.bands, patch)):
        energies.append(block_sums((residual.astype(np.float64) ** 2).sum(axis=2), patch >> level) * 4.0**level)
    return energies


def _weighted(energies: list[np.ndarray], relevance: np.ndarray, patch: int) -> np.ndarray:
    """What each patch of each scale takes off the relevance-weighted mean squared error, float64 [N].

    The mean is over the image extended to whole patches, in which the residuals are orthogonal.
    """
    weight = relevance / (3 * patch**2 * relevance.sum())
    return np.concatenate([block_sums(weight * energy, 2**level).ravel() for level, energy in enumerate(energies)])

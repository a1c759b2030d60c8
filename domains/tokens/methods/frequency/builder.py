"""The patches of all bands of an image as independent tokens, in strata of bands or of places."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Literal

import numpy as np

from hra.domains.tokens.context.context import TokenContext
from hra.domains.tokens.context.token_builder import TokenBuilder
from hra.domains.tokens.methods.frequency.band_tokens import BandPatches, BandTokens
from hra.domains.tokens.methods.frequency.emphasis import direction_weights
from hra.domains.tokens.methods.frequency.frames import Band, Frame, SteerableFrame
from hra.domains.tokens.token_sets.token_boxes import mean_over_boxes
from hra.errors import ArrayError
from hra.model.hierarchy import Hierarchy

_ORIENTED = 224 / 273  # share of the oriented bands; the rest goes to the two rests
_CELLS = 4  # rows and columns of places


@dataclass(frozen=True)
class FrequencyBuilder(TokenBuilder[BandTokens]):
    """Every patch of every band is a node of its own; it gains its energy times the relevance of its place.

    Parameters
    ----------
    frame : splits the image into bands.
    first : "bands" deals the budget out to directions (or to bands, if the frame has no directions), "space" to the
        cells of a 4 x 4 grid, where the query's emphasis on directions weighs the gain.
    """

    frame: Frame = field(default_factory=SteerableFrame)
    first: Literal["bands", "space"] = "bands"

    def __post_init__(self) -> None:
        if self.first not in ("bands", "space"):
            raise ArrayError(f"unknown order {self.first!r}", where="first", fix="use 'bands' or 'space'")

    def build(self, context: TokenContext) -> Hierarchy:
        """A flat hierarchy with "band", "x", "y", "gain", "stratum" and the stratum's "share"."""
        image, patch = context.pyramid.image, context.pyramid.patch
        patches = BandPatches.of(context.pyramid, self.frame)
        bands, positions, boxes = patches.bands, patches.positions, patches.boxes
        gain = patches.energy * mean_over_boxes(context.relevance, boxes, patch)
        if self.first == "bands":
            stratum, share = _by_band(bands, positions[:, 0], gain, context.query)
        else:
            gain = gain * _emphasis(bands, positions[:, 0], gain, context.query)[positions[:, 0]]
            stratum, share = _by_place(positions[:, 0] == len(bands) - 1, boxes, gain, image.shape[:2])
        places = dict(zip(("band", "x", "y"), positions.T, strict=True))
        attributes = {**places, "gain": gain, "stratum": stratum, "share": share[stratum]}
        return Hierarchy.flat(np.ones(len(gain)), attributes=attributes, cost_unit="tokens")

    def tokens(self, context: TokenContext, hierarchy: Hierarchy, cut: np.ndarray) -> BandTokens:
        """The coefficients of ``cut``."""
        return cut_band_tokens(context, cut, self.frame)


def cut_band_tokens(context: TokenContext, cut: np.ndarray, frame: Frame) -> BandTokens:
    """The patches ``cut`` of the image's bands, numbered as in `BandPatches`, as tokens."""
    patches, patch = BandPatches.of(context.pyramid, frame), context.pyramid.patch
    height, width = context.pyramid.image.shape[:2]
    relevance = mean_over_boxes(context.relevance, patches.boxes[cut], patch)
    return BandTokens(patches.values(cut), patches.positions[cut], relevance, (height, width), patch, frame)


def _by_band(bands: Sequence[Band], band: np.ndarray, gain: np.ndarray, query: str) -> tuple[np.ndarray, np.ndarray]:
    """Strata of directions, and one for what has none; without any directions, bands by their gain."""
    directions = sorted({each.direction for each in bands if each.direction is not None})
    if not directions:
        return band, np.bincount(band, gain)
    number = [len(directions) if each.direction is None else directions.index(each.direction) for each in bands]
    stratum = np.array(number)[band]
    energy = np.bincount(stratum, gain, minlength=len(directions) + 1)[:-1]
    share = np.append(_ORIENTED * direction_weights(query, directions, energy), 1 - _ORIENTED)
    return stratum, share


def _by_place(
    lowpass: np.ndarray, boxes: np.ndarray, gain: np.ndarray, image_size: tuple[int, int]
) -> tuple[np.ndarray, np.ndarray]:
    """Strata of places by their gain, and one for the low-pass rest, which shows all places and comes first."""
    centre = (boxes[:, :2] + boxes[:, 2:]) / 2
    x, y = (centre * _CELLS // np.array(image_size[::-1])).astype(int).T
    stratum = np.where(lowpass, _CELLS**2, y * _CELLS + x)
    share = np.bincount(stratum, gain, minlength=_CELLS**2 + 1)
    return stratum, share


def _emphasis(bands: Sequence[Band], band: np.ndarray, gain: np.ndarray, query: str) -> np.ndarray:
    """Weight of each band, 1 on average over the directions and 1 for bands without any."""
    directions = sorted({each.direction for each in bands if each.direction is not None})
    if not directions:
        return np.ones(len(bands))
    total = np.bincount(band, gain, minlength=len(bands))
    energy = np.array([sum(total[i] for i, each in enumerate(bands) if each.direction == d) for d in directions])
    shares = len(directions) * direction_weights(query, directions, energy)
    weights = dict(zip(directions, shares, strict=True))
    return np.array([1.0 if each.direction is None else weights[each.direction] for each in bands])

"""Frequency-aware tokens: which scales and directions, and where.

First the directions of structure that a query asks about, or an image is full of; then the patches of all bands as
independent tokens, in strata of bands or of places; then the method.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Literal

import numpy as np

from hra.domains.tokens.allocator import TokenAllocator
from hra.domains.tokens.context.context import Relevance, TokenContext
from hra.domains.tokens.context.token_builder import TokenBuilder
from hra.domains.tokens.methods.frequency.band_tokens import BandPatches, BandTokens
from hra.domains.tokens.methods.frequency.frames import Band, Frame, SteerableFrame
from hra.domains.tokens.methods.frequency.residual_frame import HaarFrame
from hra.domains.tokens.methods.whole_image import covers
from hra.domains.tokens.patches.metrics import AttributeGain
from hra.domains.tokens.token_sets.position_codes import mean_over_boxes
from hra.errors import ArrayError, check_choice, check_kind
from hra.model.hierarchy import Hierarchy
from hra.solvers.apportionment import largest_remainder
from hra.traversals.apportion import Apportion

_HORIZONTAL = {
    "text",
    "read",
    "word",
    "letter",
    "line",
    "sentence",
    "paragraph",
    "page",
    "document",
    "title",
    "written",
}
_VERTICAL = {"building", "tower", "house", "facade", "skyscraper", "column", "pillar", "church", "architecture"}
_EMPHASIS = 4.0  # 128 tokens against 32
_STANDS_OUT = 1.5  # times the mean energy of the directions


def direction_weights(query: str, directions: Sequence[float], energy: np.ndarray) -> np.ndarray:
    """Shares of the directions: of 224 tokens, 128 for the one that matters and 32 for each of three others.

    Query first, then content. Text runs at 0 degrees, walls of buildings at 90; of several words that name one the
    first counts. Where the query names none, it is the direction that holds most of the image's relevant energy, if
    that is more than 1.5 times its even share; else all directions count alike.

    Parameters
    ----------
    directions : degrees, 0 to below 180.
    energy : [len(directions)], >= 0, how much of the image runs in each.

    Returns
    -------
    float64 [len(directions)], adding up to 1.
    """
    named = _named(query)
    emphasised = _dominant(directions, energy) if named is None else named
    weights = np.where(np.array(directions) == emphasised, _EMPHASIS, 1.0)
    return weights / weights.sum()


def _dominant(directions: Sequence[float], energy: np.ndarray) -> float | None:
    """Degrees of the direction that stands out, None if none does."""
    strongest = int(np.argmax(energy))
    return directions[strongest] if energy[strongest] > _STANDS_OUT * energy.mean() else None


def _named(query: str) -> float | None:
    """Degrees of the first word that names a direction."""
    for word in re.findall(r"[a-z]+", query.lower()):
        for words, degrees in ((_HORIZONTAL, 0.0), (_VERTICAL, 90.0)):
            if word in words or word.removesuffix("s") in words:
                return degrees
    return None


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
    oriented : share of the budget of bands that have a direction; the rest goes to those that have none.
    """

    frame: Frame = field(default_factory=SteerableFrame)
    first: Literal["bands", "space"] = "bands"
    oriented: float = _ORIENTED

    def __post_init__(self) -> None:
        check_kind("frame", self.frame, Frame, "pass an object, such as tokens.SteerableFrame()")
        check_choice("first", self.first, ("bands", "space"), ArrayError)
        if not 0 <= self.oriented <= 1:
            raise ArrayError(f"a share of {self.oriented:g}", where="oriented", fix="use 0 to 1")

    def build(self, context: TokenContext) -> Hierarchy:
        """A flat hierarchy with "band", "x", "y", "gain", "stratum" and the stratum's "share"."""
        image, patch = context.pyramid.image, context.pyramid.patch
        patches = BandPatches.of(context.pyramid, self.frame)
        bands, positions, boxes = patches.bands, patches.positions, patches.boxes
        gain = patches.energy * mean_over_boxes(context.relevance, boxes, patch)
        if self.first == "bands":
            stratum, share = _by_band(bands, positions[:, 0], gain, context.query, self.oriented)
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


def _by_band(
    bands: Sequence[Band], band: np.ndarray, gain: np.ndarray, query: str, oriented: float
) -> tuple[np.ndarray, np.ndarray]:
    """Strata of directions, and one for what has none; without any directions, bands by their gain."""
    directions = sorted({each.direction for each in bands if each.direction is not None})
    if not directions:
        return band, np.bincount(band, gain)
    number = [len(directions) if each.direction is None else directions.index(each.direction) for each in bands]
    stratum = np.array(number)[band]
    energy = np.bincount(stratum, gain, minlength=len(directions) + 1)[:-1]
    share = np.append(oriented * direction_weights(query, directions, energy), 1 - oriented)
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


class FrequencyAware(TokenAllocator[BandTokens]):
    """Tokens are patches of the bands of a Laplacian or steerable pyramid, taken by energy times relevance.

    With the steerable pyramid the budget is split by direction first: 224 of 273 tokens are oriented. A query about
    text gives 128 of these to 0 degrees, one about buildings 128 to 90 degrees; each other direction gets 32. Where the
    query names neither, the direction that stands out in the image is emphasised likewise; without one all are alike.
    The other 49 go to the low-pass and the high-pass rest. With the Laplacian pyramid the budget goes to bands by their
    share of the gain. ``first="space"`` deals it to the cells of a 4 x 4 grid instead.

    Bands overlap in frequency, so gains do not add up exactly, and no allocation claims a certificate. The image as a
    whole would be more patches of bands than it has itself: a budget that covers it takes those.

    Source: P. Burt and E. Adelson (1983), E. Simoncelli and W. Freeman (1995), see `hra.kernels`. Open and chosen by
    us: the words that name a direction, the 49 tokens of the rests, and that directions are those of edges, not waves.

    Parameters
    ----------
    relevance : see `Relevance`; by default `CueRelevance`.
    patch : coefficients along the side of a token.
    frame, first : see `FrequencyBuilder`.

    Examples
    --------
    >>> import numpy as np
    >>> from hra.domains import tokens
    >>> image = np.random.default_rng(0).random((128, 192, 3), dtype=np.float32)
    >>> allocator = tokens.FrequencyAware()
    >>> allocation = allocator.allocate((image, "what is at the top left?"), budget=20)
    >>> allocator.realize(allocation).values.shape
    (20, 768)
    """

    def __init__(
        self,
        relevance: Relevance | None = None,
        *,
        patch: int = 16,
        frame: Frame | None = None,
        first: Literal["bands", "space"] = "bands",
    ) -> None:
        builder = FrequencyBuilder(SteerableFrame() if frame is None else frame, first)
        metric = AttributeGain("gain", "relevance-weighted squared coefficients")
        traversal = Apportion(partial(largest_remainder, minimum=0), importance="share")
        super().__init__(builder, metric, traversal, relevance=relevance, patch=patch, stand_in=self._whole)

    def _whole(self, context: TokenContext, budget: float) -> TokenAllocator[BandTokens] | None:
        """A single band, the image itself, where the budget covers it."""
        if not covers(budget, context) or self.builder == _WHOLE:
            return None
        return TokenAllocator(_WHOLE, self.error_metric(context), self.traversal)


_WHOLE = FrequencyBuilder(HaarFrame(1))

"""Vortex sampling: golden-angle spirals of samples around the most relevant places."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from hra.camera.eccentricity import Eccentricity
from hra.domains.tokens.allocator import TokenAllocator
from hra.domains.tokens.context.context import Relevance, TokenContext
from hra.domains.tokens.context.token_builder import TokenBuilder
from hra.domains.tokens.methods.sampled.arcs import (
    STEPS,
    VisibleArcs,
    cell_scales,
    farthest_corner,
    inside_image,
    places,
    visible_areas,
)
from hra.domains.tokens.methods.sampled.rings import slots
from hra.domains.tokens.methods.sampled.tokens import SampledTokens
from hra.domains.tokens.patches.metrics import AttributeGain
from hra.domains.tokens.relevance.fixation import coarse_peak
from hra.errors import ArrayError
from hra.model.arrays import POSITIVE, number_in, whole_in
from hra.model.hierarchy import Hierarchy
from hra.traversals.apportion import Apportion

_GOLDEN = (np.sqrt(5) - 1) / 2  # of a full turn from one sample to the next
_APART = 0.25  # of the longer side, between two centres

Point = tuple[float, float]


@dataclass(frozen=True)
class SpiralBuilder(TokenBuilder[SampledTokens]):
    """Independent samples around each centre; the more are taken, the closer they lie and the finer they are.

    Parameters
    ----------
    centres : at most this many, at least a quarter of the longer side apart.
    field_of_view : degrees that the longer side of the image spans.
    """

    centres: int = 3
    field_of_view: float = 20.0

    def __post_init__(self) -> None:
        object.__setattr__(self, "centres", whole_in("centres", self.centres, POSITIVE, ArrayError))
        number_in("field_of_view", self.field_of_view, 0, 180, ArrayError, ends=False)

    def build(self, context: TokenContext) -> Hierarchy:
        """A flat hierarchy of as many samples as the image has finest patches, with "stratum" (centre) and "share"."""
        importance = _importance(context, self._centres(context))
        return slots(importance / importance.sum(), context.relevance.size)

    def tokens(self, context: TokenContext, hierarchy: Hierarchy, cut: np.ndarray) -> SampledTokens:
        """As many samples around each centre as ``cut`` has."""
        centres, image_size = self._centres(context), context.pyramid.image.shape[:2]
        counts = np.bincount(hierarchy.attribute("stratum")[cut], minlength=len(centres))
        if len(cut) == context.relevance.size:
            return SampledTokens.whole(context, np.repeat(np.array(centres), counts, axis=0))
        reaches = _reaches(centres, image_size)
        spirals = [self._spiral(*each, image_size) for each in zip(centres, reaches, counts, strict=True)]
        points, areas = (np.concatenate(part) for part in zip(*spirals, strict=True))
        scales = cell_scales(areas, image_size, context.pyramid.patch)
        return SampledTokens.of(context, points, scales, np.repeat(np.array(centres), counts, axis=0))

    def _centres(self, context: TokenContext) -> list[Point]:
        """Peaks of the relevance, the highest first, each without the surroundings of those before it."""
        patch, image_size = context.pyramid.patch, context.pyramid.image.shape[:2]
        left, (y, x) = context.relevance.copy(), np.indices(context.relevance.shape)
        centres: list[Point] = []
        while len(centres) < self.centres and left.any():
            peak = inside_image(coarse_peak(left, patch), image_size)
            centres.append(peak)
            near = np.hypot((x + 0.5) * patch - peak[0], (y + 0.5) * patch - peak[1]) < _APART * max(image_size)
            near[int(peak[1]) // patch, int(peak[0]) // patch] = True
            left[near] = 0
        return centres

    def _spiral(
        self, centre: Point, reach: float, count: int, image_size: tuple[int, int]
    ) -> tuple[np.ndarray, np.ndarray]:
        """Places float64 [count, 2] of the samples of one spiral, and the pixels float64 [count] each stands for."""
        magnification = Eccentricity(centre, max(image_size) / self.field_of_view)
        edges = np.linspace(0, reach, STEPS + 1)
        middle = (edges[:-1] + edges[1:]) / 2
        visible = visible_areas(centre, edges, image_size)
        below = np.append(0, np.cumsum(visible * _areal_weight(magnification, middle)))
        index = np.arange(count)
        radii = np.interp((index + 0.5) / max(count, 1) * below[-1], below, edges)
        angle = VisibleArcs.of(centre, radii, image_size).at(index, index * _GOLDEN % 1)
        points = places(centre, radii, angle, image_size)
        return points, below[-1] / (max(count, 1) * _areal_weight(magnification, radii))


def _areal_weight(magnification: Eccentricity, radii: np.ndarray) -> np.ndarray:
    """Density relative to the gaze at distances of ``radii`` [n] pixels."""
    x, y = magnification.gaze
    return magnification.areal_weight(np.stack([x + radii, np.full_like(radii, y)], axis=1))


def _importance(context: TokenContext, centres: list[Point]) -> np.ndarray:
    """Relevance of the finest patch at each centre over the largest, at least a tenth: float64 [C]."""
    patch = context.pyramid.patch
    found = np.array([context.relevance[int(y) // patch, int(x) // patch] for x, y in centres])
    return np.maximum(found / max(found.max(), np.finfo(np.float64).tiny), 0.1)


def _reaches(centres: list[Point], image_size: tuple[int, int]) -> list[float]:
    """The first spiral sees the whole image, the others reach as far as the nearest centre."""
    points = np.array(centres)
    apart = np.hypot(*(points[:, None] - points[None]).transpose(2, 0, 1))
    np.fill_diagonal(apart, np.inf)
    corners = [farthest_corner(centre, image_size) for centre in centres]
    return [corners[0], *np.minimum(apart.min(axis=1), corners)[1:].tolist()]


class Vortex(TokenAllocator[SampledTokens]):
    """Spirals whose samples turn by the golden angle and grow with their distance from the centre.

    The budget is dealt to the centres by their relevance. The density falls as the areal cortical magnification, (e0 /
    (e + e0))**2, so that the scale grows in proportion to e + e0. The first spiral sees the whole image, further ones
    reach as far as the nearest other centre. At radii where the image ends, the golden angle turns through the visible
    arcs only: every sample lies inside the image, and counts are exact.

    Source: H. Vogel, "A better way to construct the sunflower head" (1979), for the golden angle; the radial law, the
    number of centres, their distance and their reach are our choices.

    Parameters
    ----------
    relevance : see `Relevance`; by default `CueRelevance`.
    patch : samples along the side of a token.
    centres, field_of_view : see `SpiralBuilder`.

    Examples
    --------
    >>> import numpy as np
    >>> from hra.domains import tokens
    >>> image = np.random.default_rng(0).random((128, 192, 3), dtype=np.float32)
    >>> allocator = tokens.Vortex()
    >>> allocation = allocator.allocate((image, "what is at the top left?"), budget=20)
    >>> allocator.realize(allocation).values.shape
    (20, 768)
    """

    def __init__(
        self, relevance: Relevance | None = None, *, patch: int = 16, centres: int = 3, field_of_view: float = 20.0
    ) -> None:
        metric = AttributeGain("share", "share of the relevance")
        super().__init__(SpiralBuilder(centres, field_of_view), metric, Apportion(), relevance=relevance, patch=patch)

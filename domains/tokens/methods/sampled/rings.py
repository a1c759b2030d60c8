"""Rings of samples around a fixation, denser near it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from hra.camera.eccentricity import Eccentricity
from hra.domains.tokens.context.context import TokenContext
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
from hra.domains.tokens.methods.sampled.tokens import SampledTokens
from hra.domains.tokens.relevance.fixation import FixationFinder, PeakFixation, check_finder
from hra.errors import ArrayError
from hra.model.arrays import number_in
from hra.model.hierarchy import Hierarchy
from hra.solvers.apportionment import largest_remainder


@dataclass(frozen=True)
class Fixation:
    """A fixated point in an image, and how the density of samples falls around it: rho0 / (e + e0).

    Parameters
    ----------
    centre : (x, y) in pixels, inside the image; e0 : pixels; image_size : (height, width) in pixels.
    """

    centre: tuple[float, float]
    e0: float
    image_size: tuple[int, int]

    @property
    def reach(self) -> float:
        """Pixels to the farthest corner."""
        return farthest_corner(self.centre, self.image_size)

    def expected(self, edges: np.ndarray) -> np.ndarray:
        """Samples inside the image between radii ``edges`` [R + 1] for rho0 = 1, float64 [R]."""
        return visible_areas(self.centre, edges, self.image_size) / ((edges[:-1] + edges[1:]) / 2 + self.e0)

    def ring_edges(self, low: float, high: float, count: int) -> np.ndarray:
        """Radii of rings from ``low`` to ``high`` that are as wide as ``count`` samples between them are apart."""
        density = count / self.expected(np.linspace(low, high, STEPS + 1)).sum()
        # The integral of the root of rho0 / (e + e0) counts the rings.
        start, end = np.sqrt(low + self.e0), np.sqrt(high + self.e0)
        rings = max(round(2 * np.sqrt(density) * (end - start)), 1)
        return np.linspace(start, end, rings + 1) ** 2 - self.e0

    def samples(self, low: float, high: float, count: int) -> tuple[np.ndarray, np.ndarray]:
        """Places float64 [count, 2] of samples between two radii, and the pixels float64 [count] each stands for.

        Sample i of the K of a ring lies at the angle 2 pi i / K, and in the middle of the i-th of K equal parts of the
        visible arc where the ring leaves the image.
        """
        edges = self.ring_edges(low, high, count)
        counts = largest_remainder(self.expected(edges), count, minimum=0)
        ring = np.repeat(np.arange(len(counts)), counts)
        index = np.arange(count) - np.repeat(np.cumsum(counts) - counts, counts)
        radii = (edges[:-1] + edges[1:]) / 2
        arcs = VisibleArcs.of(self.centre, radii, self.image_size)
        whole = arcs.angle[ring] > 2 * np.pi - 1e-9
        angle = arcs.at(ring, (index + np.where(whole, 0, 0.5)) / counts[ring])
        areas = visible_areas(self.centre, edges, self.image_size)
        return places(self.centre, radii[ring], angle, self.image_size), (areas / np.maximum(counts, 1))[ring]


@dataclass(frozen=True)
class RingBuilder(TokenBuilder[SampledTokens]):
    """Independent samples of two strata, fovea and periphery; how many of each are taken decides where they lie.

    Parameters
    ----------
    foveal_share : of the samples, that lie within ``foveal_radius`` pixels.
    field_of_view : degrees that the longer side of the image spans; gives e0 in pixels.
    fixation : where to look, (image, query, relevance) -> (x, y) in pixels; by default `PeakFixation`.
    growing : whether a sample shows the cell that it stands for, which grows with the eccentricity; else every sample
        is a patch at full resolution, and only their density falls.
    """

    foveal_share: float = 0.3
    foveal_radius: float = 50.0
    field_of_view: float = 20.0
    fixation: FixationFinder | None = None
    growing: bool = True

    def __post_init__(self) -> None:
        if self.fixation is not None:
            check_finder(self.fixation)
        number_in("foveal_share", self.foveal_share, 0, 1, ArrayError)
        number_in("foveal_radius", self.foveal_radius, 0, np.inf, ArrayError, ends=False)
        number_in("field_of_view", self.field_of_view, 0, 180, ArrayError, ends=False)

    def build(self, context: TokenContext) -> Hierarchy:
        """A flat hierarchy of as many samples as the image has finest patches, with "stratum" and "share"."""
        whole = self._fixation(context).reach <= self.foveal_radius
        share = np.array([1.0] if whole else [self.foveal_share, 1 - self.foveal_share])
        return slots(share, context.relevance.size)

    def tokens(self, context: TokenContext, hierarchy: Hierarchy, cut: np.ndarray) -> SampledTokens:
        """As many samples in fovea and periphery as ``cut`` has."""
        fixation = self._fixation(context)
        if len(cut) == context.relevance.size:
            return SampledTokens.whole(context, np.tile(fixation.centre, (len(cut), 1)))
        fovea = min(self.foveal_radius, fixation.reach)
        foveal, peripheral = np.bincount(hierarchy.attribute("stratum")[cut], minlength=2).tolist()
        zones = [(0.0, fovea, foveal), (fovea, fixation.reach, peripheral)]
        parts = [fixation.samples(*zone) for zone in zones if zone[2]] or [(np.zeros((0, 2)), np.zeros(0))]
        centres, areas = (np.concatenate(part) for part in zip(*parts, strict=True))
        cells = cell_scales(areas, fixation.image_size, context.pyramid.patch)
        scales = cells if self.growing else np.ones_like(cells)
        return SampledTokens.of(context, centres, scales, np.tile(fixation.centre, (len(centres), 1)))

    def _fixation(self, context: TokenContext) -> Fixation:
        image, (height, width) = context.pyramid.image, context.pyramid.image.shape[:2]
        find = PeakFixation(context.pyramid.patch) if self.fixation is None else self.fixation
        centre = inside_image(find(image, context.query, context.relevance), (height, width))
        acuity = Eccentricity(centre, max(height, width) / self.field_of_view)
        return Fixation(centre, acuity.e0 * acuity.pixels_per_degree, (height, width))


def slots(share: np.ndarray, count: int) -> Hierarchy:
    """A flat hierarchy of ``count`` samples in strata that have, and gain, the given shares [S].

    Whatever the budget, each stratum then gets its share of it: attributes "stratum" and "share" of every sample.
    """
    members = largest_remainder(share, count, minimum=0)
    attributes = {
        "stratum": np.repeat(np.arange(len(share)), members),
        "share": np.repeat(share / np.maximum(members, 1), members),
    }
    return Hierarchy.flat(np.ones(count), attributes=attributes, cost_unit="tokens")

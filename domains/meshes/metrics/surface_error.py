"""Errors of clusters without a camera: what a cut loses from all sides, and in pixels from a distance.

The distances are those at which discrete levels are switched, too.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, final

import numpy as np

from hra.camera import Camera
from hra.domains.meshes.metrics.screen_error import ErrorName, ScreenError
from hra.errors import CameraError, MetricError
from hra.model.hierarchy import Hierarchy
from hra.model.metrics import ErrorMetric

# More than the rounding of these formulas and of the camera's own bounds.
_ROUNDING = 1e-9


@final
@dataclass(frozen=True)
class SurfaceError(ErrorMetric):
    """The squared distance of the surface from the source, integrated over the source; there is no context.

    A cluster counts the square of its quadric error times the area of the source that it stands for. That is what
    `ScreenError` sees from far away, averaged over all directions: every part of the surface is seen under every angle
    with the same weight. Errors never fall from fine to coarse, because a group's area is passed on and its error
    rises. Meshes that share a pool are compared by area and distance, in the same units.

    For thresholds (`peak`) it is the error itself: ``Threshold(d)`` draws the coarsest clusters whose error is at most
    the distance d.

    Parameters
    ----------
    error : what thresholds hold for, as for `ScreenError`; "certified" and "hausdorff" need clusters with bounds.

    Raises
    ------
    MetricError : another error, "appearance", which needs a camera, or clusters without bounds.

    Examples
    --------
    >>> import hra
    >>> from hra.domains import meshes
    >>> skull = meshes.build(hra.samples.path("skull.ply"))
    >>> allocator = meshes.MeshAllocator(skull, meshes.SurfaceError(), hra.Threshold(0.001))
    >>> allocation = allocator.allocate(None, budget=float("inf"))
    >>> allocation.max_error <= 0.001
    True
    """

    error: ErrorName = "quadric"

    unit = "length4"

    def __post_init__(self) -> None:
        # Refuses what it does not know.
        ScreenError(self.error)
        if self.error == "appearance":
            what = "the error 'appearance' needs a camera"
            raise MetricError(what, where="SurfaceError", fix="use ScreenError; on the command line --azimuth or --eye")

    @property
    def certified(self) -> bool:
        """Whether thresholds are bounds."""
        return ScreenError(self.error).certified

    def evaluate(self, hierarchy: Hierarchy, context: Any) -> np.ndarray:
        """Squared quadric error of each cluster times its area, float64 [N]."""
        # In float64: squares of small float32 would vanish.
        return np.square(hierarchy.attribute("error").astype(np.float64)) * hierarchy.attribute("area")

    def peak(self, hierarchy: Hierarchy, context: Any) -> np.ndarray:
        """Error of each cluster in object units, float64 [N]."""
        return ScreenError(self.error).largest_distances(hierarchy).astype(np.float64)


@final
@dataclass(frozen=True)
class AllSidesError(ErrorMetric):
    """The error of each cluster from all sides: `SurfaceError` for budgets, for thresholds pixels from a distance.

    The eye may be anywhere at ``distance`` from ``center``, and looks at it. Of all these places the worst counts, for
    each cluster its own: what reaches far out from the centre is seen from near.

    Parameters
    ----------
    center : [3], object units; distance : of the eye from it.
    focal : pixels of a unit length at distance 1, see `Camera.focal_pixels`.
    error : as for `SurfaceError`.

    Raises
    ------
    CameraError : the eye may be within the mesh.
    """

    center: tuple[float, float, float]
    distance: float
    focal: float
    error: ErrorName = "quadric"

    unit = "length4"

    @property
    def certified(self) -> bool:
        """Whether thresholds are bounds."""
        return SurfaceError(self.error).certified

    def evaluate(self, hierarchy: Hierarchy, context: Any) -> np.ndarray:
        """Squared quadric error of each cluster times its area, float64 [N]."""
        return SurfaceError(self.error).evaluate(hierarchy, None)

    def peak(self, hierarchy: Hierarchy, context: Any) -> np.ndarray:
        """Largest error of each cluster in pixels, float64 [N]."""
        distances = SurfaceError(self.error).peak(hierarchy, None)
        reach, whole = reaches(hierarchy, self.center)
        if not whole < self.distance:
            what = f"at a distance of {self.distance:g} the eye is inside the mesh"
            fix = f"use a distance above {whole:.6g}, or place the camera by --azimuth or --eye"
            raise CameraError(what, where="distance", fix=fix)
        # A point of the other surface is no farther out than this, and none of either beyond the whole.
        return distances * stretch_around(np.minimum(reach + distances, whole), self.distance) * self.focal


def reaches(hierarchy: Hierarchy, center: Any) -> tuple[np.ndarray, float]:
    """How far each cluster reaches from ``center`` [3], float64 [N], and how far the source does."""
    away = hierarchy.attribute("center").astype(np.float64) - np.asarray(center)
    reach = (np.linalg.norm(away, axis=1) + hierarchy.attribute("radius")) * (1 + _ROUNDING)
    # Vertices of all levels are vertices of the source.
    return reach, float(reach[hierarchy.attribute("level") == 0].max())


def stretch_around(reach: np.ndarray, distance: float) -> np.ndarray:
    """The most that 1 / focal pixels measure of a unit length within ``reach`` of a centre that the eye looks at.

    At distance r from the eye and depth z a flat screen shows r / z**2. On a sphere of radius s around the centre that
    is largest right below the eye if s is at most half the distance d, else where ``2 r**2 = d z``.
    """
    below = 1 / (distance - reach)
    # Points of the sphere have r**2 = s**2 - d**2 + 2 d z: at this depth the derivative of r / z**2 by z vanishes, and
    # the sphere reaches it where s >= d / 2.
    depth = 2 * (distance**2 - reach**2) / (3 * distance)
    return np.where(reach <= distance / 2, below, np.sqrt(distance / (2 * depth**3))) * (1 + _ROUNDING)


def worst_stretch(lens: Camera) -> float:
    """Pixels of a unit length at distance 1, in the corners of the screen, where a flat one stretches most.

    A point at distance r from the eye is stretched by focal / (r cos(t)**2), and 1 / cos(t)**2 is 1 + tan(t)**2 of the
    angle to it.
    """
    corner = np.array(lens.viewport) / 2 / lens.focal_pixels
    return float(lens.focal_pixels * (1 + (corner**2).sum())) * (1 + _ROUNDING)


def all_round_distance(lens: Camera, reach: float) -> float:
    """How far away the eye must be for a sphere to be in view as a whole, wherever it stands."""
    half = math.atan(min(lens.viewport) / 2 / lens.focal_pixels)
    # The cone around the axis that the narrower side of the screen allows touches the sphere.
    return (reach or 1.0) / math.sin(half)

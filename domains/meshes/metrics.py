"""Errors of clusters as a camera sees them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal, final

import numpy as np
from numba import njit

from hra.camera import Camera
from hra.errors import MetricError
from hra.hierarchy import Hierarchy
from hra.metrics import ErrorMetric

ErrorName = Literal["quadric", "deviation"]
_ATTRIBUTES = {"quadric": "error", "deviation": "deviation"}

# Mean of |cos| between the view direction and a surface of any orientation (Cauchy): what an area shrinks to on screen.
_MEAN_FACING = 0.5


@final
@dataclass(frozen=True)
class ScreenError(ErrorMetric):
    """The displacement of the surface in pixels; the context is a `Camera` in the mesh's coordinates.

    For thresholds (`peak`, pixels): the cluster's error times the most pixels that a unit covers anywhere in the
    cluster's sphere. Spheres nest, so it never falls from fine to coarse, and ``Threshold(tau)`` draws exactly the
    clusters whose own error is at most tau pixels while that of the coarser group is not (Nanite's rule).

    For budgets (`evaluate`, "px2"): the squared displacement in pixels, integrated over the screen and divided by the
    viewport's pixels, as for textures, so that the two share a pool. Scale and screen area are those of the source
    clusters beneath, which are small: the spheres of coarse clusters reach up to the eye and would exaggerate.

    What is out of view has no error.

    Parameters
    ----------
    error : "quadric", the simplifier's own estimate, which the true displacement may exceed several times; or
        "deviation", a bound on it, for meshes built with ``certified=True``: no visible point of the source is then
        farther from the cut than ``Threshold(tau)`` allows.

    Raises
    ------
    MetricError : another error.
    """

    error: ErrorName = "quadric"

    unit = "px2"

    def __post_init__(self) -> None:
        if self.error not in _ATTRIBUTES:
            raise MetricError(f"clusters have no error {self.error!r}", fix=f"use one of {', '.join(_ATTRIBUTES)}")

    def distances(self, hierarchy: Hierarchy) -> np.ndarray:
        """The chosen error of each cluster in object units, float32 [N]."""
        return hierarchy.attribute(_ATTRIBUTES[self.error])

    def peak(self, hierarchy: Hierarchy, context: Any) -> np.ndarray:
        """Largest displacement in pixels of each cluster, float64 [N]."""
        camera = _checked(context)
        center, radius = hierarchy.attribute("center"), hierarchy.attribute("radius")
        return self.distances(hierarchy) * camera.visible_pixels_per_unit(center, radius)

    def evaluate(self, hierarchy: Hierarchy, context: Any) -> np.ndarray:
        """Squared displacement that each cluster adds to the mean over the viewport's pixels, float64 [N], px2."""
        weight = source_weights(hierarchy, _checked(context))
        spread_upwards(*hierarchy.added_nodes, *hierarchy.removed_nodes, hierarchy.attribute("area"), weight)
        return np.square(self.distances(hierarchy).astype(np.float64)) * weight


def source_weights(hierarchy: Hierarchy, camera: Camera) -> np.ndarray:
    """What a squared error of one unit in each source cluster adds to the mean over the viewport, float64 [N].

    It is the squared pixels per unit times the share of the viewport that the cluster covers: an estimate, half of its
    surface area at that scale and at most all of the viewport. 0 for coarser clusters and for those out of view.
    """
    center, radius = hierarchy.attribute("center"), hierarchy.attribute("radius")
    pixels = camera.visible_pixels_per_unit(center, radius, where=hierarchy.removed_by < 0)
    width, height = camera.viewport
    _weigh(pixels, hierarchy.attribute("area"), _MEAN_FACING / (width * height))
    return pixels


@njit(cache=True)
def _weigh(pixels, area, share):
    """Turn pixels per unit [N] into weights in place; ``share`` of the view is what a square pixel covers."""
    for v in range(pixels.size):
        square = pixels[v] * pixels[v]
        pixels[v] = square * min(area[v] * square * share, 1.0)


@njit(cache=True)
def spread_upwards(added_at, added, removed_at, removed, area, weight):
    """Give the clusters of each group the ``weight`` of the group's members, shared by ``area``, from fine to coarse.

    Each group passes its whole weight on, so that the error never falls from fine to coarse.
    """
    for r in range(added_at.size - 2, -1, -1):
        total, surface = 0.0, 0.0
        for k in range(added_at[r], added_at[r + 1]):
            total += weight[added[k]]
        for k in range(removed_at[r], removed_at[r + 1]):
            surface += area[removed[k]]
        count = removed_at[r + 1] - removed_at[r]
        for k in range(removed_at[r], removed_at[r + 1]):
            share = area[removed[k]] / surface if surface > 0.0 else 1.0 / count
            weight[removed[k]] = total * share


def _checked(camera: Any) -> Camera:
    if not isinstance(camera, Camera):
        raise MetricError(f"ScreenError needs a hra.Camera, got {type(camera).__name__}", where="context")
    return camera

"""Errors of clusters as cameras see them."""

from __future__ import annotations

from dataclasses import dataclass
from functools import reduce
from typing import Any, Literal, final

import numpy as np

from hra.domains.meshes.displacement import largest_displacements, mean_squares, source_pixels, source_weights
from hra.domains.meshes.views import views_of
from hra.errors import MetricError
from hra.model.hierarchy import Hierarchy
from hra.model.metrics import ErrorMetric

ErrorName = Literal["quadric", "deviation"]
_ATTRIBUTES = {"quadric": "error", "deviation": "deviation"}


@final
@dataclass(frozen=True)
class ScreenError(ErrorMetric):
    """The displacement of the surface in pixels; the context is a `Camera` or `View` in the mesh's coordinates.

    For thresholds (`peak`, pixels): the cluster's error times the most pixels that a unit covers anywhere in the source
    beneath it, see `hra.domains.meshes.displacement`. It never falls from fine to coarse, and ``Threshold(tau)`` draws
    exactly the clusters whose own error is at most tau pixels while that of the coarser group is not (Nanite's rule).

    For budgets (`evaluate`, "px2"): the squared displacement in pixels, integrated over the screen and divided by the
    viewport's pixels, as for textures, so that the two share a pool. Scale and screen area are those of the source
    clusters beneath, which are small: the bounds of coarse clusters reach up to the eye and would exaggerate.

    What is out of view has no error.

    Several views (the eye and shadow maps, say) are a list of cameras or `View`: thresholds then hold in each of them,
    and budgets see the sum of the views' squared errors, each times its weight.

    Parameters
    ----------
    error : "quadric", the simplifier's own estimate, which the true displacement may exceed several times; or
        "deviation", a bound on it, for meshes built with ``certified=True``: no visible point of the source is then
        farther from the cut than ``Threshold(tau)`` allows.

    Raises
    ------
    MetricError : another error.

    Examples
    --------
    >>> import hra
    >>> from hra.domains import meshes
    >>> skull = meshes.build(hra.samples.path("skull.ply"))
    >>> one_pixel = meshes.MeshAllocator(skull, meshes.ScreenError("quadric"), hra.Threshold(1.0))
    >>> allocation = one_pixel.allocate(hra.Camera.orbit(skull.bounds, azimuth=30), budget=float("inf"))
    >>> allocation.max_error <= 1.0
    True
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
        """Largest displacement in pixels of each cluster in any view, float64 [N]."""
        distances = self.distances(hierarchy)
        views = views_of(context)
        seen = [
            largest_displacements(hierarchy, distances, view, source_pixels(hierarchy, view.camera)) for view in views
        ]
        return reduce(np.maximum, seen)

    def evaluate(self, hierarchy: Hierarchy, context: Any) -> np.ndarray:
        """Squared displacement that each cluster adds to the mean over the viewport, summed over views, [N], px2."""
        weights = [source_weights(hierarchy, view, source_pixels(hierarchy, view.camera)) for view in views_of(context)]
        return mean_squares(hierarchy, self.distances(hierarchy), reduce(np.add, weights))

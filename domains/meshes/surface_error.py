"""Errors of clusters without a camera: what a cut loses from all sides."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, final

import numpy as np

from hra.model.hierarchy import Hierarchy
from hra.model.metrics import ErrorMetric


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

    unit = "length4"

    def evaluate(self, hierarchy: Hierarchy, context: Any) -> np.ndarray:
        """Squared error of each cluster times its area, float64 [N]."""
        return np.square(self.peak(hierarchy, context)) * hierarchy.attribute("area")

    def peak(self, hierarchy: Hierarchy, context: Any) -> np.ndarray:
        """Quadric error of each cluster in object units, float64 [N]."""
        return hierarchy.attribute("error").astype(np.float64)

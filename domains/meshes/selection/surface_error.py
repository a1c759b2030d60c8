"""Errors of clusters without a camera: what a cut loses from all sides."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, final

import numpy as np

from hra.domains.meshes.selection.metrics import ErrorName, ScreenError
from hra.errors import MetricError
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

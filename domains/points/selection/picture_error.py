"""What coarser points and splats change in a picture: found from the picture, not from bounds."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, final

import numpy as np

import hra
from hra.camera import views_of
from hra.domains.points.cloud.cloud_tree import CloudTree
from hra.domains.points.cloud.clouds import PointCloud, SplatCloud
from hra.domains.points.cloud.moments import at_least_the_children
from hra.domains.points.pictures.swapping import swap_errors
from hra.domains.points.selection.metrics import acuity_of
from hra.errors import MetricError


@final
@dataclass(frozen=True)
class PictureError(hra.ErrorMetric):
    """Squared error of the picture if one node alone were coarse, summed over pixels; the context as for `CloudError`.

    Every pixel is composited twice: with the leaves below the node, and with the node in their place. What is hidden
    loses nothing, what sticks out of an outline or leaves a hole counts with the colour that it hides or shows. That
    several nodes are coarse at once is not seen: the errors of a cut add up to an estimate.

    All leaves are projected and listed by pixel, which takes longer than `CloudError`, and what the pictures do not
    show stays coarse: for an eye that moves pass several cameras, or use `CloudError`.

    Parameters
    ----------
    background : grey behind the cloud, 0 .. 1, as for `render`.

    Raises
    ------
    MetricError : a background out of range; a hierarchy that is not a cloud's.

    Examples
    --------
    >>> import hra
    >>> from hra.domains import points
    >>> tree = points.build(points.PointCloud([[0, 0, -1], [0, 0, 0], [0, 0, 1]], radii=[0.1, 0.1, 2]))
    >>> front = hra.Camera.orbit(tree.bounds, distance=9, up=(0, 1, 0), viewport=(64, 64))
    >>> points.PictureError().evaluate(tree.hierarchy, front).shape
    (5,)
    """

    background: float = 1.0

    unit = "color2 px"

    def __post_init__(self) -> None:
        if not 0 <= self.background <= 1:
            raise MetricError(f"the background {self.background!r} must be in 0 .. 1", where="PictureError")

    def evaluate(self, hierarchy: hra.Hierarchy, context: Any) -> np.ndarray:
        """Squared error of every node, summed over pixels, float64 [N]."""
        kind = SplatCloud if "covariance" in hierarchy.node else PointCloud
        hierarchy.attribute("reach")
        nodes, parent = CloudTree(hierarchy, kind).take(slice(None)), np.asarray(hierarchy.node_parent)
        result = np.zeros(len(parent))
        for view in views_of(context):
            error = swap_errors(nodes, parent, view.camera, self.background)
            result += error * np.square(acuity_of(hierarchy, view, error > 0))
        at_least_the_children(parent, result)
        return result

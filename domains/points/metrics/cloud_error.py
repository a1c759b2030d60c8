"""What coarser points and splats lose on the screen."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, final

import numpy as np

import hra
from hra.camera import Occlusion, View, views_of
from hra.domains.points.cloud.moments import at_least_the_children
from hra.errors import MetricError, check_kind


@final
@dataclass(frozen=True)
class CloudError(hra.ErrorMetric):
    """Squared error of the picture, summed over pixels; the context is a `Camera` or `View`, or several.

    A node loses its area on the screen times the variance of the colours below it (for harmonics, the mean over all
    directions), and times ``contrast`` squared for the share of its area that shows something else: for points, what
    sticks out around an outline, which grows with the disc; for splats, what merging spread. Scale is the largest
    anywhere in the node's sphere, and spheres nest, so that errors never grow with detail. What is out of view has
    none.

    Parameters
    ----------
    contrast : between a thing and what is behind it, as a difference of colours.
    occlusion : a depth buffer; what is hidden in it has no error. Not additive then, because what is hidden depends on
        what is drawn: no gap is claimed.

    Raises
    ------
    MetricError : a contrast that is not finite and >= 0.

    Examples
    --------
    >>> import hra
    >>> from hra.domains import points
    >>> tree = points.build(points.PointCloud([[0, 0, 0], [1, 0, 0]], [[0, 0, 0], [1, 1, 1]]))
    >>> error = points.CloudError().evaluate(tree.hierarchy, hra.Camera.orbit(tree.bounds, distance=9))
    >>> bool(error[0] > 0), error[1:].tolist()
    (True, [0.0, 0.0])
    """

    contrast: float = 0.3
    occlusion: Occlusion | None = field(default=None, compare=False)

    unit = "color2 px"

    def __post_init__(self) -> None:
        check_kind("contrast", self.contrast, (int, float, np.number), "pass a finite number of 0 or more")
        if not 0 <= self.contrast < np.inf:
            raise MetricError(f"the contrast {self.contrast!r} must be finite and >= 0", where="CloudError")
        object.__setattr__(self, "additive", self.occlusion is None)

    def evaluate(self, hierarchy: hra.Hierarchy, context: Any) -> np.ndarray:
        """Squared error of every node, summed over pixels, float64 [N]."""
        loss = hierarchy.attribute("color_loss") + np.float32(self.contrast**2) * hierarchy.attribute("cover_loss")
        if "harmonic_loss" in hierarchy.node:
            loss = loss + hierarchy.attribute("harmonic_loss")
        area = np.zeros(1)
        for view in views_of(context):
            pixels, acuity = _pixels_per_unit(hierarchy, view, loss > 0)
            area = area + np.square(pixels * acuity)
        return _of_visible(hierarchy, loss * area, self.occlusion)


@final
@dataclass(frozen=True)
class CloudDisplacement(hra.ErrorMetric):
    """Squared displacement in pixels, averaged over the viewport ("px2"): what meshes and textures measure, for pools.

    Examples
    --------
    >>> import hra
    >>> from hra.domains import points
    >>> tree = points.build(points.PointCloud([[0, 0, 0], [1, 0, 0]]))
    >>> allocator = points.PointAllocator(tree, points.CloudDisplacement())
    >>> allocator.allocate(hra.Camera.orbit(tree.bounds), budget=2).residual
    0.0
    """

    unit = "px2"

    def evaluate(self, hierarchy: hra.Hierarchy, context: Any) -> np.ndarray:
        """Squared displacement that each node adds to the mean over the viewport, float64 [N]."""
        shift, result = hierarchy.attribute("shift"), np.zeros(hierarchy.node_cost.size)
        for view in views_of(context):
            pixels, acuity = _pixels_per_unit(hierarchy, view, shift > 0)
            # Of three directions two are seen, and a surface shows half of its area on average (Cauchy). Displacements
            # count by acuity, the area that shows them does not.
            result += shift / 3 * pixels**4 * acuity**2 / np.prod(view.camera.viewport)
        return result


def _pixels_per_unit(hierarchy: hra.Hierarchy, view: View, where: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Pixels per unit at most in each node's sphere, 0 out of view and where not ``where``; and the acuity there."""
    pixels = view.camera.visible_pixels_per_unit(hierarchy.attribute("position"), hierarchy.attribute("reach"), where)
    return pixels, acuity_of(hierarchy, view, pixels > 0)


def acuity_of(hierarchy: hra.Hierarchy, view: View, where: np.ndarray) -> np.ndarray:
    """What a pixel of displacement counts at most in each node's sphere, float64 [N]; 1 where not ``where``."""
    acuity = np.ones(len(where))
    if not view.even or view.weight != 1:
        seen = np.flatnonzero(where)
        spheres = hierarchy.attribute("position")[seen], hierarchy.attribute("reach")[seen, None]
        acuity[seen] = view.acuity(np.stack([spheres[0] - spheres[1], spheres[0] + spheres[1]], axis=1))
    return acuity


def _of_visible(hierarchy: hra.Hierarchy, error: np.ndarray, occlusion: Occlusion | None) -> np.ndarray:
    if occlusion is None:
        return error
    radius = hierarchy.attribute("reach") + hierarchy.attribute("size")
    hidden = ~occlusion.visible_spheres(hierarchy.attribute("position"), radius)
    result = np.where(hidden, 0.0, error)
    at_least_the_children(hierarchy.node_parent, result)
    return result

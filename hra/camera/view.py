"""What is judged by: one view or several, each with a camera, a weight, and perhaps a gaze or a map of importance."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, final

import numpy as np

from hra.camera.camera import Camera
from hra.camera.eccentricity import Eccentricity
from hra.camera.importance import ImportanceMap
from hra.camera.occlusion import window_matrix
from hra.errors import MetricError
from hra.kernels import project_boxes


@final
@dataclass(frozen=True, eq=False)
class View:
    """A camera, and how much what it sees matters.

    Parameters
    ----------
    camera : in the coordinates of what it sees, or of the world for scenes of instances.
    gaze : divides displacements by the cortical magnification, taken at the smallest eccentricity anywhere in the part
        of the screen that a cluster's box covers; None for even acuity.
    weight : of squared errors; displacements count its root. A shadow map may count less than the eye.
    importance : weights of the places on the screen, such as an attention or saliency map: squared errors count the
        largest weight in the part of the screen that a cluster's box covers, displacements its root. None for 1.

    Raises
    ------
    MetricError : a weight that is not finite and above 0.

    Examples
    --------
    >>> import hra
    >>> from hra.camera import View
    >>> from hra.domains import meshes
    >>> skull = meshes.build(hra.samples.path("skull.ply"))
    >>> eye = hra.Camera.orbit(skull.bounds, azimuth=30)
    >>> light = hra.Camera.orbit(skull.bounds, azimuth=200, viewport=(1024, 1024))
    >>> views = [View(eye, gaze=hra.Eccentricity((960, 540))), View(light, weight=0.25)]
    >>> meshes.MeshAllocator(skull).allocate(views, budget=10_000).cost <= 10_000
    True
    """

    camera: Camera
    gaze: Eccentricity | None = None
    weight: float = 1.0
    importance: ImportanceMap | None = None

    def __post_init__(self) -> None:
        if not 0 < self.weight < np.inf:
            raise MetricError(f"the weight {self.weight!r} of a view must be finite and above 0", where="View")
        if not isinstance(self.importance, ImportanceMap | None):
            what = f"the importance of a view is a {type(self.importance).__name__}"
            raise MetricError(what, where="View", fix="pass hra.camera.ImportanceMap(values)")

    @property
    def even(self) -> bool:
        """Whether a pixel counts the same all over the view."""
        return self.gaze is None and self.importance is None

    def seen_from(self, placement: Any) -> View:
        """The view in the coordinates of a placed object, see `hra.Camera.seen_from`."""
        return replace(self, camera=self.camera.seen_from(placement))

    def acuity(self, boxes: np.ndarray) -> np.ndarray:
        """What a pixel of displacement counts at most in each box [N, 2, 3]: float64 [N], >= 0.

        Never smaller for a box that contains another. Of no meaning for boxes out of view.
        """
        if self.even:
            return np.full(len(boxes), np.sqrt(self.weight))
        width, height = self.camera.viewport
        matrix, reverse = window_matrix(self.camera), self.camera.reversed_depth
        rects = project_boxes(boxes, matrix, (height, width), reversed_depth=reverse).rects
        acuity = np.full(len(boxes), np.sqrt(self.weight))
        if self.gaze is not None:
            acuity *= self.gaze.largest_linear_weight(rects)
        if self.importance is not None:
            acuity *= np.sqrt(self.importance.largest(rects, (width, height)))
        return acuity


def views_of(context: Any) -> tuple[View, ...]:
    """The views that a metric's context stands for: a camera, a `View`, or a sequence of them.

    Raises
    ------
    MetricError : something else, or no views.
    """
    given = context if isinstance(context, (list, tuple)) else (context,)
    views = tuple(View(item) if isinstance(item, Camera) else item for item in given)
    for i, view in enumerate(views):
        if not isinstance(view, View):
            where = "context" if given is not context else f"context[{i}]"
            raise MetricError(
                f"a metric of the screen needs a hra.Camera or a View, got {type(view).__name__}", where=where
            )
    if not views:
        raise MetricError("a sequence of views is empty", where="context", fix="pass at least one camera")
    return views

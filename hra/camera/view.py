"""What is judged by: one view or several, each with a camera, a weight, and perhaps a gaze or a map of importance.

A map of importance (attention, saliency or gaze) weights what appears at each place of the screen.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, final

import numpy as np

from hra.caching import cached_property
from hra.camera.camera import Camera
from hra.camera.eccentricity import Eccentricity
from hra.camera.occlusion import window_matrix
from hra.errors import ArrayError, MetricError, wrong_kind
from hra.kernels import Pyramid, build_pyramid, project_boxes, rect_max
from hra.model.arrays import frozen, is_number, to_numpy


@final
@dataclass(frozen=True, eq=False)
class ImportanceMap:
    """A map of weights that is stretched over the viewport, such as an attention, a saliency or a gaze map.

    A place of weight 0 does not count at all, and one of weight 1 as it would without a map.

    Parameters
    ----------
    values : finite numbers >= 0 [H, W], of any size; row 0 on top. Kept as float32.

    Raises
    ------
    ArrayError : other values.

    Examples
    --------
    >>> import numpy as np
    >>> from hra.camera import ImportanceMap
    >>> left_counts = ImportanceMap(np.array([[1.0, 0.1]]))
    >>> left_counts.largest(np.array([[0, 0, 99, 99], [700, 0, 799, 599]]), viewport=(800, 600)).round(3).tolist()
    [1.0, 0.1]
    """

    values: np.ndarray

    def __post_init__(self) -> None:
        given = to_numpy(self.values)
        if given.ndim != 2 or given.size == 0 or given.dtype.kind not in "biuf":
            raise ArrayError(f"a map must be numbers [H, W], got {given.dtype} {given.shape}", where="values")
        with np.errstate(over="ignore"):
            values = np.array(given, np.float32)
        if not (np.isfinite(values) & (values >= 0)).all():
            raise ArrayError("a map has values that are negative or not finite", where="values", fix="clip it at 0")
        object.__setattr__(self, "values", frozen(values))

    def largest(self, rects: Any, viewport: tuple[int, int]) -> np.ndarray:
        """An upper bound of the map within rectangles of the screen, [K] float64, by `hra.kernels.rect_max`.

        It is the maximum where a rectangle touches at most 2 x 2 of the map's values, and never smaller for a rectangle
        that contains another. 0 for empty rectangles.

        Parameters
        ----------
        rects : [K, 4] int32, the first and last pixels x0, y0, x1, y1, which are included whole.
        viewport : (width, height) in pixels.
        """
        corners = np.asarray(rects).astype(np.int64)
        size = np.array(self.values.shape[::-1])
        touched = np.empty(corners.shape, np.int32)
        touched[:, :2] = corners[:, :2] * size // viewport
        touched[:, 2:] = ((corners[:, 2:] + 1) * size - 1) // viewport
        # Stretched, an empty rectangle might touch the value that it begins in.
        touched[(corners[:, 2:] < corners[:, :2]).any(axis=1)] = (0, 0, -1, -1)
        return np.maximum(np.asarray(rect_max(self._pyramid, touched), np.float64), 0.0)

    @cached_property
    def _pyramid(self) -> Pyramid:
        return build_pyramid(self.values[..., None], "max")


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
    MetricError : a weight that is not finite and above 0. HraError : something else in the place of camera or gaze.

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
        if not isinstance(self.camera, Camera):
            raise wrong_kind("camera", self.camera, Camera, "make one by hra.Camera.perspective or orbit")
        if not isinstance(self.gaze, Eccentricity | None):
            raise wrong_kind("gaze", self.gaze, Eccentricity, "pass hra.Eccentricity((x, y)), or None")
        if not ((type(self.weight) is float or is_number(self.weight)) and 0 < self.weight < np.inf):
            raise MetricError(f"the weight {self.weight!r:.80} of a view must be finite and above 0", where="View")
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
            what = f"a metric of the screen needs a hra.Camera or a View, got {type(view).__name__}"
            fix = "pass a camera, as hra.Camera.orbit(mesh.bounds); without one use a metric like meshes.SurfaceError()"
            raise MetricError(what, where=where, fix=fix)
    if not views:
        raise MetricError("a sequence of views is empty", where="context", fix="pass at least one camera")
    return views

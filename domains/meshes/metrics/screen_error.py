"""Errors of clusters as cameras see them, and weights of places on the screen, such as saliency maps."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import reduce
from typing import Any, Literal, Protocol, final, get_args, runtime_checkable

import numpy as np

from hra.camera.occlusion import window_matrix
from hra.camera.view import View, views_of
from hra.domains.meshes.metrics.appearance import appearance_errors, check_appearance
from hra.domains.meshes.metrics.displacement import (
    Sources,
    largest_displacements,
    mean_squares,
    source_pixels,
    source_weights,
    sources_of,
)
from hra.errors import EstimateWarning, MetricError, check_choice, check_function, warn
from hra.kernels import project_boxes
from hra.model.arrays import to_numpy
from hra.model.hierarchy import Hierarchy
from hra.model.metrics import ErrorMetric

ErrorName = Literal["certified", "hausdorff", "quadric", "appearance"]
_ERRORS = get_args(ErrorName)
_ESTIMATED = (
    "errors in pixels are estimates, which true displacements may exceed several times, because the mesh was built "
    'without bounds; build it again, or name ScreenError("quadric")'
)
ScreenWeight = Callable[[np.ndarray], Any]
"""positions float64 [n, 2], (x, y) in pixels of a view -> weights [n] >= 0."""

_SAMPLES = 4  # along each side of what a cluster's box covers


@runtime_checkable
class WorldViews(Protocol):
    """Views of one world for many placed copies of a mesh, which know the errors of all copies at once.

    `hra.domains.meshes.scene.placed_errors.PlacedViews` is one: metrics do not know placements.
    """

    @property
    def views(self) -> tuple[View, ...]:
        """The views of the world."""
        ...

    @property
    def even(self) -> bool:
        """Whether acuity is the same all over each view."""
        ...

    def mean_square_gains(
        self, hierarchy: Hierarchy, distances: np.ndarray, gain: np.ndarray, least_error: np.ndarray
    ) -> bool:
        """Fill the gains [R, B] of each copy and the errors [B] left at full detail; whether it could."""
        ...


@final
@dataclass(frozen=True)
class ScreenError(ErrorMetric):
    """The displacement of the surface in pixels; the context is a `Camera` or `View` in the mesh's coordinates.

    For thresholds (`peak`, pixels): the cluster's error times the most pixels that a unit covers anywhere in the source
    beneath it, see `hra.domains.meshes.metrics.displacement`. It never falls from fine to coarse, and
    ``Threshold(tau)`` draws exactly the clusters whose own error is at most tau pixels while that of the coarser group
    is not (Nanite's rule).

    For budgets (`evaluate`, "px2"): the squared displacement in pixels, integrated over the screen and divided by the
    viewport's pixels, as for textures, so that the two share a pool. Scale and screen area are those of the source
    clusters beneath, which are small: the bounds of coarse clusters reach up to the eye and would exaggerate.

    What is out of view has no error.

    Several views (the eye and shadow maps, say) are a list of cameras or `View`: thresholds then hold in each of them,
    and budgets see the sum of the views' squared errors, each times its weight, or the largest. A view's importance map
    weights the errors at each place of its screen by the largest weight that a source cluster may touch, see `View`.

    Parameters
    ----------
    error : what thresholds hold for.

        - "certified", bounds: no visible point of the source or of the cut is farther from the other than
          ``Threshold(tau)`` allows. Where "quadric" is larger it counts, because it knows of textures and normals.
          Budgets minimise "quadric", which is nearer to a mean.
        - "hausdorff": the same bound alone, of positions only, for budgets too.
        - "quadric": the simplifier's own estimate, which true displacements may exceed several times.
        - "appearance": as "certified", and how the surface is lit: a tolerance of 1 keeps displacements within a pixel,
          for certain, and the mean change of the picture, as an estimate, where FLIP is about 0.015 (at most 0.02 in 20
          of 20 pictures of examples/lab/docs/frame-quality.md); see
          `hra.domains.meshes.metrics.appearance.appearance_errors`. The mesh needs
          ``build(.., appearance=True)``. Budgets minimise "quadric".
        - None: "certified" if the mesh carries bounds, as `build` makes them, else "quadric" with a warning.
    weight : what a squared error at each place of a view's screen counts for budgets: positions [n, 2] in pixels to
        [n], >= 0, such as a saliency or attention map (`hra.domains.textures.SaliencyMap` is one). A cluster counts the
        mean over what its source covers. Thresholds are bounds in pixels and take no notice of it.
    views : what budgets see of several views: their "sum", or for each source cluster the one in which it counts most
        ("max"), so that what two eyes see counts no more than what one does.

    Raises
    ------
    MetricError : another error, or something else for ``views``.

    Examples
    --------
    >>> import hra
    >>> from hra.domains import meshes
    >>> skull = meshes.build(hra.samples.path("skull.ply"))
    >>> one_pixel = meshes.MeshAllocator(skull, meshes.ScreenError(), hra.Threshold(1.0))
    >>> allocation = one_pixel.allocate(hra.Camera.orbit(skull.bounds, azimuth=30), budget=float("inf"))
    >>> allocation.max_error <= 1.0
    True
    >>> allocation.metric
    ScreenError(error='certified')
    """

    error: ErrorName | None = None
    weight: ScreenWeight | None = field(default=None, repr=False)
    views: Literal["sum", "max"] = field(default="sum", repr=False)
    _implied: bool = field(default=False, repr=False, compare=False, kw_only=True)

    unit = "px2"

    def __post_init__(self) -> None:
        # What is right is seen in line, what is wrong is named elsewhere: this is on the way from a camera to a cut.
        if self.error is not None and not (isinstance(self.error, str) and self.error in _ERRORS):
            check_choice("error", self.error, _ERRORS, MetricError)
        if self.weight is not None:
            check_function("weight", self.weight, "pass a function of positions [n, 2], such as a SaliencyMap")
        if not (isinstance(self.views, str) and self.views in ("sum", "max")):
            check_choice("views", self.views, ("sum", "max"), MetricError)

    @property
    def certified(self) -> bool:
        """Whether thresholds bound displacements; False as long as the error has no name, see `resolve`."""
        return self.error in ("certified", "hausdorff", "appearance")

    def resolve(self, hierarchy: Hierarchy) -> ScreenError:
        """The metric with the error that None stands for, for clusters of this hierarchy."""
        if self.error is not None:
            return self
        return replace(self, error="certified" if "hausdorff" in hierarchy.node else "quadric", _implied=True)

    def mean_distances(self, hierarchy: Hierarchy) -> np.ndarray:
        """The error of each cluster that budgets minimise, object units, float32 [N]."""
        return self._bounds(hierarchy) if self.error == "hausdorff" else hierarchy.node["error"]

    def largest_distances(self, hierarchy: Hierarchy) -> np.ndarray:
        """The error of each cluster that thresholds bound, object units, float32 [N].

        Warns
        -----
        EstimateWarning : there is no bound, and no error was named.
        """
        named = self.resolve(hierarchy)
        if not named.certified:
            if named._implied:
                warn(_ESTIMATED, EstimateWarning)
            return hierarchy.node["error"]
        bound = self._bounds(hierarchy)
        return bound if named.error == "hausdorff" else np.maximum(bound, hierarchy.node["error"])

    def _bounds(self, hierarchy: Hierarchy) -> np.ndarray:
        """The bound on what each cluster displaces, object units, float32 [N]."""
        if "hausdorff" not in hierarchy.node:
            what = f"the mesh was built without the bounds that the error {self.error!r} reads"
            fix = 'build it with certified=True, a command without --no-certified; or use the error "quadric"'
            raise MetricError(what, where="ScreenError", fix=fix)
        return hierarchy.node["hausdorff"]

    def peak(self, hierarchy: Hierarchy, context: Any) -> np.ndarray:
        """Largest displacement in pixels of each cluster in any view, or what else the error bounds, float64 [N].

        Raises
        ------
        MetricError : the mesh was built without what the error reads.
        """
        distances, named = self.largest_distances(hierarchy), self.resolve(hierarchy)
        seen = [
            errors_in_view(
                named, hierarchy, distances, view, sources_of(hierarchy, view.camera, beside_view=named.certified)
            )
            for view in views_of(context)
        ]
        return reduce(np.maximum, seen)

    def evaluate(self, hierarchy: Hierarchy, context: Any) -> np.ndarray:
        """Squared displacement that each cluster adds to the mean over the viewport, of all views, [N], px2."""
        weights = [self._weights(hierarchy, view) for view in views_of(context)]
        # Joined before they are passed on: errors then never fall from fine to coarse, which maxima of them might.
        joined = reduce(np.add if self.views == "sum" else np.maximum, weights)
        return mean_squares(hierarchy, self.mean_distances(hierarchy), joined)

    def gains_each(
        self, hierarchy: Hierarchy, contexts: Sequence[Any], gain: np.ndarray, least_error: np.ndarray
    ) -> bool:
        """Gains of all copies at once, where the contexts are one world's views without gaze and weight."""
        if not isinstance(contexts, WorldViews) or self.weight is not None or not contexts.even:
            return False
        if self.views == "max" and len(contexts.views) > 1:
            return False
        return contexts.mean_square_gains(hierarchy, self.mean_distances(hierarchy), gain, least_error)

    def _weights(self, hierarchy: Hierarchy, view: View) -> np.ndarray:
        """What a squared error of one unit in each source cluster counts in a view, float64 [N]."""
        weights = source_weights(hierarchy, view, source_pixels(hierarchy, view.camera))
        if self.weight is not None:
            seen = np.flatnonzero(weights)
            weights[seen] *= mean_weights(self.weight, hierarchy.node["box"][seen], view)
        return weights


def errors_in_view(
    metric: ScreenError, hierarchy: Hierarchy, distances: np.ndarray, view: View, sources: Sources
) -> np.ndarray:
    """`ScreenError.peak` of one view, float64 [N], by what of the source is seen.

    Parameters
    ----------
    metric : of a named error; distances : its `ScreenError.largest_distances`.

    Raises
    ------
    MetricError : the mesh was built without what the error reads.
    """
    displaced = largest_displacements(hierarchy, distances, view, sources, both_sides=metric.certified)
    if metric.error != "appearance":
        return displaced
    check_appearance(hierarchy)
    return appearance_errors(hierarchy, view, sources.seen, displaced)


def mean_weights(weight: ScreenWeight, boxes: np.ndarray, view: View) -> np.ndarray:
    """The mean weight of 4 x 4 places in the part of the viewport that each box [N, 2, 3] covers, float64 [N].

    Raises
    ------
    MetricError : weights that are not one finite number >= 0 per position.
    """
    width, height = view.camera.viewport
    camera = view.camera
    rects = project_boxes(boxes, window_matrix(camera), (height, width), reversed_depth=camera.reversed_depth).rects
    low = np.clip(rects[:, :2].astype(np.float64), 0, (width, height))
    # Rectangles name their last pixel, whose far side is one further. Out of view they are (0, 0, -1, -1): all samples
    # then fall on (0, 0), which is in the viewport.
    high = np.clip(rects[:, 2:] + 1.0, low, (width, height))
    share = (np.arange(_SAMPLES) + 0.5) / _SAMPLES
    inside = np.stack(np.meshgrid(share, share), axis=-1).reshape(1, -1, 2)
    places = low[:, None] + (high - low)[:, None] * inside
    found = to_numpy(weight(places.reshape(-1, 2)))
    if found.shape != (places.shape[0] * places.shape[1],) or not (np.isfinite(found) & (found >= 0)).all():
        what = f"weights are {found.dtype} of shape {found.shape}"
        raise MetricError(what, where="weight", fix="return one finite number >= 0 for each position [n, 2]")
    return found.reshape(len(boxes), -1).mean(axis=1, dtype=np.float64)

"""Pixels that count more than others: where somebody looks, and what stands out."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from hra.camera.matrices import viewport_size
from hra.domains.textures.feedback.feedback import Feedback, FeedbackSource, check_source
from hra.errors import MetricError, check_function
from hra.model.arrays import to_numpy


@dataclass(frozen=True, eq=False)
class WeightedFeedback:
    """The feedback of another source, with a weight for the squared error of each sample.

    Parameters
    ----------
    source : one that records positions.
    weight : from positions [n, 2] in pixels to weights [n] >= 0: a `SaliencyMap`, or for foveated rendering
        `Eccentricity.areal_weight`, which divides displacements by the cortical magnification.

    Raises
    ------
    HraError : something else in the place of the source or the weight.

    Examples
    --------
    >>> import numpy as np
    >>> from hra import Camera, Eccentricity
    >>> from hra.domains.textures import AnalyticFeedback, PlaneScene, WeightedFeedback
    >>> scene = PlaneScene.ground(np.zeros((256, 256, 3), np.uint8), width=10.0)
    >>> source = WeightedFeedback(AnalyticFeedback(scene), Eccentricity(gaze=(32, 24)).areal_weight)
    >>> seen = source.observe(Camera.perspective(eye=(0, 4, 6), target=(0, 0, 0), viewport=(64, 48)))
    >>> bool((seen.weight <= 1).all())
    True
    """

    source: FeedbackSource
    weight: Callable[[np.ndarray], Any]

    def __post_init__(self) -> None:
        check_source("source", self.source)
        check_function("weight", self.weight, "pass one such as SaliencyMap(values, viewport)")

    def observe(self, camera: Any) -> Feedback:
        """The feedback of the view of ``camera``, weighted on top of the source's own weights.

        Raises
        ------
        MetricError : samples without positions, or weights that are not finite numbers >= 0, one per sample.
        """
        feedback = self.source.observe(camera)
        if feedback.position is None:
            fix = "use AnalyticFeedback, BoundsFeedback or GLFeedback"
            raise MetricError("the feedback has no positions", where="position", fix=fix)
        weight = to_numpy(self.weight(feedback.position))
        if (
            weight.shape != feedback.page.shape
            or weight.dtype.kind not in "biuf"
            or not (np.isfinite(weight) & (weight >= 0)).all()
        ):
            what = f"weights must be finite numbers >= 0, one for each of {feedback.page.size} samples"
            raise MetricError(what, where=f"{weight.dtype} {list(weight.shape)}")
        before = 1.0 if feedback.weight is None else feedback.weight
        return replace(feedback, weight=(before * weight).astype(np.float32))


@dataclass(frozen=True, eq=False)
class SaliencyMap:
    """Weights from an image stretched over the viewport; call it with positions.

    Parameters
    ----------
    values : finite numbers >= 0 [rows, columns], such as a saliency map or a mask, of any size.
    viewport : (width, height) in pixels.

    Raises
    ------
    MetricError : other values. CameraError : a viewport without pixels.

    Examples
    --------
    >>> import numpy as np
    >>> from hra.domains.textures import SaliencyMap
    >>> left_counts = SaliencyMap(np.array([[1.0, 0.0]]), viewport=(640, 480))
    >>> left_counts(np.array([[100.0, 50.0], [600.0, 50.0]]))
    array([1., 0.])
    """

    values: np.ndarray
    viewport: tuple[int, int]

    def __post_init__(self) -> None:
        values = to_numpy(self.values)
        if values.ndim != 2 or values.size == 0 or not (np.isfinite(values) & (values >= 0)).all():
            raise MetricError("a saliency map must be finite numbers >= 0 [rows, columns]", where=str(values.shape))
        object.__setattr__(self, "values", values)
        object.__setattr__(self, "viewport", viewport_size(self.viewport))

    def __call__(self, positions: np.ndarray) -> np.ndarray:
        """The value of the map under each position [n, 2] in pixels, [n]; MetricError : other positions."""
        size, positions = np.array(self.values.shape[::-1]), to_numpy(positions)
        if positions.ndim != 2 or positions.shape[1] != 2 or np.isnan(positions).any():
            raise MetricError("positions must be numbers [n, 2]", where=f"{positions.dtype} {positions.shape}")
        column, row = np.clip(positions * size / self.viewport, 0, size - 1).astype(np.int64).T
        return self.values[row, column]

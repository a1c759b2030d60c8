"""Weights of places on the screen, such as saliency maps, as weights of clusters."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from hra.camera.occlusion import window_matrix
from hra.camera.view import View
from hra.errors import MetricError
from hra.kernels import project_boxes
from hra.model.arrays import to_numpy

ScreenWeight = Callable[[np.ndarray], Any]
"""positions float64 [n, 2], (x, y) in pixels of a view -> weights [n] >= 0."""

_SAMPLES = 4  # along each side of what a cluster's box covers


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

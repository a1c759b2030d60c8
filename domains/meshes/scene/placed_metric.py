"""Metrics of the world for meshes that are placed in it."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from hra.model.metrics import Combined, ErrorMetric, Scaled


def placed_metric(metric: ErrorMetric, placement: np.ndarray) -> ErrorMetric:
    """The metric in the coordinates of a mesh that ``placement`` float64 [4, 4] puts into the world.

    Sums, products and multiples of metrics are taken apart; what has no method ``seen_from`` stays as it is.
    """
    if isinstance(metric, Scaled):
        return replace(metric, metric=placed_metric(metric.metric, placement))
    if isinstance(metric, Combined):
        left, right = placed_metric(metric.left, placement), placed_metric(metric.right, placement)
        return replace(metric, left=left, right=right)
    moved = getattr(metric, "seen_from", None)
    return metric if moved is None else moved(placement)

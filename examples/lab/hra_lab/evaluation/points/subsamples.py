"""Whole clouds made smaller, for all views alike: the baselines."""

from __future__ import annotations

import numpy as np

from hra.domains.points import PointCloud, SplatCloud


def at_random(cloud: PointCloud | SplatCloud, budget: int) -> PointCloud | SplatCloud:
    """So many of the points, each as much larger as others are missing."""
    chosen = np.sort(np.random.default_rng(0).choice(len(cloud), min(budget, len(cloud)), replace=False))
    return _part(cloud, chosen, len(cloud) / len(chosen))


def on_grid(cloud: PointCloud | SplatCloud, budget: int) -> PointCloud | SplatCloud:
    """The first point of every cell of the finest grid that the budget allows."""
    low, side = cloud.positions.min(axis=0), float(np.ptp(cloud.positions, axis=0).max())
    coarse, fine = 1.0, 4096.0
    for _ in range(30):
        middle = (coarse + fine) / 2
        if len(_cells(cloud, low, side / middle)) <= budget:
            coarse = middle
        else:
            fine = middle
    chosen = _cells(cloud, low, side / coarse)
    return _part(cloud, chosen, len(cloud) / len(chosen))


def _cells(cloud: PointCloud | SplatCloud, low: np.ndarray, side: float) -> np.ndarray:
    place = np.floor((cloud.positions - low) / side).astype(np.int64)
    return np.unique(place @ np.array([1, 10_000, 100_000_000]), return_index=True)[1]


def _part(cloud: PointCloud | SplatCloud, chosen: np.ndarray, larger: float) -> PointCloud | SplatCloud:
    if isinstance(cloud, PointCloud):
        return PointCloud(cloud.positions[chosen], cloud.colors[chosen], cloud.radii[chosen] * np.sqrt(larger))
    return SplatCloud(
        cloud.positions[chosen], cloud.covariances[chosen] * larger, cloud.colors[chosen], cloud.opacities[chosen]
    )

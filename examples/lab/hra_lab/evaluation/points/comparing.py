"""Ours and the others at equal counts: PSNR and FLIP against full detail, from all sides.

Whole clouds made smaller, for all views alike: the baselines.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from typing import Any

import numpy as np

from hra.camera import Camera
from hra.domains import points
from hra.domains.points import PointCloud, SplatCloud
from hra.files.images import flip, psnr
from hra_lab.evaluation.points import peers

OURS = "by the picture"
METRICS = {OURS: points.PictureError(), "by bounds": points.CloudError()}
_RULES = {"Potree": peers.potree, "Spark": peers.spark, "PlayCanvas": peers.playcanvas}
PEERS = tuple(_RULES)


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


BASELINES = {"random": at_random, "grid": on_grid}


def _cells(cloud: PointCloud | SplatCloud, low: np.ndarray, side: float) -> np.ndarray:
    place = np.floor((cloud.positions - low) / side).astype(np.int64)
    return np.unique(place @ np.array([1, 10_000, 100_000_000]), return_index=True)[1]


def _part(cloud: PointCloud | SplatCloud, chosen: np.ndarray, larger: float) -> PointCloud | SplatCloud:
    if isinstance(cloud, PointCloud):
        return PointCloud(cloud.positions[chosen], cloud.colors[chosen], cloud.radii[chosen] * np.sqrt(larger))
    return SplatCloud(
        cloud.positions[chosen], cloud.covariances[chosen] * larger, cloud.colors[chosen], cloud.opacities[chosen]
    )


def compare(cloud: Any, shares: tuple[float, ...], views: int, viewport: tuple[int, int]) -> Iterator[dict[str, Any]]:
    """A record for each view, share and method.

    It has ``psnr`` in dB and ``flip`` against full detail, ``count``, ``cpu_s`` from the camera to what to draw, and
    for ours the ``gap``. Views go around, alternately from above and from below.
    """
    tree = points.build(cloud)
    full = tree.take(tree.leaves)
    for side in range(views):
        camera = Camera.orbit(tree.bounds, 360 / views * side, 20 * (-1) ** side, up=(0, 0, 1), viewport=viewport)
        reference = points.render(full, camera)[0]
        for share in shares:
            for name, seconds, drawn, gap in _methods(tree, full, camera, int(share * len(cloud))):
                picture = points.render(drawn, camera)[0]
                yield {
                    **{"view": side, "share": share, "method": name, "count": len(drawn), "gap": gap},
                    **{"psnr": psnr(picture, reference), "flip": flip(picture, reference), "cpu_s": seconds},
                }


def _methods(tree: Any, full: Any, camera: Camera, budget: int) -> Iterator[tuple[str, float, Any, float | None]]:
    """Name, processor seconds, what to draw, gap."""
    for name, metric in METRICS.items():
        start, allocator = time.process_time(), points.PointAllocator(tree, metric)
        allocation = allocator.allocate(camera, budget)
        yield name, time.process_time() - start, allocator.realize(allocation), allocation.gap
    for name, rule in _RULES.items():
        start = time.process_time()
        chosen = rule(tree, camera, budget)
        yield name, time.process_time() - start, tree.take(chosen), None
    for name, make in BASELINES.items():
        start = time.process_time()
        drawn = make(full, budget)
        yield name, time.process_time() - start, drawn, None

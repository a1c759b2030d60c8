"""Ours and the others at equal counts: PSNR and FLIP against full detail, from all sides."""

from __future__ import annotations

import time
from collections.abc import Iterator
from typing import Any

from hra.camera import Camera
from hra.domains import points
from hra.files.images import flip, psnr
from hra_lab.evaluation.points import peers, subsamples

OURS = "by the picture"
METRICS = {OURS: points.PictureError(), "by bounds": points.CloudError()}
_RULES = {"Potree": peers.potree, "Spark": peers.spark, "PlayCanvas": peers.playcanvas}
PEERS = tuple(_RULES)
BASELINES = {"random": subsamples.at_random, "grid": subsamples.on_grid}


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

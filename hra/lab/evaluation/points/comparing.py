"""Ours and the others at equal counts: PSNR and FLIP against full detail, from eight sides."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from hra.camera import Camera
from hra.domains import points
from hra.images import flip, psnr
from hra.lab.evaluation.points import peers, subsamples

SHARES, VIEWS, VIEWPORT = (0.01, 0.05, 0.2), 8, (512, 512)
_RULES = {"Potree": peers.potree, "Spark": peers.spark, "PlayCanvas": peers.playcanvas}
METRICS = {"by the picture": points.PictureError(), "by bounds": points.CloudError()}
PEERS = tuple(_RULES)
BASELINES = {"random": subsamples.at_random, "grid": subsamples.on_grid}


def cameras(bounds: np.ndarray) -> list[Camera]:
    """From eight sides, alternately from above and from below."""
    sides = range(VIEWS)
    return [Camera.orbit(bounds, 45 * i, 20 * (-1) ** i, up=(0, 0, 1), viewport=VIEWPORT) for i in sides]


def compare(cloud: Any, shares: tuple[float, ...] = SHARES) -> Iterator[dict[str, Any]]:
    """A record for each view, share and method: PSNR (dB), FLIP, count, and for ours the gap."""
    tree = points.build(cloud)
    full = tree.take(tree.leaves)
    for side, camera in enumerate(cameras(tree.bounds)):
        reference = points.render(full, camera)[0]
        for share in shares:
            budget = int(share * len(cloud))
            for name, (drawn, gap) in _methods(tree, full, camera, budget).items():
                picture = points.render(drawn, camera)[0]
                yield {
                    **{"view": side, "share": share, "method": name, "count": len(drawn), "gap": gap},
                    **{"psnr": psnr(picture, reference), "flip": flip(picture, reference)},
                }


def _methods(tree: Any, full: Any, camera: Camera, budget: int) -> dict[str, tuple[Any, float | None]]:
    found: dict[str, tuple[Any, float | None]] = {}
    for name, metric in METRICS.items():
        allocator = points.PointAllocator(tree, metric)
        allocation = allocator.allocate(camera, budget)
        found[name] = allocator.realize(allocation), allocation.gap
    found |= {name: (tree.take(rule(tree, camera, budget)), None) for name, rule in _RULES.items()}
    return found | {name: (make(full, budget), None) for name, make in BASELINES.items()}


def table(records: list[dict[str, Any]]) -> dict[tuple[float, str], tuple[float, float]]:
    """Mean PSNR and FLIP over the views, by share and method."""
    keys = dict.fromkeys((record["share"], record["method"]) for record in records)
    return {key: (_mean(records, key, "psnr"), _mean(records, key, "flip")) for key in keys}


def _mean(records: list[dict[str, Any]], key: tuple[float, str], name: str) -> float:
    return float(np.mean([r[name] for r in records if (r["share"], r["method"]) == key]))

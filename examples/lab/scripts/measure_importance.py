#!/usr/bin/env python
"""Measure what docs/meshes.md says about importance maps: three ways to weight errors, beside a cut without a map.

Run ``python examples/lab/scripts/measure_importance.py``; it takes half a minute. Judged by the squared
distance in pixels of points of the source from the cut, times the map under each point.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from typing import Any

import numpy as np
from scipy.ndimage import gaussian_filter

import hra
from hra import samples
from hra.camera import ImportanceMap, View
from hra.domains import meshes
from hra.domains.textures import SaliencyMap

VIEWPORT, SHAPE = (960, 720), (72, 96)
BUDGETS, AZIMUTHS = (1_500, 4_000, 10_000), (20, 110, 200)
QUADRIC = meshes.ScreenError("quadric")


class OwnWeight(hra.ErrorMetric):
    """The error of each cluster times the weight of its own box."""

    unit = "px2"

    def evaluate(self, hierarchy: hra.Hierarchy, context: Any) -> np.ndarray:
        """Squared errors [N] in the context, a view with a map."""
        plain = QUADRIC.evaluate(hierarchy, context.camera)
        return plain * context.acuity(hierarchy.attribute("box")) ** 2


def maps() -> dict[str, np.ndarray]:
    """Maps of 72 x 96 values by name."""
    row, column = np.mgrid[: SHAPE[0], : SHAPE[1]]

    def spot(x: int, y: int, width: float) -> np.ndarray:
        return np.exp(-((column - x) ** 2 + (row - y) ** 2) / (2 * width * width))

    noise = gaussian_filter(np.random.default_rng(0).random(SHAPE), 4)
    return {
        "one value of the map and its neighbours": spot(60, 20, 0.6),
        "a small spot": spot(48, 30, 6),
        "a large spot": (spot(40, 36, 12) + 0.02).clip(0, 1),
        "smooth noise, cubed": ((noise - noise.min()) / np.ptp(noise)) ** 3,
    }


def ways(camera: hra.Camera, values: np.ndarray) -> Iterator[tuple[hra.ErrorMetric, Any]]:
    """Metric and context: without the map, by the largest weight, by the mean, and by each cluster's own box."""
    view = View(camera, importance=ImportanceMap(values))
    yield QUADRIC, camera
    yield QUADRIC, view
    yield meshes.ScreenError("quadric", weight=SaliencyMap(values, VIEWPORT)), camera
    yield OwnWeight(), view


def remaining(mesh: meshes.TriangleMesh, points: np.ndarray, camera: hra.Camera, values: np.ndarray) -> float:
    """Weighted squared pixels between points of the source and a cut, by the area that they cover."""
    place = camera.project(points).pixels
    inside = ((place >= 0) & (place < VIEWPORT)).all(axis=1)
    points, (column, row) = points[inside], (place[inside] * SHAPE[::-1] / VIEWPORT).astype(int).T
    scale = camera.visible_pixels_per_unit(points, np.zeros(len(points)), np.ones(len(points), bool))
    distance = meshes.nearest_distances(points, mesh.positions, mesh.triangles)
    return float((values[row, column] * (distance * scale) ** 2 * scale**2).sum())


def main() -> None:
    """Print the table as Markdown."""
    skull = meshes.build(samples.path("skull.ply"))
    source = skull.mesh(np.flatnonzero(skull.hierarchy.removed_by < 0))
    points = meshes.surface_points(source, 8_000, np.random.default_rng(1)).astype(np.float32)
    place = {"distance": 1.1 * np.ptp(skull.bounds, axis=0).max(), "elevation": 10, "up": (0, 0, 1)}
    print("| map | largest weight | mean weight | weight of each cluster by itself |\n| --- | --- | --- | --- |")
    for name, values in maps().items():
        logs = np.zeros((4, len(BUDGETS)))
        for azimuth in AZIMUTHS:
            camera = hra.Camera.orbit(skull.bounds, azimuth=azimuth, viewport=VIEWPORT, **place)
            for way, (metric, context) in enumerate(ways(camera, values)):
                allocator = meshes.MeshAllocator(skull, metric)
                cuts = [allocator.realize(allocator.allocate(context, budget)) for budget in BUDGETS]
                logs[way] += [np.log(remaining(cut, points, camera, values)) / len(AZIMUTHS) for cut in cuts]
        ratios = np.exp(logs[1:] - logs[0])
        print(f"| {name} | {' | '.join(', '.join(f'{ratio:.2g}' for ratio in way) for way in ratios)} |", flush=True)


if __name__ == "__main__":
    argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter).parse_args()
    main()

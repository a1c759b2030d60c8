"""How far cuts at one pixel are from full detail, as an eye sees it, and which tolerance is close enough."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from hra.camera import Camera
from hra.domains import meshes
from hra.domains.meshes.metrics.screen_error import ErrorName
from hra.files.images.quality import flip_map
from hra.traversals.threshold import Threshold
from hra_lab.evaluation.frames.stage import Shot, Stage, Surface, finest
from hra_lab.inputs.mesh_sources import with_normals

PIXELS_PER_DEGREE = 67.0
LIMIT = 0.02
"""The mean FLIP that a cut at one pixel is meant to stay below."""

TOLERANCES = (1.0, 0.7, 0.5, 0.35, 0.25, 0.18, 0.125)
"""In pixels: each half of the one before the last, tried until one stays below the limit."""

# Farther than FLIP's filters reach at 67 pixels per degree, so that what is cut off changes nothing that counts.
_MARGIN = 40


@dataclass(frozen=True)
class PixelViews:
    """Cameras around a mesh.

    Attributes
    ----------
    count : of each distance; viewport : width and height in pixels.
    """

    count: int
    viewport: tuple[int, int]

    def cameras(self, bounds: np.ndarray) -> Iterator[tuple[str, list[Camera]]]:
        """By name of the distance of the eye from the middle."""
        longest = float(np.ptp(bounds, axis=0).max())
        for name, sizes in (("all in view", 1.5), ("close up", 0.75)):
            yield name, [self._camera(bounds, number, sizes * longest) for number in range(self.count)]

    def _camera(self, bounds: np.ndarray, number: int, distance: float) -> Camera:
        elevation = 20 if number % 2 == 0 else -20
        around = 30 + 360 / self.count * number
        return Camera.orbit(bounds, azimuth=around, elevation=elevation, distance=distance, viewport=self.viewport)


def pixel_rows(name: str, source: meshes.TriangleMesh, views: PixelViews) -> Iterator[dict[str, Any]]:
    """One row per shading, distance and error at a tolerance of 1, and one for each finer certified one that was tried.

    Yields
    ------
    "mesh", "source_triangles", "shading", "view", "error", "tolerance" in pixels; over the views: "triangles" on
    average, "covered" the share of pixels where either shows something, and "flip" and "worst", mean and largest of the
    mean FLIP over those pixels.
    """
    for shading, mesh in (("flat", source), ("smooth", with_normals(source))):
        clusters = meshes.build(mesh, appearance=True)
        with Stage([clusters], views.viewport) as stage:
            for view, cameras in views.cameras(clusters.bounds):
                facts = {"mesh": name, "source_triangles": clusters.triangle_count, "shading": shading, "view": view}
                for found in _cuts(stage, clusters, cameras):
                    yield facts | found


def _cuts(stage: Stage, clusters: meshes.ClusterMesh, cameras: list[Camera]) -> Iterator[dict[str, Any]]:
    truth = [stage.shot(finest(clusters), camera) for camera in cameras]
    for error in ("quadric", "appearance"):
        yield _found(stage, clusters, (error, TOLERANCES[0]), cameras, truth)
    for tolerance in TOLERANCES:
        row = _found(stage, clusters, ("certified", tolerance), cameras, truth)
        yield row
        if row["flip"] <= LIMIT:
            return


def _found(
    stage: Stage, clusters: meshes.ClusterMesh, by: tuple[ErrorName, float], cameras: list[Camera], truth: list[Shot]
) -> dict[str, Any]:
    error, tolerance = by
    allocator = meshes.MeshAllocator(clusters, meshes.ScreenError(error), Threshold(tolerance))
    cuts = [allocator.allocate(camera, np.inf) for camera in cameras]
    shots = [stage.shot(Surface(0, cut.cut), camera) for cut, camera in zip(cuts, cameras, strict=True)]
    found = [difference(shot, true) for shot, true in zip(shots, truth, strict=True)]
    flips, covered = [flip for flip, _ in found], [share for _, share in found]
    return {
        "error": error,
        "tolerance": tolerance,
        "triangles": float(np.mean([cut.cost for cut in cuts])),
        "covered": float(np.mean(covered)),
        "flip": float(np.mean(flips)),
        "worst": float(np.max(flips)),
    }


def difference(shot: Shot, truth: Shot) -> tuple[float, float]:
    """Mean FLIP over the pixels that either of two pictures covers, and their share of the picture."""
    either = shot.covered | truth.covered
    if not either.any():
        return 0.0, 0.0
    rows, columns = np.nonzero(either)
    part = _extent(rows), _extent(columns)
    flips = flip_map(shot.colors[part], truth.colors[part], PIXELS_PER_DEGREE)
    return float(flips[either[part]].mean(dtype=np.float64)), float(either.mean())


def _extent(places: np.ndarray) -> slice:
    return slice(max(int(places.min()) - _MARGIN, 0), int(places.max()) + 1 + _MARGIN)

"""The evaluation of cuts: every method at equal triangle counts, judged by what eight cameras see."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from hra.camera import Camera
from hra.domains import meshes
from hra.errors import FileError
from hra.kernels import raster
from hra_lab.evaluation.meshes.groups import group_size_rows
from hra_lab.evaluation.meshes.image_error import mean_errors
from hra_lab.evaluation.meshes.methods import Subject, surfaces
from hra_lab.evaluation.meshes.views import draw
from hra_lab.inputs.mesh_sources import DATA, bumpy, fetch, skull

# Of the longest side of the mesh's box: as near as the eye comes where part of the mesh is out of view.
_CLOSE_UP = 0.75


@dataclass(frozen=True)
class MeshSizes:
    """How much of the evaluation to run.

    Attributes
    ----------
    bumpy : subdivisions of the displaced spheres; fetched : files of `make data`, left out where they are missing.
    shares : of the source's triangles, the budgets; views : around the mesh; viewport : width and height in pixels.
    group_sizes : clusters per group that are compared.
    """

    bumpy: tuple[int, ...] = (6, 7)
    fetched: tuple[str, ...] = ("armadillo.off", "dragon.ply")
    shares: tuple[float, ...] = (0.01, 0.05, 0.2)
    views: int = 8
    viewport: tuple[int, int] = (640, 480)
    group_sizes: tuple[int, ...] = (4, 8, 12, 16, 32)


FULL = MeshSizes()
# Shows that everything runs.
SMALL = MeshSizes(bumpy=(4,), fetched=(), shares=(0.3,), views=2, viewport=(96, 72), group_sizes=(4, 12))


def run(sizes: MeshSizes, progress: Callable[[str], None], folder: Path = DATA) -> dict[str, Any]:
    """All errors as plain data.

    ``rows`` has one row per mesh, distance, budget and method, ``groups`` one per mesh and group size, and ``skipped``
    says what was left out and why.

    Parameters
    ----------
    progress : is told what is being worked on.
    folder : that `make data` filled.

    Raises
    ------
    MissingExtra, BackendUnavailable : ModernGL, or a driver with OpenGL 4.5, is missing.
    """
    rows, groups, skipped = [], [], []
    with raster.Context() as context:
        for name, load in _sources(sizes, folder):
            progress(name)
            try:
                subject = Subject.of(name, load())
            except FileError as error:
                skipped.append({"mesh": name, "reason": f"{error.what}: {error.where}"})
                continue
            rows += _rows(context, subject, sizes)
            groups += _group_rows(context, subject, sizes)
    return {"rows": rows, "groups": groups, "skipped": skipped, "views": sizes.views, "viewport": sizes.viewport}


def _sources(sizes: MeshSizes, folder: Path) -> Iterator[tuple[str, Callable[[], meshes.TriangleMesh]]]:
    """Names, and what loads each mesh; the skull only where it is shown at full size."""
    if sizes.fetched:
        yield "skull", skull
    for subdivisions in sizes.bumpy:
        yield f"bumpy sphere {subdivisions}", lambda subdivisions=subdivisions: bumpy(subdivisions)
    for name in sizes.fetched:
        yield Path(name).stem, lambda name=name: meshes.load(fetch(name, folder))


def _rows(context: raster.Context, subject: Subject, sizes: MeshSizes) -> Iterator[dict[str, Any]]:
    bounds = subject.source.bounds
    close = _CLOSE_UP * float(np.ptp(bounds, axis=0).max())
    for view, distance in (("all in view", None), ("close up", close)):
        cameras = [_camera(bounds, number, distance, sizes) for number in range(sizes.views)]
        truth = [draw(context, subject.source, camera) for camera in cameras]
        diagonal = float(np.linalg.norm(np.ptp(bounds, axis=0)))
        for share in sizes.shares:
            budget = max(int(share * subject.clusters.triangle_count), subject.clusters.root_triangle_count)
            for method, surface in surfaces(subject, budget, context, cameras).items():
                drawn = [surface(camera) for camera in cameras]
                yield {
                    "mesh": subject.name,
                    "source_triangles": subject.clusters.triangle_count,
                    "view": view,
                    "share": share,
                    "budget": budget,
                    "method": method,
                    "triangles": float(np.mean([len(mesh.triangles) for mesh in drawn])),
                    **mean_errors(context, zip(drawn, cameras, truth, strict=True), diagonal),
                }


def _group_rows(context: raster.Context, subject: Subject, sizes: MeshSizes) -> Iterator[dict[str, Any]]:
    cameras = [_camera(subject.source.bounds, number, None, sizes) for number in range(sizes.views)]
    seen = [(camera, draw(context, subject.source, camera)) for camera in cameras]
    for row in group_size_rows(context, subject.source, sizes.group_sizes, sizes.shares, seen):
        yield {"mesh": subject.name, **row}


def _camera(bounds: np.ndarray, number: int, distance: float | None, sizes: MeshSizes) -> Camera:
    """Evenly around the mesh, now from above and now from below."""
    return Camera.orbit(
        bounds,
        azimuth=360 / sizes.views * number,
        elevation=20 if number % 2 == 0 else -20,
        distance=distance,
        viewport=sizes.viewport,
        reversed_depth=True,
    )

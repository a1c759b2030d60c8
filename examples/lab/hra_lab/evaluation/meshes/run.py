"""The evaluation of cuts: every method at equal triangle counts, judged by what eight cameras see.

What the number of clusters per group changes: steps, root, time to build, and what cuts look like.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from hra.camera import Camera
from hra.domains import meshes
from hra.errors import FileError
from hra.kernels import raster
from hra_lab.evaluation.meshes.image_error import mean_errors
from hra_lab.evaluation.meshes.methods import Subject, surfaces
from hra_lab.evaluation.meshes.views import Rendering, draw
from hra_lab.inputs.mesh_sources import DATA, bumpy, fetch, skull

# Of the longest side of the mesh's box: as near as the eye comes where part of the mesh is out of view.
_CLOSE_UP = 0.75


def group_size_rows(
    context: raster.Context,
    source: meshes.TriangleMesh,
    sizes: Sequence[int],
    shares: Sequence[float],
    seen: Sequence[tuple[Camera, Rendering]],
) -> Iterator[dict[str, Any]]:
    """One row per size: the hierarchy, its build without bounds, and the errors of budget cuts.

    Parameters
    ----------
    sizes : clusters per group; shares : of the source's triangles, the budgets.
    seen : cameras, and what they see of the source.

    Yields
    ------
    "group_size", "groups", "root_triangles", "cpu_s" as in `BuildReport`; "step", median of the triangles that a
    refinement adds; and for each share, as a list: "share", "triangles" drawn on average, the mean errors of
    `mean_errors`, and "residual_gap", the largest of all views.
    """
    diagonal = float(np.linalg.norm(np.ptp(source.bounds, axis=0)))
    for size in sizes:
        clusters = meshes.build(source, group_size=size, certified=False)
        report = clusters.report
        if report is None:
            raise ValueError("a mesh that was just built has a report")
        yield {
            "group_size": size,
            "groups": report.groups,
            "root_triangles": report.root_triangles,
            "cpu_s": report.cpu_s,
            "step": float(np.median(clusters.hierarchy.cost)),
            "cuts": [_cuts(context, clusters, share, seen, diagonal) for share in shares],
        }


def _cuts(
    context: raster.Context,
    clusters: meshes.ClusterMesh,
    share: float,
    seen: Sequence[tuple[Camera, Rendering]],
    diagonal: float,
) -> dict[str, float]:
    """Budget cuts of one mesh at one share of its triangles, for all cameras."""
    allocator = meshes.MeshAllocator(clusters)
    budget = max(int(share * clusters.triangle_count), clusters.root_triangle_count)
    allocations = [allocator.allocate(camera, budget) for camera, _ in seen]
    shown = [(allocator.realize(own), *view) for own, view in zip(allocations, seen, strict=True)]
    return {
        "share": share,
        "triangles": float(np.mean([allocation.cost for allocation in allocations])),
        **mean_errors(context, shown, diagonal),
        "residual_gap": max(allocation.residual_gap for allocation in allocations),
    }


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

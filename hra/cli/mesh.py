"""``hra mesh``: build a cluster hierarchy, look at it, cut it."""

from __future__ import annotations

import math
import time
from dataclasses import asdict
from pathlib import Path
from typing import Annotated, Any, cast

import typer

from hra.cli.output import JsonOption, show, size, write_json
from hra.errors import HraError

app = typer.Typer(help="Cluster level of detail of triangle meshes.", no_args_is_help=True)
InputArgument = Annotated[Path, typer.Argument(help="A mesh that was built by `hra mesh build`.")]


@app.command()
def build(
    source: Annotated[Path, typer.Argument(help="OBJ, PLY, STL, OFF, GLB or glTF.")],
    out: Annotated[Path, typer.Option("-o", "--out", help="The built mesh, .npz.")],
    cluster_size: Annotated[int, typer.Option(help="Triangles per cluster at most.")] = 64,
    group_size: Annotated[int, typer.Option(help="Clusters per group; smaller gives finer budgets.")] = 8,
    certified: Annotated[bool, typer.Option("--certified", help="Bound the distance from the source as well.")] = False,
    json_file: JsonOption = None,
) -> None:
    """Build the cluster hierarchy of a mesh file."""
    from hra.domains import meshes

    start = time.perf_counter()
    clusters = meshes.build(source, cluster_size=cluster_size, group_size=group_size, certified=certified)
    record = {**_facts(clusters), "build_s": time.perf_counter() - start}
    clusters.save(out)
    write_json(json_file, record)
    show(f"{source.name} -> {out}", record.items())


@app.command()
def info(mesh: InputArgument, json_file: JsonOption = None) -> None:
    """Show levels, clusters and triangles of a built mesh."""
    from hra.domains import meshes

    record = _facts(meshes.load_clusters(mesh))
    write_json(json_file, record)
    show(mesh.name, record.items())


@app.command()
def check(
    mesh: InputArgument,
    cuts: Annotated[int, typer.Option(min=1, help="Random cuts that are tried for cracks.")] = 200,
    samples: Annotated[int, typer.Option(min=1, help="Points of the source measured on every tenth cut.")] = 2000,
    json_file: JsonOption = None,
) -> None:
    """Check a built mesh: monotone errors, nested bounds, no cracks, deviations that hold. Exit code 1 if it fails."""
    from hra.domains import meshes

    report = meshes.check(meshes.load_clusters(mesh), cuts=cuts, samples=samples)
    record = {"sound": report.sound, **asdict(report)}
    write_json(json_file, record)
    show(mesh.name, record.items())
    if not report.sound:
        raise typer.Exit(1)


@app.command()
def cut(
    mesh: InputArgument,
    out: Annotated[Path | None, typer.Option("-o", "--out", help="The cut as GLB.")] = None,
    triangles: Annotated[float, typer.Option(help="Triangle budget, never exceeded.")] = math.inf,
    pixels: Annotated[float | None, typer.Option(help="Largest projected error in pixels.")] = None,
    azimuth: Annotated[float, typer.Option(help="Camera around the mesh, degrees.")] = 30.0,
    elevation: Annotated[float, typer.Option(help="Camera above the mesh, degrees.")] = 10.0,
    distance: Annotated[float | None, typer.Option(help="Camera to centre; by default all is in view.")] = None,
    viewport: Annotated[str, typer.Option(help="Screen size.")] = "1920x1080",
    error: Annotated[str, typer.Option(help="quadric, or deviation (built with --certified).")] = "quadric",
    json_file: JsonOption = None,
) -> None:
    """Cut a built mesh to a triangle budget, a pixel error, or both, as a camera sees it."""
    from hra.camera import Camera
    from hra.domains import meshes
    from hra.traversals.exact import Exact
    from hra.traversals.threshold import Threshold

    if pixels is None and math.isinf(triangles):
        raise HraError(
            "neither a budget nor an error was given", where="hra mesh cut", fix="add --triangles or --pixels"
        )
    clusters = meshes.load_clusters(mesh)
    camera = Camera.orbit(
        clusters.bounds, azimuth=azimuth, elevation=elevation, distance=distance, viewport=size(viewport)
    )
    metric = meshes.ScreenError(cast(Any, error))
    allocator = meshes.MeshAllocator(clusters, metric, Exact() if pixels is None else Threshold(pixels))
    allocation = allocator.allocate(camera, triangles)
    record = {
        "error": error,
        "triangles": int(allocation.cost),
        "clusters": allocation.cut.size,
        "residual_px2": allocation.residual,
        "largest_error_px": allocation.max_error,
        "gap": allocation.gap,
        "residual_gap": allocation.residual_gap,
        "seconds": allocation.seconds,
    }
    if out is not None:
        allocator.realize(allocation).export(out)
    write_json(json_file, record)
    show(repr(allocation), record.items())


def _facts(clusters: Any) -> dict[str, Any]:
    hierarchy = clusters.hierarchy
    return {
        "triangles": clusters.triangle_count,
        "clusters": hierarchy.node_cost.size,
        "groups": len(hierarchy),
        "certified": "deviation" in hierarchy.node,
        "levels": int(hierarchy.attribute("level").max()) + 1,
        "root_triangles": clusters.root_triangle_count,
    }

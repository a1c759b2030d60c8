"""``hra mesh render`` and ``hra mesh view``: a cut as a picture and in a window."""

from __future__ import annotations

import math
from enum import Enum
from pathlib import Path
from typing import Annotated

import typer

from hra.console import JsonOption, MetricOption, TraversalOption, choose_traversal, show, with_option_lists, write_json
from hra.console.camera_options import CameraOptions, ViewportOption
from hra.domains.meshes.commands.cutting import BuiltMesh, CutOptions, ErrorOption


class Color(Enum):
    """What colours stand for."""

    shaded = "shaded"
    cluster = "cluster"
    level = "level"
    error = "error"


ColorOption = Annotated[Color, typer.Option(help="What colours stand for.")]


@with_option_lists
def render(
    mesh: BuiltMesh,
    out: Annotated[Path, typer.Option("-o", "--out", help="The picture, PNG.")],
    limits: CutOptions,
    placed: CameraOptions,
    color: ColorOption = Color.shaded,
    viewport: ViewportOption = "1280x720",
    json_file: JsonOption = None,
) -> None:
    """Draw a cut of a built mesh, or all of it, to a picture."""
    from hra.domains import meshes
    from hra.images import save_png

    asset = meshes.open_asset(mesh)
    camera = placed.camera(asset.bounds, viewport)
    _, allocation = limits.allocate(asset, camera)
    save_png(out, meshes.render(asset, allocation.cut, camera, color.value))
    drawn = int(asset.triangles_per_cluster[allocation.cut].sum())
    record = {"picture": str(out), "triangles": drawn, "clusters": allocation.cut.size, "color": color.value}
    write_json(json_file, record)
    show(repr(allocation), record.items())


@with_option_lists
def view(
    mesh: BuiltMesh,
    placed: CameraOptions,
    triangles: Annotated[float | None, typer.Option(help="Where the slider starts; all by default.")] = None,
    error: ErrorOption = None,
    metric: MetricOption = None,
    traversal: TraversalOption = None,
    color: ColorOption = Color.cluster,
    viewport: ViewportOption = "1280x800",
    screenshot: Annotated[Path | None, typer.Option(help="Write a PNG instead of opening a window.")] = None,
) -> None:
    """Open a window on a built mesh: a slider for the budget, keys 1 to 4 for the colours."""
    from hra.domains import meshes

    asset = meshes.open_asset(mesh)
    camera = placed.camera(asset.bounds, viewport)
    budget = math.inf if triangles is None else triangles
    chosen = {
        "metric": CutOptions(error=error, metric=metric).chosen_metric(asset),
        "traversal": None if traversal is None else choose_traversal(traversal),
    }
    viewer = meshes.Viewer(asset, camera, budget, color.value, **chosen, off_screen=screenshot is not None)
    if screenshot is None:
        viewer.show()
    else:
        viewer.save(screenshot)
    viewer.close()

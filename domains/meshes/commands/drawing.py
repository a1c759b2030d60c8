"""``hra mesh render`` and ``hra mesh view``: a cut as a picture and in a window."""

from __future__ import annotations

import math
from enum import Enum
from pathlib import Path
from typing import Annotated

import typer

from hra.console import (
    JsonOption,
    MetricOption,
    TraversalOption,
    choose_traversal,
    running,
    show,
    with_option_lists,
    write_json,
    written_as,
)
from hra.console.camera_options import VIEWPORT, CameraOptions, ViewportOption
from hra.domains.meshes.commands.cutting import end_with_verdict
from hra.domains.meshes.commands.limits import BuiltMesh, CutOptions, ErrorOption, TrianglesOption, corners


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
    out: Annotated[Path, typer.Option("-o", "--out", callback=written_as(".png"), help="The picture, PNG.")],
    limits: CutOptions,
    placed: CameraOptions,
    color: ColorOption = Color.shaded,
    viewport: ViewportOption = VIEWPORT,
    json_file: JsonOption = None,
) -> None:
    """Draw a cut of a built mesh, or all of it, to a picture.

    The cut is that of `hra mesh cut` with the same options: without a direction it is the same for all sides.
    """
    from hra.domains import meshes
    from hra.images import save_png

    with running(f"drawing {mesh.name}"):
        asset = meshes.open_asset(mesh)
        chosen = limits.cut(asset, placed, viewport)
        allocation = chosen.allocation
        save_png(out, meshes.render(asset, allocation.cut, chosen.view.camera, color.value))
    facts = {"picture": str(out), "triangles": chosen.triangles, "clusters": allocation.cut.size, "color": color.value}
    record = {**facts, **chosen.errors()}
    write_json(json_file, record)
    show(repr(allocation), record.items())
    end_with_verdict(chosen)


@with_option_lists
def view(
    mesh: BuiltMesh,
    placed: CameraOptions,
    triangles: TrianglesOption = None,
    error: ErrorOption = None,
    metric: MetricOption = None,
    traversal: TraversalOption = None,
    color: ColorOption = Color.cluster,
    viewport: ViewportOption = VIEWPORT,
    screenshot: Annotated[
        Path | None, typer.Option(callback=written_as(".png"), help="Write a PNG instead of opening a window.")
    ] = None,
) -> None:
    """Open a window on a built mesh: a slider for the budget, keys 1 to 4 for the colours."""
    from hra.domains import meshes

    with running(f"opening {mesh.name}"):
        asset = meshes.open_asset(mesh)
        camera = placed.camera(corners(asset), viewport)
        chosen = {
            "metric": CutOptions(error=error, metric=metric).chosen_metric(asset),
            "traversal": None if traversal is None else choose_traversal(traversal),
        }
        budget = math.inf if triangles is None else triangles
        viewer = meshes.Viewer(asset, camera, budget, color.value, **chosen, off_screen=screenshot is not None)
    if screenshot is None:
        viewer.show()
    else:
        viewer.save(screenshot)
        typer.echo(f"{screenshot}: {viewport} pixels, {viewer.allocation}")
    viewer.close()

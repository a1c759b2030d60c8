"""``hra mesh render``: a cut as a picture."""

from __future__ import annotations

from enum import Enum
from pathlib import Path
from typing import Annotated

import typer

from hra.console import (
    JsonOption,
    running,
    show,
    with_option_lists,
    write_json,
    written_as,
)
from hra.console.camera_options import VIEWPORT, CameraOptions, ViewportOption
from hra.domains.meshes.commands.cutting import end_with_verdict
from hra.domains.meshes.commands.limits import BuiltMesh, CutOptions


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
    from hra.files.images import save_png

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

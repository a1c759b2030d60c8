"""``hra mesh cut``: a mesh of just the triangles that are needed, within a budget; ``render``: its picture."""

from __future__ import annotations

from enum import Enum
from pathlib import Path
from typing import Annotated, Any

import typer

from hra.console import JsonOption, running, show, with_option_lists, write_json, written_as
from hra.console.camera_options import VIEWPORT, CameraOptions, ViewportOption
from hra.domains.meshes.commands.limits import BuiltMesh, Cut, CutOptions, file_of, is_certified
from hra.errors import HraError
from hra.files.atomic_write import write_atomically

FORMATS = (".glb", ".obj", ".off", ".ply", ".stl")


@with_option_lists
def cut(
    mesh: BuiltMesh,
    limits: CutOptions,
    placed: CameraOptions,
    out: Annotated[
        Path | None,
        typer.Option("-o", "--out", callback=written_as(*FORMATS), help="The cut as GLB, OBJ, OFF, PLY or STL."),
    ] = None,
    viewport: ViewportOption = VIEWPORT,
    json_file: JsonOption = None,
) -> None:
    """Cut a built mesh to a triangle budget, a file size, a pixel error, or several of them.

    Without a camera (--azimuth, --eye or --camera) the cut is the best from all sides, and pixels count from the
    distance at which the whole mesh is in view. Exit code 1 if the budget does not allow the pixel error.
    """
    from hra.domains import meshes

    if not limits.given:
        fix = "add --triangles 10k, --bytes 500kB or --pixels 1"
        raise HraError("neither a budget nor an error was given", where="hra mesh cut", fix=fix)
    with running(f"cutting {mesh.name}"):
        asset = meshes.open_asset(mesh)
        suffix = ".glb" if out is None else out.suffix
        chosen = limits.cut(asset, placed, viewport, suffix)
        record = {**_facts(chosen, limits, asset), **_write(chosen, out, suffix)}
    write_json(json_file, record)
    show(repr(chosen.allocation), record.items())
    say_what_is_left_out(asset.attribute_names, out)
    end_with_outcome(chosen)


def _facts(chosen: Cut, limits: CutOptions, asset: Any) -> dict[str, Any]:
    allocation, metric = chosen.allocation, chosen.allocator.metric
    return {
        "triangles": chosen.triangles,
        "clusters": allocation.cut.size,
        "pages": asset.pages_of(allocation.cut).size,
        "error": limits.metric or getattr(metric, "error", limits.error),
        "certified": is_certified(metric),
        **chosen.errors(),
        "traversal": repr(chosen.allocator.traversal),
        **allocation.proof,
        "seconds": allocation.seconds,
    }


def _write(chosen: Cut, out: Path | None, suffix: str) -> dict[str, Any]:
    """Write the file, if one is wanted; its name and size."""
    fitted = chosen.fitted
    if out is None and fitted is None:
        return {}
    content = file_of(chosen.allocator.realize(chosen.allocation), suffix) if fitted is None else fitted.content
    record: dict[str, Any] = {"file_bytes": len(content)}
    if fitted is not None:
        record |= {f"{name}_bytes": getattr(fitted.shares, name) for name in ("triangles", "images", "other")}
        record["split_residual_gap"] = fitted.shares.residual_gap
    if out is not None:
        write_atomically(out, content)
        record = {"file": str(out), **record}
    return record


def say_what_is_left_out(attributes: Any, out: Path | None) -> None:
    """Say on standard error what of the mesh the format of ``out`` does not hold."""
    from hra.domains.meshes.files.write_glb import left_out

    lost = [] if out is None else left_out(attributes, out.suffix)
    if out is not None and lost:
        typer.echo(f"note: {out.suffix} files hold no {', '.join(lost)} here; use .glb to keep them", err=True)


def end_with_outcome(chosen: Cut) -> None:
    """Say at the end whether anything is seen and the tolerance was met; exit code 1 if not."""
    if chosen.unseen():
        typer.echo("note: the camera sees nothing of the mesh, so the cut is the coarsest", err=True)
    outcome = chosen.outcome()
    if outcome is not None:
        typer.echo(outcome)
    if not chosen.met:
        raise typer.Exit(1)


class Color(Enum):
    """What the colours show."""

    shaded = "shaded"
    cluster = "cluster"
    level = "level"
    error = "error"


ColorOption = Annotated[Color, typer.Option(help="What the colours show.")]


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

    The cut is that of `hra mesh cut` with the same options; without a direction it is the best for all sides.
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
    end_with_outcome(chosen)

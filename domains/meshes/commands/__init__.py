"""``hra mesh``: build a cluster hierarchy, look at it, cut it.

One file for a command: options, a call of the library's public surface, and the output. Nothing is computed here.
"""

from __future__ import annotations

import os
from dataclasses import asdict
from pathlib import Path
from typing import Annotated, Any

import typer

from hra.console import JsonOption, byte_count, check_file, counting, folder_or, running, show, write_json
from hra.domains.meshes.commands.building import build_all, build_in_parts, in_parts
from hra.domains.meshes.commands.cutting import cut, render
from hra.domains.meshes.commands.exporting import export
from hra.domains.meshes.commands.flying import fly
from hra.domains.meshes.commands.limits import BuiltMesh
from hra.domains.meshes.commands.lods import lods
from hra.domains.meshes.commands.viewing import view
from hra.errors import HraError
from hra.files.limits import DEFAULT, Limits

app = typer.Typer(help="Cluster level of detail of triangle meshes.", no_args_is_help=True)
app.command()(cut)
app.command()(export)
app.command()(fly)
app.command()(lods)
app.command()(render)
app.command()(view)


@app.command()
def build(
    source: Annotated[Path, typer.Argument(help="OBJ, PLY, STL, OFF, GLB or glTF, or a folder of them.")],
    out: Annotated[
        Path,
        typer.Option("-o", "--out", callback=folder_or(".hra"), help="The built mesh, .hra; of a folder: another one."),
    ],
    cluster_size: Annotated[int, typer.Option(help="Triangles per cluster at most.")] = 64,
    group_size: Annotated[int, typer.Option(help="Clusters per group; smaller gives finer budgets.")] = 12,
    certified: Annotated[
        bool, typer.Option(help="Bound how far cuts are from the source; takes three times as long.")
    ] = True,
    appearance: Annotated[
        bool, typer.Option(help="Measure how normals change, for cuts by --error appearance.")
    ] = False,
    grid_bits: Annotated[
        int | None, typer.Option(min=8, max=16, help="Compress, with positions on a grid of this many bits.")
    ] = None,
    threads: Annotated[int | None, typer.Option(min=1, help="All processors by default.")] = None,
    jobs: Annotated[int, typer.Option(help="Processes, for the meshes of a folder.")] = 1,
    memory: Annotated[
        str | None, typer.Option(help="Memory of the build; a larger mesh is built in parts on disk.")
    ] = None,
    json_file: JsonOption = None,
) -> None:
    """Build the cluster hierarchy of a mesh file, or of all mesh files in a folder.

    Lists the meshes of a folder that it cannot build, with exit code 1. A stopped run continues when you run it again.
    With --memory, binary PLY, STL and OBJ files that need more, and folders of parts of one mesh, are built in parts.
    """
    from hra.domains import meshes

    settings = {"cluster_size": cluster_size, "group_size": group_size, "certified": certified}
    limits = DEFAULT if memory is None else Limits(memory_bytes=byte_count(memory))
    if in_parts(source, out, None if memory is None else limits.memory_bytes):
        if appearance:
            raise HraError("a mesh built in parts has no appearance", where="--appearance", fix="leave it out")
        own = {**settings, "threads": threads, "jobs": jobs, "memory": limits.memory_bytes}
        return build_in_parts(source, out, own, grid_bits, json_file)
    if os.path.isdir(source):  # False for names that cannot be
        _check_folder_options(out, threads)
        own = {**settings, "appearance": appearance, "grid_bits": grid_bits, "jobs": jobs, "limits": limits}
        return build_all(source, out, own, json_file)
    _check_file_options(out, jobs)
    with counting(f"building {source.name}", "triangles") as progress:
        own = {**settings, "appearance": appearance}
        clusters = meshes.build(source, **own, threads=threads, progress=progress, limits=limits)
    with running(f"writing {out.name}"):
        clusters.save(out, grid_bits)
        record = _facts(meshes.open_asset(out))
    write_json(json_file, record)
    show(f"{source.name} -> {out}", record.items())


@app.command()
def info(mesh: BuiltMesh, json_file: JsonOption = None) -> None:
    """Show the content of a built mesh and how it was built; reads no page."""
    from hra.domains import meshes

    record = _facts(meshes.open_asset(mesh))
    write_json(json_file, record)
    show(mesh.name, record.items())


@app.command()
def check(
    mesh: BuiltMesh,
    cuts: Annotated[int, typer.Option(min=1, help="Random cuts to test for cracks.")] = 200,
    samples: Annotated[int, typer.Option(min=1, help="Points to measure on the source and on every tenth cut.")] = 2000,
    json_file: JsonOption = None,
) -> None:
    """Check a built mesh: monotone errors, nested bounds, no cracks, true distances. Exit code 1 if a check fails."""
    from hra.domains import meshes

    with running(f"checking {mesh.name}"):
        report = meshes.check(meshes.load_clusters(mesh), cuts=cuts, samples=samples)
    record = {"sound": report.sound, **asdict(report)}
    write_json(json_file, record)
    show(mesh.name, record.items())
    if not report.sound:
        raise typer.Exit(1)


def _check_folder_options(out: Path, threads: int | None) -> None:
    if threads is not None:
        raise HraError("the meshes of a folder are built on one thread each", where="--threads", fix="use --jobs")
    if out.suffix.lower() == ".hra" and not os.path.isdir(out):
        raise HraError(
            "the meshes of a folder go to a folder",
            where="--out",
            fix="name a folder, or its --memory if it is one mesh",
        )


def _check_file_options(out: Path, jobs: int) -> None:
    if jobs != 1:
        raise HraError("one mesh is built in one process", where="--jobs", fix="use --threads, or name a folder")
    check_file(out, ".hra")


def _facts(asset: Any) -> dict[str, Any]:
    """What a file says about itself; the report's own counts would repeat those of the mesh."""
    report = {} if asset.report is None else asdict(asset.report)
    settings = report.pop("settings", {})
    return {
        **asset.facts,
        "attributes": ", ".join(asset.attribute_names) or "none",
        "materials": len(asset.materials),
        "pages": len(asset.page_bytes),
        "page_bytes": int(asset.page_bytes.sum()),
        "slot_bytes": asset.slot_bytes,
        **{f"build_{name}": value for name, value in report.items() if name not in asset.facts},
        **{f"build_{name}": value for name, value in settings.items()},
    }

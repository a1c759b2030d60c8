"""``hra bench``: the library against what others run."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any

import typer
from rich import box
from rich.table import Table

from hra.console import JsonOption, Scale, ScaleOption, print_wide, running, write_json
from hra.errors import HraError
from hra_lab.commands import bench_columns


class SuiteName(StrEnum):
    """What can be benchmarked."""

    core = "core"
    kernels = "kernels"
    meshes = "meshes"
    tokens = "tokens"
    textures = "textures"
    residency = "residency"
    startup = "startup"
    models = "models"
    scale = "scale"
    points = "points"
    runtime = "runtime"


def bench(
    suite: Annotated[
        SuiteName,
        typer.Argument(
            help="Solver, kernels, meshes, textures, residency, tokens, commands, models, jobs, points or frames."
        ),
    ],
    names: Annotated[str, typer.Option(help="Only these rows: 'tree_*,dag_33k_heavy'.")] = "*",
    repeat: Annotated[int, typer.Option(help="Rounds per row and budget; medians are shown.")] = 5,
    scale: ScaleOption = Scale.full,
    device: Annotated[str, typer.Option(help="Where the kernels run: cpu, cuda, cuda:1 ...")] = "cpu",
    data: Annotated[Path, typer.Option(help="What `make data` fetched, for the meshes.")] = Path("data"),
    json_file: JsonOption = None,
) -> None:
    """Time the library and its peers in turns on one core or one CUDA device, and check every answer."""
    from hra_lab.bench.devices import Device
    from hra_lab.bench.suite import run

    chosen = Device(device)
    with running("copy bandwidth") as progress:
        rows = _rows(suite, chosen, data)
        record = run(rows, names=names.split(","), repeat=repeat, scale=scale.value, device=chosen, progress=progress)
    write_json(json_file, record)
    _show(record, suite)


def _rows(suite: SuiteName, device: Any, data: Path) -> Any:
    if suite is SuiteName.kernels:
        from hra_lab.bench.kernels.kernel_suite import kernel_suite

        return kernel_suite(device)
    if suite is SuiteName.tokens:
        from hra_lab.bench.tokens.token_suite import token_suite

        return token_suite(device)
    if not device.on_host:
        others = {
            SuiteName.core: "solver",
            SuiteName.meshes: "mesh package",
            SuiteName.startup: "command line",
            SuiteName.residency: "streaming of pages",
            SuiteName.models: "models suite",
            SuiteName.scale: "scale suite",
            SuiteName.points: "points suite",
            SuiteName.runtime: "renderer",
        }
        what = others.get(suite, "streaming of textures")
        raise HraError(f"the {what} does not run on {device.name}", where="--device", fix="hra bench kernels")
    if suite is SuiteName.textures:
        from hra_lab.bench.textures.texture_suite import texture_suite

        return texture_suite()
    if suite is SuiteName.residency:
        from hra_lab.bench.residency.residency_suite import residency_suite

        return residency_suite(data)
    if suite is SuiteName.meshes:
        from hra_lab.bench.meshes.mesh_suite import mesh_suite

        return mesh_suite(data)
    if suite is SuiteName.models:
        from hra_lab.bench.models.model_suite import model_suite

        return model_suite()
    if suite is SuiteName.scale:
        from hra_lab.bench.scale.scale_suite import scale_suite

        return scale_suite()
    if suite is SuiteName.points:
        from hra_lab.bench.points.rows import points_suite

        return points_suite()
    if suite is SuiteName.runtime:
        from hra_lab.bench.runtime.runtime_suite import runtime_suite

        return runtime_suite()
    if suite is SuiteName.startup:
        from hra_lab.bench.startup import startup_suite

        return startup_suite()
    from hra_lab.bench.core import core_suite

    return core_suite()


def _show(record: dict[str, Any], suite: SuiteName) -> None:
    """The quoted numbers of every row, then what was skipped and why."""
    shown = bench_columns.TABLES[suite.value]
    table = Table(title=shown.title, title_justify="left", box=box.SIMPLE)
    table.add_column("name", no_wrap=True)
    for column in shown.numbers:
        table.add_column(column, justify="right", no_wrap=True)
    table.add_column("the peer", no_wrap=True)
    for row in record["rows"]:
        numbers = (cell(row) for cell in shown.numbers.values())
        table.add_row(row["name"], *numbers, row["peer"] or "-")
    print_wide(table)
    for line in bench_columns.skip(record):
        typer.echo(f"skipped {line}")

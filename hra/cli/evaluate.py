"""``hra eval``: what each rule loses on real data."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any

import typer
from rich import box
from rich.console import Console
from rich.table import Table

from hra.atomic_write import write_atomically
from hra.cli.output import JsonOption, make_folder, running, write_json
from hra.errors import MissingExtra


class SuiteName(StrEnum):
    """What can be evaluated."""

    core = "core"


class Scale(StrEnum):
    """Sizes: those of the page, or tiny ones that only show that everything runs."""

    full = "full"
    small = "small"


def evaluate(
    suite: Annotated[SuiteName, typer.Argument(help="core: the solver against the rules that others run.")],
    out: Annotated[Path | None, typer.Option("--out", help="Folder for ablation.md and its pictures.")] = None,
    scale: Annotated[Scale, typer.Option(help="Sizes as on the page, or small.")] = Scale.full,
    json_file: JsonOption = None,
) -> None:
    """Solve token pyramids of real images and a mesh's cluster graph by every rule, and show what each one loses."""
    from hra.evaluation.core import run
    from hra.evaluation.sizes import FULL, SMALL

    sizes = {Scale.full: FULL, Scale.small: SMALL}[scale]
    with running(suite.value) as progress:
        record = run(sizes, progress=progress)
    write_json(json_file, record)
    if out is not None:
        _write_page(out, record, sizes)
    _show(record)


def _write_page(folder: Path, record: dict[str, Any], sizes: Any) -> None:
    try:
        from hra.evaluation.page import render
    except ModuleNotFoundError as error:
        raise MissingExtra.of(error.name or "matplotlib", "viz") from error
    for name, content in render(record, sizes).items():
        make_folder((folder / name).parent)
        write_atomically(folder / name, content)


def _show(record: dict[str, Any]) -> None:
    """Mean and worst losses, one line per data, budget and rule."""
    from hra.evaluation.tables import percent

    table = Table(title="percent of what is possible", title_justify="left", box=box.SIMPLE)
    for column in ("data", "budget", "rule"):
        table.add_column(column, no_wrap=True)
    for column in ("gain lost", "worst", "error in excess", "worst"):
        table.add_column(column, justify="right", no_wrap=True)
    for row in record["rows"]:
        losses = (row[measure][part] for measure in ("gain_lost", "residual_excess") for part in ("mean", "worst"))
        table.add_row(row["data"], row["budget"], row["rule"], *map(percent, losses))
    # A pipe passes for 80 columns, which would cut the numbers off.
    Console(width=max(Console().width, 100)).print(table)
    typer.echo(f"{record['proven']} of {record['problems']} problems were solved to proven optimality")

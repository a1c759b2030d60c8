"""``hra bench``: the library against what others run."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated, Any

import typer
from rich import box
from rich.console import Console
from rich.table import Table

from hra.cli.output import JsonOption, running, write_json


class SuiteName(StrEnum):
    """What can be benchmarked."""

    core = "core"


class Scale(StrEnum):
    """Sizes: those of the row names, or tiny ones that only show that everything runs."""

    full = "full"
    small = "small"


def bench(
    suite: Annotated[SuiteName, typer.Argument(help="core: the solver.")],
    names: Annotated[str, typer.Option(help="Only these rows: 'tree_*,dag_33k_heavy'.")] = "*",
    repeat: Annotated[int, typer.Option(help="Rounds per row and budget; medians are shown.")] = 5,
    scale: Annotated[Scale, typer.Option(help="Sizes as the names say, or small.")] = Scale.full,
    json_file: JsonOption = None,
) -> None:
    """Time the library and its peers in turns on one core, and show how far each answer is from the best."""
    from hra.bench.core import core_suite
    from hra.bench.suite import run

    suites = {SuiteName.core: core_suite}
    with running("copy bandwidth") as progress:
        record = run(suites[suite](), names=names.split(","), repeat=repeat, scale=scale.value, progress=progress)
    write_json(json_file, record)
    _show(record)


def _show(record: dict[str, Any]) -> None:
    """Rows at 10 % of the total cost, then what was skipped and why."""
    title = "milliseconds on one core, at 10 % of the total cost; gaps in percent"
    table = Table(title=title, title_justify="left", box=box.SIMPLE)
    table.add_column("name", no_wrap=True)
    for column in ("n", "ours", "peer", "ratio", "limit", "gap", "residual gap"):
        table.add_column(column, justify="right", no_wrap=True)
    table.add_column("the peer", no_wrap=True)
    for row in record["rows"]:
        table.add_row(row["name"], f"{row['n']:,}", *_numbers(row), row["peer"])
    # A pipe passes for 80 columns, which would cut the numbers off.
    Console(width=max(Console().width, 132)).print(table)
    for skipped in record["skipped"]:
        typer.echo(f"skipped {skipped['name']}: {skipped['reason']}")


def _numbers(row: dict[str, Any]) -> tuple[str, ...]:
    seconds = (f"{1000 * row[key]:.3g}" for key in ("ours_s", "peer_s"))
    return (
        *seconds,
        f"{row['ratio']:.3g}",
        f"{1000 * row['limit_s']:.3g}",
        *(f"{100 * row[key]:.2g}" for key in ("gap", "residual_gap")),
    )

"""``hra train``: what learns from tokens."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer
from rich import box
from rich.table import Table

from hra.console import JsonOption, Scale, ScaleOption, folder_or, print_wide, running, write_json

app = typer.Typer(no_args_is_help=True, help="Train readers of tokens.")


@app.callback()
def train() -> None:
    """Train readers of tokens."""


@app.command()
def reader(
    out: Annotated[Path, typer.Option("--out", "-o", callback=folder_or(), help="Folder for weights and states.")],
    seed: Annotated[int, typer.Option(min=0, help="Of weights and batches.")] = 0,
    device: Annotated[str, typer.Option(help="Where torch runs: cpu, cuda ...")] = "cpu",
    scale: ScaleOption = Scale.full,
    json_file: JsonOption = None,
) -> None:
    """Train a small reader on tokens of made canvases, and ask it about every method's on the validation split.

    A run that was interrupted goes on where its last state was written. Full scale takes hours.
    """
    from hra.lab.evidence.experiment import FULL, SMALL, run

    with running("reader") as progress:
        record = run(out, {Scale.full: FULL, Scale.small: SMALL}[scale], progress, seed=seed, device=device)
    write_json(json_file, record)
    kinds = list(record["commonest"])
    table = Table(title="right answers, percent", title_justify="left", box=box.SIMPLE)
    for column in ("cell", *kinds):
        table.add_column(column, justify="left" if column == "cell" else "right", no_wrap=True)
    rows = [(row["cell"], row["values"]) for row in record["rows"]]
    for name, shares in [*rows, ("commonest answer", record["commonest"])]:
        table.add_row(name, *(f"{100 * shares[kind]:.1f}" for kind in kinds))
    print_wide(table, 100)
    typer.echo(f"{record['parameters']:,} weights, {record['steps']:,} steps: {out}")

"""``hra train``: what learns from tokens."""

from __future__ import annotations

import sys
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
    seed: Annotated[int, typer.Option(min=0, max=sys.maxsize - 1, help="Of weights and batches.")] = 0,
    device: Annotated[str, typer.Option(help="Where torch runs: cpu, cuda ...")] = "cpu",
    scale: ScaleOption = Scale.full,
    json_file: JsonOption = None,
) -> None:
    """Train a small reader on tokens of made canvases, and ask it about every method's on the validation split.

    A run that was interrupted goes on where its last state was written.
    """
    from hra_lab.evidence.canvas import KINDS
    from hra_lab.evidence.evidence_page import gates
    from hra_lab.evidence.experiment import FULL, SMALL, ask, trained_reader, unpacked

    extent = {Scale.full: FULL, Scale.small: SMALL}[scale]
    with running("reader") as progress:
        trained = trained_reader(out, extent, seed, progress, device=device)
        record = ask([trained], "validation", extent, progress, device=device)
    write_json(json_file, record)
    table = Table(title="right answers, percent", title_justify="left", box=box.SIMPLE)
    for column in ("cell", "shown", *KINDS):
        table.add_column(column, justify="left" if column in ("cell", "shown") else "right", no_wrap=True)
    for row in record["rows"]:
        shares = unpacked(row["right"], record["canvases"]).mean(axis=(0, 1))
        cell = f"{row['method']} {row['budget']} {row['relevance']}"
        table.add_row(cell, row["shown"], *(f"{100 * share:.1f}" for share in shares))
    print_wide(table)
    for name, wanted, value, holds in gates(record):
        typer.echo(f"{'holds' if holds else 'FAILS'}: {name}, {wanted}: {value:.1f} %")

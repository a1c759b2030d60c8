"""``hra tokens compare``: all methods on one image."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer
from rich import box
from rich.console import Console
from rich.table import Table
from rich.text import Text

from hra.console import JsonOption, TraversalOption, choose_traversal, readable, running, write_json, written_as
from hra.domains.tokens.commands import STAND_INS, BudgetOption, ImageArgument, QueryOption


def compare(
    image: ImageArgument,
    query: QueryOption = "",
    budget: BudgetOption = 273,
    methods: Annotated[str, typer.Option(help="Only these, with commas: 'grid,pyramid'.")] = "",
    traversal: TraversalOption = None,
    sheet: Annotated[
        Path | None, typer.Option("-o", "--out", callback=written_as(".png"), help="Contact sheet of all methods, PNG.")
    ] = None,
    json_file: JsonOption = None,
) -> None:
    """Compare methods at one budget: restored image, coverage, gain and time."""
    from hra.domains.tokens.quality.compare import compare as run
    from hra.domains.tokens.quality.compare import sheet_of
    from hra.files.images import load_image, save_png

    pixels = load_image(image)
    with running("tokens") as progress:
        names = [name for name in methods.split(",") if name]
        compared = run(pixels, query, budget, names, progress, choose_traversal(traversal) if traversal else None)
    if sheet is not None:
        save_png(sheet, sheet_of(pixels, compared))
    rows = [result.row for result in compared.results]
    record = {"image": image.name, "query": query, "budget": budget, "rows": rows, "skipped": compared.skipped}
    write_json(json_file, record)
    _show_rows(f"{image.name}: {budget:,} tokens", rows)
    if compared.by_features:
        typer.echo(STAND_INS.format(f"{', '.join(compared.by_features)}: chosen"))
    for name, reason in compared.skipped.items():
        typer.echo(f"skipped {name}: {reason}")


_COLUMNS = {
    "method": lambda row: row["method"],
    "dB": lambda row: f"{row['psnr_db']:.2f}",
    "SSIM": lambda row: f"{row['ssim']:.3f}",
    "shown": lambda row: f"{row['coverage']['area']:.0%}",
    "level": lambda row: f"{row['coverage']['mean_detail']:.2f}",
    "gain": lambda row: f"{row['gain']:.3f}",
    "residual gap": lambda row: readable(row["residual_gap"]),
    "ms": lambda row: f"{row['total_ms']:.0f}",
    "to select": lambda row: f"{row['select_ms']:.1f}",
}


def _show_rows(title: str, rows: list[dict[str, Any]]) -> None:
    table = Table(title=Text(title), title_justify="left", box=box.SIMPLE)
    for column in _COLUMNS:
        table.add_column(column, justify="left" if column == "method" else "right", no_wrap=True)
    for row in rows:
        table.add_row(*(cell(row) for cell in _COLUMNS.values()))
    # A pipe passes for 80 columns, which would cut the numbers off.
    Console(width=max(Console().width, 100)).print(table)

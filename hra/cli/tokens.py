"""``hra tokens``: which patches of an image a model should see."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer
from rich import box
from rich.table import Table
from rich.text import Text

from hra.cli.options import JsonOption
from hra.cli.output import print_wide, running, show, write_json
from hra.lab.formatting import readable

app = typer.Typer(help="Visual tokens of an image and a query.", no_args_is_help=True)

ImageArgument = Annotated[Path, typer.Argument(help="Any image that Pillow reads.")]
QueryOption = Annotated[str, typer.Option(help="The question; words such as 'top left' steer where tokens go.")]
BudgetOption = Annotated[int, typer.Option(help="Number of tokens, met exactly.")]


@app.command()
def allocate(
    image: ImageArgument,
    query: QueryOption = "",
    method: Annotated[str, typer.Option(help="Which preset; `hra tokens methods` lists them.")] = "foveated",
    budget: BudgetOption = 273,
    overlay: Annotated[Path | None, typer.Option("-o", "--out", help="Picture of the tokens on the image.")] = None,
    json_file: JsonOption = None,
) -> None:
    """Allocate tokens to an image and a query."""
    from hra.domains import tokens
    from hra.images import load_image, psnr, save_png

    allocator = tokens.preset(method)
    pixels = load_image(image)
    allocation = allocator.allocate((pixels, query), budget)
    chosen = allocator.realize(allocation)
    record = {
        "method": method,
        "budget": budget,
        "count": len(chosen),
        "gap": allocation.gap,
        "residual_gap": allocation.residual_gap,
        "status": allocation.status,
        "seconds": allocation.seconds,
        "psnr_db": psnr(chosen.reconstruct(), pixels),
    }
    if overlay is not None:
        save_png(overlay, tokens.overlay(pixels, chosen))
    write_json(json_file, {**record, "boxes": chosen.boxes, "detail": chosen.detail, **_positions(chosen)})
    show(f"{image.name}: {allocation}", record.items())


@app.command()
def compare(
    image: ImageArgument,
    query: QueryOption = "",
    budget: BudgetOption = 273,
    methods: Annotated[str, typer.Option(help="Only these, with commas: 'grid,pyramid'.")] = "",
    sheet: Annotated[Path | None, typer.Option("-o", "--out", help="Contact sheet of all methods.")] = None,
    json_file: JsonOption = None,
) -> None:
    """Compare methods at one budget: what they give back, cover and gain, and how long they take."""
    from hra.images import load_image, save_png
    from hra.lab.evaluation.token_methods.compare import compare as run
    from hra.lab.evaluation.token_methods.compare import sheet_of

    pixels = load_image(image)
    with running("tokens") as progress:
        compared = run(pixels, query, budget, [name for name in methods.split(",") if name], progress)
    if sheet is not None:
        save_png(sheet, sheet_of(pixels, compared))
    rows = [judged.row for judged in compared.judged]
    record = {"image": image.name, "query": query, "budget": budget, "rows": rows, "skipped": compared.skipped}
    write_json(json_file, record)
    _show_rows(f"{image.name}: {budget:,} tokens", rows)
    for name, reason in compared.skipped.items():
        typer.echo(f"skipped {name}: {reason}")


@app.command()
def methods() -> None:
    """List the methods with their first sentence."""
    from hra.domains import tokens

    show("methods", ((name, (kind.__doc__ or "").split("\n")[0]) for name, kind in tokens.PRESETS.items()))


def _positions(chosen: Any) -> dict[str, Any]:
    """Where tokens are that have places of their own: (level, x, y) of patches."""
    positions = getattr(chosen, "positions", None)
    return {} if positions is None else {"positions": positions}


_COLUMNS = {
    "method": lambda row: row["method"],
    "dB": lambda row: f"{row['psnr_db']:.2f}",
    "SSIM": lambda row: f"{row['ssim']:.3f}",
    "shown": lambda row: f"{row['coverage']['area']:.0%}",
    "level": lambda row: f"{row['coverage']['mean_detail']:.2f}",
    "gain": lambda row: f"{row['gain']:.3f}",
    "residual gap": lambda row: readable(row["residual_gap"]) if row["residual_gap"] is not None else "-",
    "ms": lambda row: f"{row['total_ms']:.0f}",
    "to select": lambda row: f"{row['select_ms']:.1f}",
}


def _show_rows(title: str, rows: list[dict[str, Any]]) -> None:
    table = Table(title=Text(title), title_justify="left", box=box.SIMPLE)
    for column in _COLUMNS:
        table.add_column(column, justify="left" if column == "method" else "right", no_wrap=True)
    for row in rows:
        table.add_row(*(cell(row) for cell in _COLUMNS.values()))
    print_wide(table, 100)

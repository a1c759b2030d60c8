"""``hra demo``: the whole library on the shipped samples, with a report to look at."""

from __future__ import annotations

from importlib import import_module
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.progress import Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

from hra.atomic_write import write_atomically
from hra.cli.output import JsonOption, show, write_json
from hra.errors import FileError, MissingExtra

_SECTIONS = ("meshes", "textures", "tokens", "pool")


def demo(
    out: Annotated[Path, typer.Option("--out", help="Folder for the report; created if missing.")] = Path("out"),
    json_file: JsonOption = None,
) -> None:
    """Spend triangles, bytes and tokens on real data and write report.html, report.json and the pictures."""
    _make_folder(out)
    record, pictures = _run_sections()
    from hra.demo.report import render_html, write_pictures

    write_pictures(out, pictures)
    write_json(out / "report.json", record)
    write_json(json_file, record)
    write_atomically(out / "report.html", render_html(record, pictures).encode())
    for name in _SECTIONS:
        show(name, ((key, value) for key, value in record[name].items() if not isinstance(value, dict)))
    typer.echo(f"report: {out / 'report.html'}")


def _run_sections() -> tuple[dict[str, Any], dict[str, dict[str, bytes]]]:
    record: dict[str, Any] = {}
    pictures: dict[str, dict[str, bytes]] = {}
    columns = (SpinnerColumn(), TextColumn("{task.description}"), TimeElapsedColumn())
    console = Console(stderr=True)
    with Progress(*columns, console=console, transient=True, disable=not console.is_terminal) as progress:
        for name in _SECTIONS:
            task = progress.add_task(name, total=None)
            record[name], figures = _section(name).run()
            pictures[name] = {key: _png(figure) for key, figure in figures.items()}
            progress.remove_task(task)
    return record, pictures


def _section(name: str) -> Any:
    try:
        return import_module(f"hra.demo.{name}")
    except ModuleNotFoundError as error:
        raise MissingExtra.of(error.name or "matplotlib", "demo") from error


def _png(figure: Any) -> bytes:
    from hra.demo.pictures import png

    return png(figure)


def _make_folder(out: Path) -> None:
    try:
        out.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise FileError(
            f"cannot create the folder: {error.strerror}", where=str(out), fix="use another --out"
        ) from error

"""``hra demo``: the whole library on the shipped samples, with a report to look at."""

from __future__ import annotations

from importlib import import_module
from pathlib import Path
from typing import Annotated, Any

import typer

from hra.console import JsonOption, folder_or, json_bytes, make_folder, running, show, write_json
from hra.errors import MissingExtra
from hra.files.atomic_write import write_folder

_SECTIONS = ("meshes", "textures", "tokens", "pool")


def demo(
    out: Annotated[
        Path, typer.Option("--out", callback=folder_or(), help="Folder for the report; created if missing.")
    ] = Path("out"),
    json_file: JsonOption = None,
) -> None:
    """Spend triangles, bytes and tokens on real data and write report.html, report.json, explore.html and the pictures.

    Writes manifest.json, which lists them, last: without it the folder is incomplete.
    """
    make_folder(out)
    record, pictures = _run_sections()
    from hra.pages.demo.report import picture_files, render_html
    from hra.pages.demo.words import label, shown

    pages = {
        "report.html": render_html(record, pictures).encode(),
        "explore.html": _section("explored").page().encode(),
    }
    write_folder(out, {**picture_files(pictures), "report.json": json_bytes(record), **pages})
    write_json(json_file, record)
    for name in _SECTIONS:
        figures = {key: value for key, value in record[name].items() if not isinstance(value, dict)}
        show(name, ((label(key), shown(key, value)) for key, value in figures.items()))
    typer.echo(f"report: {out / 'report.html'}")


def _run_sections() -> tuple[dict[str, Any], dict[str, dict[str, bytes]]]:
    record: dict[str, Any] = {}
    pictures: dict[str, dict[str, bytes]] = {}
    with running(_SECTIONS[0]) as show_name:
        for name in _SECTIONS:
            show_name(name)
            record[name], figures = _section(name).run()
            pictures[name] = {key: _png(figure) for key, figure in figures.items()}
    return record, pictures


def _section(name: str) -> Any:
    try:
        return import_module(f"hra.pages.demo.{name}")
    except ModuleNotFoundError as error:
        raise MissingExtra.of(error.name or "matplotlib", "demo") from error


def _png(figure: Any) -> bytes:
    from hra.pages.demo.pictures import png

    return png(figure)

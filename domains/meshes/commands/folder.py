"""``hra mesh build FOLDER``: all meshes of a folder."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import typer

from hra.console import counting, show, write_json


def build_all(source: Path, out: Path, settings: Mapping[str, Any], json_file: Path | None) -> None:
    """Run the job and say what came of it; exit code 1 where a mesh cannot be built."""
    from hra.domains import meshes

    with counting(f"building {source.name}", "meshes") as progress:
        report = meshes.build_folder(source, out, **settings, progress=progress)
    record = {"meshes": report.meshes, "resumed": report.resumed, "errors": len(report.errors), "out": str(out)}
    write_json(json_file, {**record, "failed": report.errors})
    show(f"{source} -> {out}", record.items())
    for name, error in report.errors.items():
        typer.echo(f"{name}: {error}", err=True)
    if report.errors:
        raise typer.Exit(1)

"""``hra mesh build`` of a folder, and of a mesh that does not fit into memory (``--memory``)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

import typer

from hra.console import counting, show, write_json
from hra.errors import HraError


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


def in_parts(source: Path, out: Path, memory: int | None) -> bool:
    """Whether ``source`` is to be built in parts: where ``memory`` bytes are not enough, or from files of parts."""
    from hra.domains.meshes.outofcore.memory import fits

    if memory is None or out.suffix.lower() != ".hra" or out.is_dir():
        return False
    return source.is_dir() or not fits(source, memory)


def build_in_parts(
    source: Path, out: Path, settings: Mapping[str, Any], grid_bits: int | None, json_file: Path | None
) -> None:
    """Run the job and say what came of it."""
    from hra.domains import meshes

    if grid_bits is not None:
        raise HraError("a mesh built in parts cannot be compressed", where="--grid-bits", fix="leave it out")
    with counting(f"building {source.name} in parts", "triangles") as progress:
        report = meshes.build_out_of_core(source, out, **settings, progress=progress)
    record = {**asdict(report), "out": str(out)}
    write_json(json_file, record)
    show(f"{source} -> {out}", record.items())

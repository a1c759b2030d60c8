"""``hra tokens allocate FOLDER``: rows of all images of a folder."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path

import typer

from hra.console import counting, show, write_json
from hra.domains.tokens.corpus.allocation import TokenAllocation
from hra.domains.tokens.corpus.job import allocate_folder
from hra.errors import HraError

_SHOWN = 10
_SHARD = 256


def allocate_images(
    images: Path,
    out: Path | None,
    allocation: TokenAllocation,
    *,
    jobs: int,
    sample: int | None,
    json_file: Path | None,
) -> None:
    """Run the job and say what came of it; exit code 1 where an image has no tokens.

    Raises
    ------
    HraError : see `allocate_folder`.
    """
    if out is None or out.suffix.lower() == ".png":
        raise HraError("the rows of a folder go to a folder", where="--out", fix="add --out DIR")
    shard_size = _SHARD - _SHARD % allocation.bank if allocation.bank <= _SHARD else allocation.bank
    with counting(f"choosing tokens for {images}", "images") as progress:
        report = allocate_folder(
            images, out, allocation, jobs=jobs, shard_size=shard_size, sample=sample, progress=progress
        )
    record = {**asdict(report), "errors": len(report.errors), "budget": allocation.budget, "out": str(out)}
    write_json(json_file, {**record, "failed": report.errors})
    record["skipped"] = ", ".join(f"{count} {suffix or 'without suffix'}" for suffix, count in report.skipped.items())
    show(f"{images} -> {out}", record.items())
    for name, error in list(report.errors.items())[:_SHOWN]:
        typer.echo(f"{name}: {error}", err=True)
    if report.errors:
        raise typer.Exit(1)

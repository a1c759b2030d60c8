"""``hra tokens``: which patches of an image a model should see."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from hra.cli.output import JsonOption, show, write_json

app = typer.Typer(help="Visual tokens of an image and a query.", no_args_is_help=True)


class Method(StrEnum):
    """The presets that can be chosen."""

    foveated = "foveated"
    pyramid = "pyramid"
    grid = "grid"


@app.callback()
def _tokens() -> None:
    """Keep `allocate` a subcommand although it is the only one."""


@app.command()
def allocate(
    image: Annotated[Path, typer.Argument(help="Any image that Pillow reads.")],
    query: Annotated[str, typer.Option(help="The question; words such as 'top left' steer where tokens go.")] = "",
    method: Annotated[Method, typer.Option(help="Which preset.")] = Method.foveated,
    budget: Annotated[int, typer.Option(help="Number of tokens, met exactly.")] = 273,
    overlay: Annotated[Path | None, typer.Option("-o", "--out", help="Picture of the tokens on the image.")] = None,
    json_file: JsonOption = None,
) -> None:
    """Allocate tokens to an image and a query."""
    from hra.domains import tokens
    from hra.images import load_image, save_png

    presets = {
        Method.foveated: tokens.FoveatedPyramid,
        Method.pyramid: tokens.PyramidSampling,
        Method.grid: tokens.GridTopK,
    }
    pixels = load_image(image)
    allocator = presets[method]()
    allocation = allocator.allocate((pixels, query), budget)
    chosen = allocator.realize(allocation)
    rebuilt = chosen.reconstruct()
    record = {
        "method": method.value,
        "budget": budget,
        "count": len(chosen),
        "gap": allocation.gap,
        "residual_gap": allocation.residual_gap,
        "status": allocation.status,
        "seconds": allocation.seconds,
        "psnr_db": tokens.psnr(rebuilt, pixels),
        "positions": chosen.positions,
    }
    if overlay is not None:
        save_png(overlay, tokens.overlay(pixels, chosen))
    write_json(json_file, record)
    show(f"{image.name}: {allocation}", ((key, value) for key, value in record.items() if key != "positions"))

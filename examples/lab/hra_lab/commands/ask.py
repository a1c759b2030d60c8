"""``hra tokens ask``: what a small reader answers from tokens."""

from __future__ import annotations

from typing import Annotated

import typer

from hra.console import JsonOption, show, whole_count, write_json
from hra.domains.tokens.commands import ImageArgument


def ask(
    image: ImageArgument,
    question: Annotated[str, typer.Argument(help="As 'which pattern red' or 'which ground'.")],
    method: Annotated[
        str, typer.Option(help="How tokens are made: pyramid, grid, foveated, downsample ...")
    ] = "pyramid",
    budget: Annotated[int, typer.Option(parser=whole_count, help="Number of tokens.", metavar="N")] = 68,
    around: Annotated[str, typer.Option(help="Box x0,y0,x1,y1 that matters; else all matters alike.")] = "",
    json_file: JsonOption = None,
) -> None:
    """Answer a question about a canvas of the learned experiment from its tokens alone, by the reader that hra carries.

    It knows patterns on coloured plates and nothing else; answers about other images mean nothing.
    """
    from hra.files.images import load_image
    from hra_lab.evidence.asking import answer

    found = answer(load_image(image), question, method, budget, around)
    write_json(json_file, found)
    show(f"{image.name}: {question}", found.items())

"""``hra tokens cost``: what a model costs with all of its visual tokens, and with fewer."""

from __future__ import annotations

from typing import Annotated, Any

import typer
from rich.table import Table
from rich.text import Text

from hra.console import JsonOption, print_wide, size, write_json


def cost(
    model: Annotated[str, typer.Option(help="A config.json, or llava-1.5-7b, qwen2.5-vl-7b, gemma-3-4b ...")],
    tokens: Annotated[int, typer.Option(min=0, help="Visual tokens to keep of each picture.")] = 273,
    text: Annotated[int, typer.Option(min=0, help="Tokens of the prompt beside them.")] = 64,
    answer: Annotated[int, typer.Option(min=0, help="Tokens of the answer.")] = 128,
    pictures: Annotated[int, typer.Option(min=1, help="Pictures, or tiles if the processor cuts them.")] = 1,
    image: Annotated[
        str, typer.Option(help="Pixels after the processor, WxH; for encoders of any size.")
    ] = "1024x1024",
    json_file: JsonOption = None,
) -> None:
    """Count operations and memory of a model, before and after a reduction."""
    from hra.integrations.transformers import CostModel, configuration

    width, height = size(image, "--image")
    counting = CostModel(configuration(model))
    options = {"text": text, "pictures": pictures, "size": (height, width)}
    whole, fewer = counting.cost(**options), counting.cost(**options, tokens=tokens)
    rows = {
        "visual tokens": (whole.tokens, fewer.tokens),
        "encoder, GFLOP": _giga(whole.encoder, fewer.encoder),
        "connector, GFLOP": _giga(whole.connector, fewer.connector),
        "prefill, GFLOP": _giga(whole.prefill, fewer.prefill),
        "each token of the answer, GFLOP": _giga(whole.decoding, fewer.decoding),
        f"all with {answer} tokens of answer, GFLOP": _giga(whole.total(answer), fewer.total(answer)),
        "cache after the prompt, MB": (whole.cache / 1e6, fewer.cache / 1e6),
    }
    record = {name: {"whole": before, "reduced": after} for name, (before, after) in rows.items()}
    write_json(json_file, {"model": model, "text": text, "answer": answer, "rows": record})
    _show(model, rows)


def _giga(*operations: float) -> tuple[float, ...]:
    return tuple(each / 1e9 for each in operations)


def _show(model: str, rows: dict[str, tuple[Any, ...]]) -> None:
    table = Table()
    for column in (Text(model), "all", "reduced", "ratio"):
        table.add_column(column, justify="left" if column == Text(model) else "right")
    for name, (before, after) in rows.items():
        ratio = f"{before / after:.2f}" if after else "-"
        table.add_row(name, f"{before:,.6g}", f"{after:,.6g}", ratio)
    print_wide(table)

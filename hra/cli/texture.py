"""``hra texture``: streaming within a pool of bytes."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from hra.cli.options import JsonOption, with_option_lists
from hra.cli.texture_flight import fly
from hra.cli.texture_plan import plan
from hra.cli.texture_replay import ReplayOptions, make_trace, replay_trace

app = typer.Typer(help="Texture streaming within a pool of bytes.", no_args_is_help=True)
app.command("trace")(make_trace)
app.command("plan")(plan)


@app.command()
@with_option_lists
def replay(
    source: Annotated[Path, typer.Argument(help="A recorded trace (.npz), or any image that Pillow reads.")],
    options: ReplayOptions,
    picture: Annotated[Path | None, typer.Option(help="Draw residency over time to this PNG.")] = None,
    json_file: JsonOption = None,
) -> None:
    """Replay a recorded trace, or a flight over an image as a ground, by several policies and judge each."""
    run = replay_trace if source.suffix.lower() == ".npz" else fly
    run(source, options, json_file, picture)

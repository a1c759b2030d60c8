"""``hra texture``: streaming within a pool of bytes.

One file for a command: options, a call of the library's public surface, and the output. Nothing is computed here.
"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from hra.console import JsonOption, MetricOption, TraversalOption, byte_count, refuse_given, size, written_as
from hra.domains.textures.commands.flight import FlightOptions, fly
from hra.domains.textures.commands.planning import plan
from hra.domains.textures.commands.replaying import replay_trace
from hra.errors import HraError

_OF_IMAGES = ("predict", "every", "flip", "frames", "seed", "viewport", "metric", "traversal")

app = typer.Typer(help="Texture streaming within a pool of bytes.", no_args_is_help=True)
app.command("plan")(plan)


@app.command()
def replay(
    context: typer.Context,
    source: Annotated[Path, typer.Argument(help="A recorded trace (.npz), or an image.")],
    pool: Annotated[str, typer.Option(help="Byte pool, such as 6MiB.")] = "6MiB",
    upload: Annotated[str, typer.Option(help="Bytes that a frame may upload; all by default.")] = "",
    look_ahead: Annotated[int, typer.Option(min=0, help="Frames of the path to prefetch for.")] = 0,
    predict: Annotated[bool, typer.Option("--predict", help="Images: guess these frames from the last step.")] = False,
    policy: Annotated[
        str, typer.Option(help="All, or some of lru,belady,godot,bias,refuse,look-ahead,streaming.")
    ] = "all",
    every: Annotated[int, typer.Option(min=1, help="Images: rate each n-th view by PSNR.")] = 10,
    flip: Annotated[
        bool, typer.Option("--flip", help="Images: rate by FLIP, too; a second a view and policy.")
    ] = False,
    frames: Annotated[int, typer.Option(min=1, max=10**6, help="Images: frames of the flight.")] = 60,
    seed: Annotated[int, typer.Option(help="Images: seed of the flight's track.")] = 0,
    viewport: Annotated[str, typer.Option(help="Images: screen size.")] = "960x540",
    metric: MetricOption = None,
    traversal: TraversalOption = None,
    picture: Annotated[
        Path | None, typer.Option(callback=written_as(".png"), help="Draw residency over time to this PNG.")
    ] = None,
    json_file: JsonOption = None,
) -> None:
    """Replay a recorded trace, or a flight over an image as a ground, by several policies and compare them."""
    limit = byte_count(upload) if upload else None
    if source.suffix.lower() == ".npz":
        refuse_given(context, _OF_IMAGES, "a recorded trace has neither views nor allocations")
        replay_trace(source, byte_count(pool), policy, limit, look_ahead, json_file, picture)
    else:
        if predict and not look_ahead:
            raise HraError("there are no frames to guess", where="--predict", fix="add --look-ahead")
        options = FlightOptions(
            pool=byte_count(pool),
            upload=limit,
            look_ahead=look_ahead,
            predict=predict,
            policy=policy,
            frames=frames,
            seed=seed,
            viewport=size(viewport),
            every=every,
            flip=flip,
            metric=metric,
            traversal=traversal,
        )
        fly(source, options, json_file, picture)

"""``hra texture trace``: traces to replay, of made-up or recorded paths."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from hra.console import refuse_given, running, written_as

if TYPE_CHECKING:
    from hra.residency import Trace

_MADE_UP = ("kitti_like", "terrain_walk")


def trace(
    context: typer.Context,
    source: Annotated[str, typer.Argument(help="kitti_like, terrain_walk, or a text file of KITTI or TUM poses.")],
    out: Annotated[Path, typer.Option("--out", "-o", callback=written_as(".npz"), help="The trace file, .npz.")] = Path(
        "trace.npz"
    ),
    seed: Annotated[int, typer.Option(min=0, help="Seed of a made-up path.")] = 0,
    step: Annotated[int, typer.Option(min=1, help="Take every n-th pose of a file.")] = 1,
) -> None:
    """Record the tiles that a path over a ground texture wants."""
    from hra.residency import save_trace

    if source in _MADE_UP:
        refuse_given(context, ["step"], "a made-up path is walked as a whole")
    else:
        refuse_given(context, ["seed"], "a recorded path has no seed")
    with running(f"walking {source}"):
        recorded = _make(source, seed, step)
    save_trace(out, recorded)
    typer.echo(f"{out}: {recorded!r}")


def _make(source: str, seed: int, step: int) -> Trace:
    from hra.residency import GroundTexture, load_poses
    from hra.residency.replay import paths

    if source in _MADE_UP:
        return getattr(paths, source)(seed=seed)
    return GroundTexture().trace(*load_poses(source).every(step).on_ground())

"""``hra texture replay`` of recorded traces, and ``hra texture trace`` that makes them."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from hra.cli.output import byte_count, running, write_json
from hra.cli.texture_verdicts import Judged, show_judged, sizes, write_picture

if TYPE_CHECKING:
    from hra.residency import Trace


@dataclass(frozen=True)
class ReplayOptions:
    """What is replayed within which limits; a recorded trace has no views, and takes the first three and the policy."""

    pool: Annotated[str, typer.Option(help="Byte pool, such as 6MiB.")] = "6MiB"
    upload: Annotated[str, typer.Option(help="Bytes that a frame may upload; all by default.")] = ""
    look_ahead: Annotated[int, typer.Option(min=0, help="Frames of the path to prefetch for.")] = 0
    predict: Annotated[bool, typer.Option("--predict", help="Images: guess these frames from the last step.")] = False
    policy: Annotated[str, typer.Option(help="All, or some of lru,belady,godot,bias,refuse,look-ahead,streaming.")] = (
        "all"
    )
    every: Annotated[int, typer.Option(min=1, help="Images: judge each n-th view by PSNR and FLIP.")] = 10
    frames: Annotated[int, typer.Option(min=1, help="Images: frames of the flight.")] = 60
    seed: Annotated[int, typer.Option(help="Images: seed of the flight's track.")] = 0
    viewport: Annotated[str, typer.Option(help="Images: screen size.")] = "960x540"

    def __post_init__(self) -> None:
        _ = self.pool_bytes, self.upload_bytes  # words that are no numbers are refused before anything is read

    @property
    def pool_bytes(self) -> int:
        """The pool in bytes."""
        return byte_count(self.pool)

    @property
    def upload_bytes(self) -> int | None:
        """Bytes that a frame may upload; None for any number."""
        return byte_count(self.upload) if self.upload else None


def replay_trace(path: Path, options: ReplayOptions, json_file: Path | None, picture: Path | None) -> None:
    """Run policies on a trace and show what each one loads."""
    from hra.residency import Belady, judge, load_trace
    from hra.residency.policies import policies

    trace, pool, rows = load_trace(path), options.pool_bytes, []
    chosen = policies(options.policy, trace, options.upload_bytes, options.look_ahead)
    least = judge(Belady(), trace, pool)
    with running("replay") as progress:
        for contender in chosen:
            progress(contender.name)
            rows.append(Judged(judge(contender, trace, pool), least))
    write_json(json_file, {**sizes(trace, pool), "policies": [row.record() for row in rows]})
    if picture is not None:
        write_picture(picture, rows, pool)
    show_judged(f"{path.name}: {trace!r}", rows)


def make_trace(
    source: Annotated[str, typer.Argument(help="kitti_like, terrain_walk, or a text file of KITTI or TUM poses.")],
    out: Annotated[Path, typer.Option("--out", "-o", help="The trace file.")] = Path("trace.npz"),
    seed: Annotated[int, typer.Option(min=0, help="Seed of a made-up path.")] = 0,
    step: Annotated[int, typer.Option(min=1, help="Take every n-th pose of a file.")] = 1,
) -> None:
    """Record the tiles that a path over a ground texture wants."""
    from hra.residency import save_trace

    trace = _made(source, seed, step)
    save_trace(out, trace)
    typer.echo(f"{out}: {trace!r}")


def _made(source: str, seed: int, step: int) -> Trace:
    from hra.lab.inputs.drives import kitti_like, terrain_walk
    from hra.residency import GroundTexture, load_poses

    made_up = {"kitti_like": kitti_like, "terrain_walk": terrain_walk}
    if source in made_up:
        return made_up[source](seed=seed)
    return GroundTexture().trace(*load_poses(source).every(step).on_ground())

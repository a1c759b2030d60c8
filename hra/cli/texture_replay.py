"""``hra texture replay`` of recorded traces, and ``hra texture trace`` that makes them."""

from __future__ import annotations

import io
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich import box
from rich.console import Console
from rich.table import Table

from hra.atomic_write import write_atomically
from hra.cli.output import running, write_json
from hra.errors import HraError, MissingExtra

if TYPE_CHECKING:
    from hra.residency import Trace, Verdict

_COLUMNS = ("loads", "faults", "late", "refused", "evictions", "thrash")


def replay_trace(
    path: Path,
    pool: int,
    policy: str,
    upload: int | None,
    prefetch: int,
    json_file: Path | None,
    picture: Path | None,
) -> None:
    """Run policies on a trace and show what each one loads."""
    from hra.residency import judge, load_trace
    from hra.residency.policies import policies

    trace = load_trace(path)
    verdicts = []
    with running("replay") as progress:
        for contender in policies(policy, trace, upload, prefetch):
            progress(contender.name)
            verdicts.append(judge(contender, trace, pool))
    write_json(json_file, _record(trace, pool, verdicts))
    if picture is not None:
        write_atomically(picture, _picture(verdicts, pool))
    _show(f"{path.name}: {trace!r}", verdicts)


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
    from hra.residency import GroundTexture, kitti_like, load_poses, terrain_walk

    made_up = {"kitti_like": kitti_like, "terrain_walk": terrain_walk}
    if source in made_up:
        return made_up[source](seed=seed)
    return GroundTexture().trace(*load_poses(source).every(step).on_ground())


def _record(trace: Trace, pool: int, verdicts: Sequence[Verdict]) -> dict[str, Any]:
    """What stands in the JSON file."""
    size = {"frames": len(trace), "references": trace.demands.size, "items": trace.distinct, "pool_bytes": pool}
    per_frame = [{"resident": v.resident_bytes, "loaded": v.loaded_bytes} for v in verdicts]
    rows = [v.summary() | {"per_frame": frames} for v, frames in zip(verdicts, per_frame, strict=True)]
    return {**size, "policies": rows}


def _show(title: str, verdicts: Sequence[Verdict]) -> None:
    table = Table(title=title, title_justify="left", box=box.SIMPLE)
    table.add_column("policy", no_wrap=True)
    for column in (*_COLUMNS, "peak bytes"):
        table.add_column(column, justify="right", no_wrap=True)
    for verdict in verdicts:
        table.add_row(verdict.policy, *(f"{getattr(verdict, name):,}" for name in (*_COLUMNS, "peak_bytes")))
    # A pipe passes for 80 columns, which would cut the numbers off.
    Console(width=max(Console().width, 110)).print(table)


def _picture(verdicts: Sequence[Verdict], pool: int) -> bytes:
    """Resident bytes over time and loads added up, one line per policy, as PNG."""
    try:
        from matplotlib.figure import Figure
    except ModuleNotFoundError as error:
        raise MissingExtra.of("matplotlib", "viz") from error
    if not verdicts:
        raise HraError("there is nothing to draw", where="--policy")
    figure = Figure(figsize=(9, 6), layout="constrained")
    resident, loaded = figure.subplots(2, sharex=True)
    for number, verdict in enumerate(verdicts):
        style = {
            "label": verdict.policy,
            "linewidth": 0.8,
            "color": f"C{number % 10}",
            "linestyle": "-" if number < 10 else ":",
        }
        resident.plot(verdict.resident_bytes / 2**20, **style)
        loaded.plot(verdict.loaded_bytes.cumsum() / 2**20, **style)
    resident.axhline(pool / 2**20, color="black", linestyle="--")
    resident.set(ylabel="resident, MiB", ylim=(0, None))
    loaded.set(xlabel="frame", ylabel="loaded so far, MiB")
    loaded.legend(fontsize="x-small", ncols=2)
    stream = io.BytesIO()
    figure.savefig(stream, format="png", dpi=100)
    return stream.getvalue()

"""``hra texture``: streaming within a pool of bytes."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from hra.cli.output import JsonOption, byte_count, show, size, write_json
from hra.cli.texture_plan import plan
from hra.cli.texture_replay import make_trace, replay_trace

app = typer.Typer(help="Texture streaming within a pool of bytes.", no_args_is_help=True)
app.command("trace")(make_trace)
app.command("plan")(plan)


@app.command()
def replay(
    source: Annotated[Path, typer.Argument(help="A recorded trace (.npz), or any image that Pillow reads.")],
    pool: Annotated[str, typer.Option(help="Byte pool, such as 6MiB.")] = "6MiB",
    upload: Annotated[str, typer.Option(help="Bytes that a frame may upload; all by default.")] = "",
    look_ahead: Annotated[int, typer.Option(min=0, help="Frames of the path to prefetch for.")] = 0,
    policy: Annotated[str, typer.Option(help="Traces: all, or some of lru,belady,godot,bias,refuse,...")] = "all",
    frames: Annotated[int, typer.Option(min=1, help="Images: frames of the flight.")] = 60,
    seed: Annotated[int, typer.Option(help="Images: seed of the flight's track.")] = 0,
    viewport: Annotated[str, typer.Option(help="Images: screen size.")] = "960x540",
    picture: Annotated[Path | None, typer.Option(help="Traces: draw residency over time to this PNG.")] = None,
    json_file: JsonOption = None,
) -> None:
    """Replay a recorded trace by several policies, or fly over an image as a ground."""
    limit = byte_count(upload) if upload else None
    if source.suffix.lower() == ".npz":
        replay_trace(source, byte_count(pool), policy, limit, look_ahead, json_file, picture)
    else:
        _fly(source, byte_count(pool), limit, look_ahead, frames, seed, size(viewport), json_file)


def _fly(
    image: Path,
    pool: int,
    upload: int | None,
    look_ahead: int,
    frames: int,
    seed: int,
    viewport: tuple[int, int],
    json_file: Path | None,
) -> None:
    """Fly over the image as a ground and show what is resident and uploaded."""
    from hra.domains import textures

    scene = textures.Scene.ground(image)
    allocator = textures.TextureAllocator(scene.textures, textures.AnalyticFeedback(scene))
    cameras = textures.flyover(scene.planes[0], frames, seed=seed, viewport=viewport)
    trace = textures.replay(allocator, cameras, pool, upload_bytes=upload, look_ahead=look_ahead)
    summary = {
        "frames": len(trace),
        "pool_bytes": pool,
        "texture_bytes": int(scene.textures.hierarchy.total_cost),
        "peak_bytes": int(trace.resident_bytes.max()),
        "uploads_bytes": int(trace.uploaded_bytes.sum()),
        "gap": float(trace.gap.max()),
    }
    per_frame = {
        "resident": trace.resident_bytes,
        "uploaded": trace.uploaded_bytes,
        "queued": trace.queued,
        "residual_px2": trace.residual,
    }
    write_json(json_file, {**summary, "per_frame": per_frame})
    show(image.name, summary.items())

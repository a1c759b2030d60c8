"""``hra texture``: streaming within a pool of bytes."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from hra.cli.output import JsonOption, byte_count, show, size, write_json

app = typer.Typer(help="Texture streaming within a pool of bytes.", no_args_is_help=True)


@app.callback()
def _texture() -> None:
    """Keep `replay` a subcommand although it is the only one."""


@app.command()
def replay(
    image: Annotated[Path, typer.Argument(help="The texture: any image that Pillow reads.")],
    pool: Annotated[str, typer.Option(help="Byte pool, such as 6MiB.")] = "6MiB",
    frames: Annotated[int, typer.Option(min=1, help="Frames of the flight.")] = 60,
    seed: Annotated[int, typer.Option(help="Seed of the flight's track.")] = 0,
    viewport: Annotated[str, typer.Option(help="Screen size.")] = "960x540",
    json_file: JsonOption = None,
) -> None:
    """Fly over the image as a ground and show what is resident and uploaded."""
    import numpy as np

    from hra.domains import textures
    from hra.images import load_image

    texels = np.round(load_image(image) * 255).astype(np.uint8)
    scene = textures.Scene([textures.TexturedPlane.ground(textures.TiledTexture.from_image(texels), width=100.0)])
    allocator = textures.TextureAllocator(scene.textures, textures.AnalyticFeedback(scene))
    cameras = textures.flyover(scene.planes[0], frames, seed=seed, viewport=size(viewport))
    trace = textures.replay(allocator, cameras, byte_count(pool))
    summary = {
        "frames": len(trace),
        "pool_bytes": byte_count(pool),
        "texture_bytes": int(scene.textures.hierarchy.total_cost),
        "peak_bytes": int(trace.resident_bytes.max()),
        "uploads_bytes": int(trace.uploaded_bytes.sum()),
        "gap": float(trace.gap.max()),
    }
    per_frame = {"resident": trace.resident_bytes, "uploaded": trace.uploaded_bytes, "residual_px2": trace.residual}
    write_json(json_file, {**summary, "per_frame": per_frame})
    show(image.name, summary.items())

"""``hra mesh fly``: a camera path through a streamed mesh, as pictures and numbers."""

from __future__ import annotations

import io
import math
from collections.abc import Sequence
from enum import Enum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from hra.console import (
    JsonOption,
    byte_count,
    counting,
    folder_or,
    json_bytes,
    make_folder,
    running,
    show,
    size,
    write_json,
)
from hra.console.camera_options import vector
from hra.domains.meshes.commands.limits import BuiltMesh
from hra.errors import needs
from hra.files.atomic_write import write_folder
from hra.files.local_files import warn_of_older

if TYPE_CHECKING:
    import numpy as np

    from hra.camera import Camera
    from hra.domains.meshes import FlightFrame, MeshAsset

_ORBIT = "ORBIT"
_GIF_WIDTH, _GIF_MILLISECONDS = 480, 66


class FrameColor(Enum):
    """What the colours show."""

    shaded = "shaded"
    cluster = "cluster"
    level = "level"
    error = "error"
    overdraw = "overdraw"


def fly(
    mesh: BuiltMesh,
    out: Annotated[Path, typer.Option("-o", "--out", callback=folder_or(), help="A folder for frames and plots.")],
    path: Annotated[str, typer.Option(help="ORBIT, or a file of poses in the KITTI or TUM format.")] = _ORBIT,
    pool: Annotated[str, typer.Option(help="Memory for the pages of the mesh on the GPU.", metavar="SIZE")] = "64MB",
    upload: Annotated[str | None, typer.Option(help="Upload limit of one frame; none by default.")] = None,
    frames: Annotated[int, typer.Option(min=1, help="Frames of an orbit.")] = 60,
    up: Annotated[str, typer.Option(help="The upward direction of an orbit.", metavar="X,Y,Z")] = "0,1,0",
    color: Annotated[FrameColor, typer.Option(help="What the colours show.")] = FrameColor.shaded,
    viewport: Annotated[str, typer.Option(help="Size of the pictures.")] = "640x360",
    compare: Annotated[bool, typer.Option(help="Draw full detail too, and measure FLIP and PSNR.")] = True,
    json_file: JsonOption = None,
) -> None:
    """Fly a camera through a mesh that is streamed through a pool: frames, residency over time, differences.

    Writes a PNG for each frame, all of them as fly.gif, residency.png and fly.json. The first frame has the coarsest
    level; the held pages never exceed the pool. Needs OpenGL 4.5; a software driver is enough.
    """
    from hra.domains import meshes

    with running(f"opening {mesh.name}"):
        asset = meshes.open_asset(mesh)
        cameras = _cameras(asset, path, frames, up, size(viewport))
        pool_bytes, limit = byte_count(pool), None if upload is None else byte_count(upload)
    make_folder(out)
    files: dict[str, bytes] = {}
    rows, pictures = [], []
    with counting(f"flying around {mesh.name}", "frames") as progress:
        flight = meshes.fly(asset, cameras, pool_bytes, upload_bytes=limit, coloring=color.value, compared=compare)
        for number, frame in enumerate(flight):
            rows.append(_row(frame, asset.slot_bytes))
            files[f"frame_{number:04d}.png"] = _png(frame.picture)
            pictures.append(_small(frame.picture))
            progress(number + 1, len(cameras))
    record = {**_summary(rows, pool_bytes), "frames": rows}
    with running(f"writing {out.name}"):
        from hra.domains.meshes.viewer.flight import flight_plot

        files |= {"fly.gif": _gif(pictures), "residency.png": flight_plot(rows, pool_bytes)}
        write_folder(out, {**files, "fly.json": json_bytes(record)})
        warn_of_older(out, "frame_", ".png", files)
    write_json(json_file, record)
    show(f"{mesh.name} -> {out}", _summary(rows, pool_bytes).items())


def _cameras(asset: MeshAsset, path: str, frames: int, up: str, viewport: tuple[int, int]) -> Sequence[Camera]:
    from hra.domains import meshes
    from hra.residency.replay.paths import load_poses

    if path.upper() == _ORBIT:
        return meshes.orbit(asset.bounds, frames, viewport, up=vector(up, "--up"))
    return load_poses(path).cameras(viewport=viewport)


def _row(frame: FlightFrame, slot_bytes: int) -> dict[str, Any]:
    update, facts, difference = frame.update, frame.facts, frame.difference
    return {
        "held_bytes": int(update.held_bytes),
        "loaded_bytes": len(update.loads) * slot_bytes,
        "queued_pages": len(update.queued),
        "triangles": facts.triangles,
        "in_frustum": facts.in_frustum,
        "visible": facts.visible,
        "drawn": facts.drawn,
        "flip": None if difference is None else round(difference.flip, 5),
        "psnr": None if difference is None or math.isinf(difference.psnr) else round(difference.psnr, 2),
    }


def _summary(rows: Sequence[dict[str, Any]], pool_bytes: float) -> dict[str, Any]:
    import numpy as np

    flips = [row["flip"] for row in rows if row["flip"] is not None]
    shown = {"mean_flip": round(float(np.mean(flips)), 5), "largest_flip": max(flips)} if flips else {}
    return {
        "frame_count": len(rows),
        "pool_bytes": int(pool_bytes),
        "largest_held_bytes": max(row["held_bytes"] for row in rows),
        "uploaded_bytes": sum(row["loaded_bytes"] for row in rows),
        "mean_triangles": round(float(np.mean([row["triangles"] for row in rows]))),
        "mean_visible": round(float(np.mean([row["visible"] for row in rows]))),
        **shown,
    }


def _png(picture: np.ndarray) -> bytes:
    from hra.files.images.files import png_bytes

    return png_bytes(picture)


def _small(picture: np.ndarray) -> Any:
    """A frame of the GIF."""
    with needs("pillow", "demo"):
        from PIL import Image
    image = Image.fromarray(picture)
    image.thumbnail((_GIF_WIDTH, _GIF_WIDTH))
    return image


def _gif(pictures: Sequence[Any]) -> bytes:
    stream = io.BytesIO()
    first, *others = pictures
    first.save(stream, "GIF", save_all=True, append_images=others, duration=_GIF_MILLISECONDS, loop=0)
    return stream.getvalue()

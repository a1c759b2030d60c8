"""``hra texture plan``: what of which image is resident for one view."""

from __future__ import annotations

import io
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from hra.console import (
    JsonOption,
    MetricOption,
    TraversalOption,
    byte_count,
    choose_metric,
    choose_traversal,
    running,
    show,
    size,
    write_json,
    written_as,
)
from hra.errors import HraError, MissingExtra
from hra.files.atomic_write import write_atomically

if TYPE_CHECKING:
    from hra.camera import Camera
    from hra.domains.textures import PlaneScene, TexturePlan

_WIDTH = 100.0
# Longer or taller images are drawn wider or shorter than they are.
_LONGEST = 8


def plan(
    images: Annotated[list[Path], typer.Argument(help="Images, laid side by side as grounds 100 units wide.")],
    pool: Annotated[str, typer.Option(help="Byte pool, such as 64MB.")] = "64MB",
    view: Annotated[str, typer.Option(help="Eye x,y,z, or eye and target x,y,z,x,y,z; y is up.")] = "",
    viewport: Annotated[str, typer.Option(help="Screen size.")] = "1920x1080",
    tile: Annotated[int, typer.Option(min=1, max=2**16, help="Texels along one side of a tile.")] = 128,
    mipped: Annotated[bool, typer.Option("--mipped", help="Whole mip levels instead of tiles.")] = False,
    metric: MetricOption = None,
    traversal: TraversalOption = None,
    picture: Annotated[
        Path | None,
        typer.Option("--out", "-o", callback=written_as(".png"), help="Draw the resident levels to this PNG."),
    ] = None,
    json_file: JsonOption = None,
) -> None:
    """Plan which tiles or levels of images are resident for a view; only headers are read."""
    from hra.domains.textures import plan as plan_view

    chosen = {
        "metric": choose_metric(metric) if metric else None,
        "traversal": choose_traversal(traversal) if traversal else None,
    }
    with running("plan"):
        scene = _scene(images, tile, mipped)
        result = plan_view(scene, _camera(view, size(viewport)), byte_count(pool), **chosen)
    textures = [{"image": str(path)} | row for path, row in zip(images, result.by_texture(), strict=True)]
    summary = _summary(result, byte_count(pool))
    write_json(json_file, {**summary, "textures": textures})
    if picture is not None:
        write_atomically(picture, _picture(images, result))
    show("plan", summary.items())
    for row in textures:
        show(row.pop("image"), row.items())


def _scene(images: list[Path], tile: int, mipped: bool) -> PlaneScene:
    """The images in a row along x, centred at the origin."""
    import numpy as np

    from hra.domains.textures import MippedTexture, PlaneScene, TexturedPlane, TiledTexture, open_image

    kind = MippedTexture if mipped else TiledTexture
    grounds = [TexturedPlane.ground(kind.from_source(open_image(path), tile), _WIDTH) for path in images]
    first = -_WIDTH * (len(images) - 1) / 2
    return PlaneScene(
        [replace(g, origin=g.origin + np.array([first + _WIDTH * i, 0, 0])) for i, g in enumerate(grounds)]
    )


def _camera(view: str, viewport: tuple[int, int]) -> Camera:
    from hra.camera import Camera

    numbers = [0.0, 10.0, 40.0] if not view else [_number(part, view) for part in view.split(",")]
    if len(numbers) not in (3, 6):
        raise HraError(f"{view!r} is not a view", where="--view", fix="write it as 0,10,40 or 0,10,40,0,0,0")
    eye, target = numbers[:3], numbers[3:] or [0.0, 0.0, 0.0]
    # Of a look straight down, as at a map, the far side of the ground is up.
    up = (0.0, 0.0, -1.0) if eye[::2] == target[::2] else (0.0, 1.0, 0.0)
    return Camera.perspective(tuple(eye), tuple(target), up, viewport=viewport)


def _number(part: str, view: str) -> float:
    try:
        return float(part)
    except ValueError as error:
        raise HraError(f"{view!r} is not a view", where="--view", fix="write it as 0,10,40") from error


def _summary(result: TexturePlan, pool: int) -> dict[str, Any]:
    """The figures of the whole view; errors in px2, of which only a choice by texel errors states the least."""
    from hra.domains.textures import TexelError

    by_texels = isinstance(result.allocation.metric, TexelError)
    return {
        "pool_bytes": pool,
        "texture_bytes": int(result.allocation.hierarchy.total_cost),
        "resident_bytes": result.resident.bytes,
        "residual_px2": result.residual,
        "least_residual_px2": result.residual_bound if by_texels else None,
        **result.allocation.proof,
        "uniform_bias_bytes": result.bias.bytes,
        "uniform_bias_residual_px2": result.bias_residual,
        "seconds": result.allocation.seconds,
    }


def _picture(images: list[Path], result: TexturePlan) -> bytes:
    """The finest resident level of every cell of every image, as PNG."""
    try:
        from matplotlib import colormaps
        from matplotlib.figure import Figure
    except ModuleNotFoundError as error:
        raise MissingExtra.of("matplotlib", "viz") from error
    figure = Figure(figsize=(1 + 4 * len(images), 3.5), layout="constrained")
    coarsest = max(int(texture.pages.level[0]) for texture in result.resident.textures.textures)
    shades = colormaps["viridis_r"].resampled(coarsest + 1)
    panels = figure.subplots(1, len(images), squeeze=False)[0]
    for index, axes in enumerate(panels):
        height, width = result.resident.textures.textures[index].mips[0].shape[:2]
        axes.imshow(
            result.resident.level_map(index),
            vmin=-0.5,
            vmax=coarsest + 0.5,
            cmap=shades,
            extent=(0, width, height, 0),
            aspect="equal" if max(width, height) < _LONGEST * min(width, height) else "auto",
        )
        axes.set_title(images[index].name, fontsize="small")
        axes.tick_params(labelsize="small")
    levels = range(0, coarsest + 1)
    figure.colorbar(panels[0].images[0], ax=panels, label="finest resident level", ticks=levels, shrink=0.8)
    stream = io.BytesIO()
    figure.savefig(stream, format="png", dpi=100)
    return stream.getvalue()

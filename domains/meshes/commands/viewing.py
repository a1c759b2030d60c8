"""``hra mesh view``: a mesh in a window that draws it by OpenGL, or by PyVista where there is no OpenGL 4.5."""

from __future__ import annotations

import math
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from hra.console import (
    MetricOption,
    TraversalOption,
    byte_count,
    choose_traversal,
    running,
    with_option_lists,
    written_as,
)
from hra.console.camera_options import VIEWPORT, CameraOptions, ViewportOption
from hra.domains.meshes.commands.flying import FrameColor
from hra.domains.meshes.commands.limits import (
    ESTIMATED,
    BuiltMesh,
    CutOptions,
    ErrorOption,
    PixelsOption,
    TrianglesOption,
    corners,
    is_certified,
)
from hra.errors import BackendUnavailable, MissingExtra

if TYPE_CHECKING:
    from hra.camera import Camera
    from hra.domains.meshes import MeshAsset, ViewSession, ViewWindow


@with_option_lists
def view(
    mesh: BuiltMesh,
    placed: CameraOptions,
    triangles: TrianglesOption = None,
    pixels: PixelsOption = None,
    error: ErrorOption = None,
    metric: MetricOption = None,
    traversal: TraversalOption = None,
    pool: Annotated[
        str | None, typer.Option(help="Memory for the pages of the mesh on the GPU; all by default.", metavar="SIZE")
    ] = None,
    upload: Annotated[
        str | None, typer.Option(help="Upload limit of one frame; a sixteenth of the pool by default.", metavar="SIZE")
    ] = None,
    color: Annotated[FrameColor, typer.Option(help="What the colours show.")] = FrameColor.cluster,
    viewport: ViewportOption = VIEWPORT,
    screenshot: Annotated[
        Path | None, typer.Option(callback=written_as(".png"), help="Write a PNG instead of opening a window.")
    ] = None,
) -> None:
    """Open a window on a built mesh, with sliders for the budget and the pool, statistics and frozen culling.

    Drag to turn the mesh, drag with the right button to move it, use the wheel to go nearer. Keys: 1 to 5 colours, up
    and down the budget, m switches between triangles and pixels, left and right the pool, f freezes culling, h is home.
    Where OpenGL 4.5 or the extra `window` is missing PyVista draws, with a slider for triangles and keys 1 to 4.
    """
    from hra.domains import meshes
    from hra.domains.meshes.viewer.drawing import require_display

    if screenshot is None:
        require_display()
    with running(f"opening {mesh.name}"):
        asset = meshes.open_asset(mesh)
        camera = placed.camera(corners(asset), viewport, asset.origin)
        chosen = {
            "metric": CutOptions(error=error, metric=metric).chosen_metric(asset),
            "traversal": None if traversal is None else choose_traversal(traversal),
        }
    budget = math.inf if triangles is None else triangles
    if pixels is not None and not is_certified(chosen["metric"]):
        typer.echo(ESTIMATED, err=True)
    options = {
        "up": None if placed.camera_file else placed.upward(),
        "triangles": budget,
        "pixels": pixels,
        "pool_bytes": None if pool is None else byte_count(pool),
        "upload_bytes": None if upload is None else byte_count(upload),
        "coloring": color.value,
    }
    with ExitStack() as stack:
        try:
            session, window = _opened(stack, asset, camera, None if screenshot else mesh.name, {**options, **chosen})
        except (BackendUnavailable, MissingExtra) as missing:
            if pixels is not None or pool is not None or color is FrameColor.overdraw:
                raise
            stack.close()
            typer.echo(f"note: drawn by PyVista, because {missing.what}; fix: {missing.fix}", err=True)
            _by_pyvista(asset, camera, budget, color.value, chosen, screenshot)
            return
        if window is not None:
            window.show(session)
        elif screenshot is not None:
            _save(session, screenshot)


def _opened(
    stack: ExitStack, asset: MeshAsset, camera: Camera, title: str | None, options: dict[str, Any]
) -> tuple[ViewSession, ViewWindow | None]:
    """A session, in a window if there is a title; the stack closes both."""
    from hra.domains import meshes

    if title is None:
        return stack.enter_context(meshes.ViewSession(asset, camera, **options)), None
    window = stack.enter_context(meshes.ViewWindow(camera.viewport, title))
    return stack.enter_context(meshes.ViewSession(asset, camera, context=window.context, **options)), window


def _save(session: ViewSession, screenshot: Path) -> None:
    """What a window would show as soon as all pages are there."""
    from hra.files.images import save_png

    frame = session.frame()
    while not session.settled:
        frame = session.frame()
    save_png(screenshot, session.picture())
    typer.echo("\n".join([f"{screenshot}: {session.viewport[0]}x{session.viewport[1]} pixels", *frame.lines()]))


def _by_pyvista(
    asset: MeshAsset, camera: Camera, budget: float, color: Any, chosen: dict[str, Any], screenshot: Path | None
) -> None:
    from hra.domains import meshes

    viewer = meshes.Viewer(asset, camera, budget, color, **chosen, off_screen=screenshot is not None)
    if screenshot is None:
        viewer.show()
    else:
        viewer.save(screenshot)
        typer.echo(f"{screenshot}: {viewer.allocation}")
    viewer.close()

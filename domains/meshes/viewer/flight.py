"""A camera path through a streamed mesh: what each frame holds, draws and shows, and a plot of it.

What is shown is compared with full detail.
"""

from __future__ import annotations

import io
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from hra.camera import Camera
from hra.camera.matrices import bounding_box
from hra.domains.meshes.asset.mesh_asset import MeshAsset
from hra.domains.meshes.asset.mesh_streamer import MeshStreamer, MeshUpdate
from hra.domains.meshes.asset.paging import PageAllocator
from hra.domains.meshes.viewer.renderer import FrameColoring, Renderer
from hra.errors import CameraError, check_kind, needs
from hra.files.images import quality
from hra.kernels.raster import EMPTY
from hra.kernels.raster.clusters.renderer import FrameFacts
from hra.model.arrays import whole_in

# Over nine hours of a flight at 30 frames a second: more would only fill the memory.
_MOST_FRAMES = 1_000_000


@dataclass(frozen=True, eq=False)
class Difference:
    """How far a frame is from full detail, over the pixels that either covers.

    Attributes
    ----------
    flip : mean of LDR-FLIP, 0 to 1, at 67 pixels per degree; psnr : dB, inf where nothing differs.
    """

    flip: float
    psnr: float


@dataclass(frozen=True, eq=False)
class FlightFrame:
    """One frame.

    Attributes
    ----------
    camera, update, facts : where from, what was streamed, what was drawn.
    picture : uint8 [H, W, 3].
    difference : from full detail, None where it was not asked for.

    Examples
    --------
    >>> import hra
    >>> from hra.domains import meshes
    >>> meshes.build(hra.samples.path("skull.ply")).save("skull.hra")
    >>> asset = meshes.open_asset("skull.hra")
    >>> (frame,) = meshes.fly(asset, meshes.orbit(asset.bounds, 1, (160, 120)), 2**20, compared=False)
    >>> frame.update.held_bytes <= 2**20, frame.picture.shape
    (True, (120, 160, 3))
    """

    camera: Camera
    update: MeshUpdate
    facts: FrameFacts
    picture: np.ndarray
    difference: Difference | None


def orbit(bounds: np.ndarray, frames: int, viewport: tuple[int, int], **placed: Any) -> list[Camera]:
    """A way once around a mesh that comes near in its middle, to less than half of where it begins.

    Parameters
    ----------
    bounds : [2, 3], of the mesh.
    placed : elevation and up, as `Camera.orbit` takes them.

    Raises
    ------
    CameraError : other bounds. HraError : ``frames`` is not a whole number from 0 to 1,000,000.

    Examples
    --------
    >>> from hra.domains import meshes
    >>> first, *_ = meshes.orbit([[0, 0, 0], [1, 1, 1]], 4, (160, 120), up=(0, 0, 1))
    >>> first.viewport
    (160, 120)
    """
    frames, bounds = whole_in("frames", frames, range(_MOST_FRAMES + 1)), bounding_box(bounds)
    far = 1.15 * float(np.linalg.norm(np.ptp(bounds, axis=0)))
    cameras = []
    for k in range(frames):
        share = k / max(frames, 1)
        distance = far * (0.7 + 0.3 * np.cos(2 * np.pi * share))
        cameras.append(Camera.orbit(bounds, azimuth=30 + 360 * share, distance=distance, viewport=viewport, **placed))
    return cameras


def fly(
    asset: MeshAsset,
    cameras: Sequence[Camera],
    pool_bytes: float,
    *,
    upload_bytes: int | None = None,
    coloring: FrameColoring = "shaded",
    compared: bool = True,
) -> Iterator[FlightFrame]:
    """Frames of a mesh that is streamed through a pool.

    Parameters
    ----------
    asset : what is drawn.
    cameras : of one viewport and one kind of depth, in order.
    pool_bytes : the most that its pages take on the GPU; upload_bytes : the most that one frame uploads.
    coloring : of the pictures, see `Renderer.picture`.
    compared : whether full detail is drawn as well, and the shaded pictures are compared.

    Raises
    ------
    CameraError : cameras of different viewports or kinds of depth, or none. HraError : no cameras, or no asset.
    BudgetTooSmall : the pool does not hold the coarsest level, or the upload limit not one slot.
    FileError : a page is damaged. MissingExtra, BackendUnavailable : there is no OpenGL 4.5, or no FLIP to compare by.

    Examples
    --------
    >>> import hra
    >>> from hra.domains import meshes
    >>> meshes.build(hra.samples.path("skull.ply")).save("skull.hra")
    >>> asset = meshes.open_asset("skull.hra")
    >>> cameras = [hra.Camera.orbit(asset.bounds, azimuth=a, up=(0, 0, 1), viewport=(160, 120)) for a in (0, 90)]
    >>> [frame.difference.flip < 0.1 for frame in meshes.fly(asset, cameras, 2**19)]
    [True, True]
    """
    check_kind("cameras", cameras, Sequence, "pass a list of cameras")
    for number, camera in enumerate(cameras):
        check_kind(f"cameras[{number}]", camera, Camera, "make one by hra.Camera.perspective or orbit")
    if not cameras:
        raise CameraError("there is no frame", where="cameras", fix="pass at least one camera")
    streamer = MeshStreamer(PageAllocator(asset), pool_bytes, upload_bytes=upload_bytes)
    like = {"viewport": cameras[0].viewport, "reversed_depth": cameras[0].reversed_depth}
    finest = np.flatnonzero(asset.hierarchy.attribute("level") == 0)
    with Renderer(asset, **like, pool_bytes=pool_bytes) as renderer:
        full = Renderer(asset, **like) if compared else None
        try:
            for k, camera in enumerate(cameras):
                update = streamer.step(camera, cameras[k + 1 : k + 2])
                renderer.load(update)
                facts = renderer.draw(camera, update.cut)
                difference = full and _difference(renderer, full, camera, finest)
                yield FlightFrame(camera, update, facts, renderer.picture(coloring), difference)
        finally:
            streamer.close()
            if full is not None:
                full.close()


def _difference(renderer: Renderer, full: Renderer, camera: Camera, finest: np.ndarray) -> Difference:
    full.draw(camera, finest)
    covered = (full.visible().clusters != EMPTY) | (renderer.visible().clusters != EMPTY)
    if not covered.any():
        return Difference(0.0, float("inf"))
    seen, expected = (one.picture().astype(np.float32) / 255 for one in (renderer, full))
    flip = quality.flip_map(seen, expected)[covered].mean()
    return Difference(float(flip), quality.psnr(seen[covered], expected[covered]))


def flight_plot(frames: Sequence[dict[str, Any]], pool_bytes: float) -> bytes:
    """A PNG of the frames' records, see `hra.domains.meshes.commands.flying`: bytes, triangles, and differences."""
    with needs("matplotlib", "viz"):
        from matplotlib.figure import Figure
    compared = frames[0]["flip"] is not None
    figure = Figure(figsize=(9, 7.5 if compared else 5.2), layout="constrained")
    held, drawn, *shown = figure.subplots(2 + compared, sharex=True)
    held.plot([frame["held_bytes"] / 2**20 for frame in frames], label="held")
    held.bar(range(len(frames)), [frame["loaded_bytes"] / 2**20 for frame in frames], color="C1", label="uploaded")
    held.axhline(pool_bytes / 2**20, color="black", linestyle="--", label="pool")
    held.set(ylabel="MiB", ylim=(0, None))
    for name, label in (("triangles", "in the cut"), ("in_frustum", "in the frustum"), ("visible", "not hidden")):
        drawn.plot([frame[name] / 1000 for frame in frames], label=label)
    drawn.set(ylabel="thousand triangles", ylim=(0, None))
    for axes in shown:
        axes.plot([frame["flip"] for frame in frames], color="C3", label="FLIP against full detail")
        axes.set(ylabel="FLIP", ylim=(0, None))
    for axes in (held, drawn, *shown):
        axes.legend(loc="upper right", fontsize="small")
        axes.spines[["top", "right"]].set_visible(False)
    (shown[-1] if shown else drawn).set_xlabel("frame")
    stream = io.BytesIO()
    figure.savefig(stream, format="png", dpi=100)
    return stream.getvalue()

"""The evaluation of frames: every mesh, one after the other.

The meshes of the evaluation: the shipped skull, a displaced sphere, and scans with pinned contents.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from hra.domains import meshes
from hra.errors import FileError
from hra.kernels import raster
from hra_lab.evaluation.frames.pixel_cuts import PixelViews, pixel_rows
from hra_lab.evaluation.frames.popping import popping_rows
from hra_lab.inputs.mesh_sources import DATA, bumpy, fetch, skull

SCANS = {
    "armadillo.off": "6f7f3ca1abc506569466b72f2f59d49493a284e7376d7a7e23c08115ec8cec4e",
    "bunny00.off": "ab651cb04955c161efaeb079035a1e5e1f0e0d1f816a2df67beaea68f393ff2b",
    "parasaurolophus.ply": "1c7d47b3a5ad2ae7678fa6f97798e415734ab85f08493e3f3aac9662075873dd",
    "dragon.ply": "fea87ff48f2aba22fb53e7b67c3ff3f7b8c2a3b3a0653af62c48bba67c6d5744",
}


"""Files of `make data`, and the SHA-256 of those that the page's numbers belong to."""
Loader = Callable[[], meshes.TriangleMesh]


def subjects(bumpy_of: tuple[int, ...], scans: tuple[str, ...], folder: Path) -> Iterator[tuple[str, Loader]]:
    """Names, and what loads each mesh; the skull only beside scans."""
    if scans:
        yield "skull", skull
    for subdivisions in bumpy_of:
        yield f"bumpy sphere {subdivisions}", lambda subdivisions=subdivisions: bumpy(subdivisions)
    for name in scans:
        yield Path(name).stem, lambda name=name: meshes.load(pinned(name, folder))


def pinned(name: str, folder: Path) -> Path:
    """The file of `SCANS` in ``folder``.

    Raises
    ------
    FileError : it is not there, or holds something else.
    """
    file = fetch(name, folder)
    found = hashlib.sha256(file.read_bytes()).hexdigest()
    if found != SCANS[name]:
        raise FileError(f"the file is another one: its SHA-256 is {found}", where=str(file), fix="run `make data`")
    return file


@dataclass(frozen=True)
class FrameSizes:
    """How much of the evaluation to run.

    Attributes
    ----------
    bumpy : subdivisions of the displaced spheres; scans : of `SCANS`, left out where they are missing; zoomed : names
        of the meshes that the zoom shows.
    views : of cuts at one pixel; frames, zoom_viewport : of the zoom.
    """

    bumpy: tuple[int, ...] = ()
    scans: tuple[str, ...] = tuple(SCANS)
    zoomed: tuple[str, ...] = ("skull", "armadillo", "bunny00")
    views: PixelViews = PixelViews(2, (960, 540))  # noqa: RUF009 (a frozen dataclass)
    frames: int = 52
    zoom_viewport: tuple[int, int] = (320, 240)


FULL = FrameSizes()
# Shows that everything runs.
SMALL = FrameSizes((4,), (), ("bumpy sphere 4",), PixelViews(1, (96, 72)), 16, (64, 48))


def run(sizes: FrameSizes, progress: Callable[[str], None], folder: Path = DATA) -> dict[str, Any]:
    """All numbers as plain data: ``pixels`` as `pixel_rows`, ``popping`` as `popping_rows`, ``skipped`` with reasons.

    Parameters
    ----------
    progress : is told what is being worked on; folder : that `make data` filled.

    Raises
    ------
    MissingExtra, BackendUnavailable : ModernGL, FLIP, or a driver with OpenGL 4.5, is missing.
    """
    pixels, popping, skipped = [], [], []
    with raster.Context() as context:
        driver = context.renderer
    for name, load in subjects(sizes.bumpy, sizes.scans, folder):
        progress(name)
        try:
            source = load()
        except FileError as error:
            skipped.append({"mesh": name, "reason": f"{error.what}: {error.where}"})
            continue
        pixels += pixel_rows(name, source, sizes.views)
        if name in sizes.zoomed:
            popping += popping_rows(name, source, sizes.frames, sizes.zoom_viewport)
    return {
        "pixels": pixels,
        "popping": popping,
        "skipped": skipped,
        "driver": driver,
        "views": sizes.views.count,
        "viewport": sizes.views.viewport,
        "zoom_viewport": sizes.zoom_viewport,
    }

"""The evaluation of frames: every mesh, one after the other."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from hra.errors import FileError
from hra.kernels import raster
from hra_lab.evaluation.frames.pixel_cuts import PixelViews, pixel_rows
from hra_lab.evaluation.frames.popping import popping_rows
from hra_lab.evaluation.frames.subjects import SCANS, subjects
from hra_lab.inputs.mesh_sources import DATA


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

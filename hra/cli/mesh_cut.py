"""``hra mesh cut``: a mesh of just the triangles that a camera needs, within a budget."""

from __future__ import annotations

import math
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, cast

import typer

from hra.cli.camera_options import (
    AzimuthOption,
    CameraOption,
    CameraOptions,
    DistanceOption,
    ElevationOption,
    EyeOption,
    TargetOption,
    UpOption,
    ViewportOption,
)
from hra.cli.output import JsonOption, byte_count, show, write_json
from hra.errors import HraError

if TYPE_CHECKING:
    from hra.allocation import Allocation
    from hra.camera import Camera
    from hra.domains.meshes import MeshAllocator, MeshAsset

InputArgument = Annotated[Path, typer.Argument(help="A mesh that was built by `hra mesh build`.")]
TrianglesOption = Annotated[float | None, typer.Option(help="Triangle budget, never exceeded.")]
PixelsOption = Annotated[float | None, typer.Option(help="Largest projected error in pixels.")]
BytesOption = Annotated[str | None, typer.Option("--bytes", help="Byte budget instead, such as 512KiB.")]
ErrorOption = Annotated[
    str | None, typer.Option(help="certified, hausdorff or quadric; certified where the mesh carries bounds.")
]
_ESTIMATED = (
    "note: --pixels is held by the simplifier's own estimate, which true errors may exceed several times; "
    "`hra mesh build` bounds them unless told --no-certified"
)


@dataclass(frozen=True)
class CutOptions:
    """What limits a cut."""

    triangles: float | None
    pixels: float | None
    bytes: str | None
    error: str | None

    def allocate(self, asset: MeshAsset, camera: Camera) -> tuple[MeshAllocator, Allocation]:
        """The allocation, and what it was made with. That a pixel error is an estimate goes to standard error.

        Raises
        ------
        HraError : triangles and bytes, or an unknown error; others as `MeshAllocator.allocate` does.
        """
        from hra.domains import meshes
        from hra.traversals.exact import Exact
        from hra.traversals.threshold import Threshold

        if self.triangles is not None and self.bytes is not None:
            raise HraError("two budgets were given", where="hra mesh", fix="use --triangles or --bytes")
        budget = math.inf if self.triangles is None else self.triangles
        if self.bytes is not None:
            asset, budget = asset.with_cost("bytes"), float(byte_count(self.bytes))
        traversal = Exact() if self.pixels is None else Threshold(self.pixels)
        metric = meshes.ScreenError(cast(Any, self.error)).named(asset.hierarchy)
        if self.pixels is not None and not metric.certified:
            typer.echo(_ESTIMATED, err=True)
        # Named anew, so that nothing warns a second time.
        allocator = meshes.MeshAllocator(asset, meshes.ScreenError(metric.error), traversal)
        return allocator, allocator.allocate(camera, budget)


def cut(
    mesh: InputArgument,
    out: Annotated[Path | None, typer.Option("-o", "--out", help="The cut as GLB, OBJ, OFF, PLY or STL.")] = None,
    triangles: TrianglesOption = None,
    pixels: PixelsOption = None,
    byte_budget: BytesOption = None,
    error: ErrorOption = None,
    azimuth: AzimuthOption = 30.0,
    elevation: ElevationOption = 10.0,
    distance: DistanceOption = None,
    up: UpOption = "0,1,0",
    eye: EyeOption = None,
    target: TargetOption = None,
    camera_file: CameraOption = None,
    viewport: ViewportOption = "1920x1080",
    json_file: JsonOption = None,
) -> None:
    """Cut a built mesh to a triangle or byte budget, a pixel error, or both, as a camera sees it."""
    from hra.domains import meshes

    if triangles is None and pixels is None and byte_budget is None:
        fix = "add --triangles, --pixels or --bytes"
        raise HraError("neither a budget nor an error was given", where="hra mesh cut", fix=fix)
    asset = meshes.open_asset(mesh)
    placed = CameraOptions(azimuth, elevation, distance, up, eye, target, camera_file, viewport)
    options = CutOptions(triangles, pixels, byte_budget, error)
    allocator, allocation = options.allocate(asset, placed.camera(asset.bounds))
    metric = cast("meshes.ScreenError", allocator.metric)
    record = {
        "error": metric.error,
        "certified": metric.certified,
        "triangles": int(asset.triangles_per_cluster[allocation.cut].sum()),
        allocation.hierarchy.cost_unit: int(allocation.cost),
        "clusters": allocation.cut.size,
        "pages": asset.pages_of(allocation.cut).size,
        "residual_px2": allocation.residual,
        "largest_error_px": allocation.max_error,
        "gap": allocation.gap,
        "residual_gap": allocation.residual_gap,
        "seconds": allocation.seconds,
    }
    if out is not None:
        allocator.realize(allocation).export(out)
    write_json(json_file, record)
    show(repr(allocation), record.items())

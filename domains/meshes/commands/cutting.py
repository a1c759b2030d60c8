"""``hra mesh cut``: a mesh of just the triangles that a camera needs, within a budget."""

from __future__ import annotations

import math
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, cast

import typer

from hra.console import (
    JsonOption,
    MetricOption,
    TraversalOption,
    byte_count,
    choose_metric,
    choose_traversal,
    show,
    write_json,
)
from hra.console.camera_options import (
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
from hra.errors import HraError

if TYPE_CHECKING:
    from hra.allocating.allocation import Allocation
    from hra.camera import Camera
    from hra.domains.meshes import MeshAllocator, MeshAsset
    from hra.model.metrics import ErrorMetric
    from hra.traversals.base import Traversal

InputArgument = Annotated[Path, typer.Argument(help="A mesh that was built by `hra mesh build`.")]
TrianglesOption = Annotated[float | None, typer.Option(help="Triangle budget, never exceeded.")]
PixelsOption = Annotated[float | None, typer.Option(help="Largest projected error in pixels.")]
BytesOption = Annotated[str | None, typer.Option("--bytes", help="Byte budget instead, such as 512KiB.")]
ErrorOption = Annotated[
    str | None, typer.Option(help="quadric (by default), or deviation (built with --certified).", show_default=False)
]


@dataclass(frozen=True)
class CutOptions:
    """What limits a cut, and how it is chosen; texts as they were given."""

    triangles: float | None = None
    pixels: float | None = None
    bytes: str | None = None
    error: str | None = None
    metric: str | None = None
    traversal: str | None = None

    def allocate(self, asset: MeshAsset, camera: Camera) -> tuple[MeshAllocator, Allocation]:
        """The allocation, and what it was made with.

        Raises
        ------
        HraError : options that exclude each other, or unknown names; others as `MeshAllocator.allocate` does.
        """
        from hra.domains import meshes

        if self.triangles is not None and self.bytes is not None:
            raise HraError("two budgets were given", where="hra mesh", fix="use --triangles or --bytes")
        budget = math.inf if self.triangles is None else self.triangles
        if self.bytes is not None:
            asset, budget = asset.with_cost("bytes"), float(byte_count(self.bytes))
        allocator = meshes.MeshAllocator(asset, self.chosen_metric(), self._chosen_traversal())
        return allocator, allocator.allocate(camera, budget)

    def chosen_metric(self) -> ErrorMetric:
        """The metric by its name, or the screen error that ``error`` says."""
        from hra.domains.meshes import ScreenError

        if self.metric is None:
            return ScreenError(cast(Any, self.error or "quadric"))
        if self.error is not None:
            raise HraError("two errors were given", where="hra mesh", fix="use --error or --metric")
        return choose_metric(self.metric)

    def _chosen_traversal(self) -> Traversal:
        from hra.traversals.exact import Exact
        from hra.traversals.threshold import Threshold

        if self.traversal is None:
            return Exact() if self.pixels is None else Threshold(self.pixels)
        if self.pixels is not None:
            fix = "use --pixels, or --traversal threshold:tau=.."
            raise HraError("--pixels is a traversal of its own", where="hra mesh", fix=fix)
        return choose_traversal(self.traversal)


def cut(
    mesh: InputArgument,
    out: Annotated[Path | None, typer.Option("-o", "--out", help="The cut as GLB, OBJ, OFF, PLY or STL.")] = None,
    triangles: TrianglesOption = None,
    pixels: PixelsOption = None,
    byte_budget: BytesOption = None,
    error: ErrorOption = None,
    metric: MetricOption = None,
    traversal: TraversalOption = None,
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

    if triangles is None and pixels is None and byte_budget is None and traversal is None:
        fix = "add --triangles, --pixels or --bytes"
        raise HraError("neither a budget nor an error was given", where="hra mesh cut", fix=fix)
    asset = meshes.open_asset(mesh)
    placed = CameraOptions(azimuth, elevation, distance, up, eye, target, camera_file, viewport)
    options = CutOptions(triangles, pixels, byte_budget, error, metric, traversal)
    allocator, allocation = options.allocate(asset, placed.camera(asset.bounds))
    record = {
        "error": metric or error or "quadric",
        "traversal": repr(allocator.traversal),
        "triangles": int(asset.triangles_per_cluster[allocation.cut].sum()),
        allocation.hierarchy.cost_unit: int(allocation.cost),
        "clusters": allocation.cut.size,
        "pages": asset.pages_of(allocation.cut).size,
        **_errors(allocation),
        "gap": allocation.gap,
        "residual_gap": allocation.residual_gap,
        "seconds": allocation.seconds,
    }
    if out is not None:
        allocator.realize(allocation).export(out)
    write_json(json_file, record)
    show(repr(allocation), record.items())


def _errors(allocation: Allocation) -> dict[str, Any]:
    """What remains, under a name that says its unit."""
    if allocation.problem.unit == "px2":
        return {"residual_px2": allocation.residual, "largest_error_px": allocation.max_error}
    return {"residual": allocation.residual, "largest_error": allocation.max_error, "unit": allocation.problem.unit}

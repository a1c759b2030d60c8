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
    with_option_lists,
    write_json,
)
from hra.console.camera_options import CameraOptions, ViewportOption
from hra.errors import HraError

if TYPE_CHECKING:
    from hra.allocating.allocation import Allocation
    from hra.camera import Camera
    from hra.domains.meshes import MeshAllocator, MeshAsset
    from hra.model.metrics import ErrorMetric
    from hra.traversals.base import Traversal

BuiltMesh = Annotated[Path, typer.Argument(help="A mesh that was built by `hra mesh build`.")]
ErrorOption = Annotated[
    str | None, typer.Option(help="certified, hausdorff or quadric; certified where the mesh carries bounds.")
]
_ESTIMATED = (
    "note: --pixels is held by the simplifier's own estimate, which true errors may exceed several times; "
    "`hra mesh build` bounds them unless told --no-certified"
)


@dataclass(frozen=True)
class CutOptions:
    """What limits a cut, and how it is chosen; texts as they were given."""

    triangles: Annotated[float | None, typer.Option(help="Triangle budget, never exceeded.")] = None
    pixels: Annotated[float | None, typer.Option(help="Largest projected error in pixels.")] = None
    byte_budget: Annotated[str | None, typer.Option("--bytes", help="Byte budget instead, such as 512KiB.")] = None
    error: ErrorOption = None
    metric: MetricOption = None
    traversal: TraversalOption = None

    def allocate(self, asset: MeshAsset, camera: Camera) -> tuple[MeshAllocator, Allocation]:
        """The allocation, and what it was made with. That a pixel error is an estimate goes to standard error.

        Raises
        ------
        HraError : options that exclude each other, or unknown names; others as `MeshAllocator.allocate` does.
        """
        from hra.domains import meshes

        if self.triangles is not None and self.byte_budget is not None:
            raise HraError("two budgets were given", where="hra mesh", fix="use --triangles or --bytes")
        budget = math.inf if self.triangles is None else self.triangles
        if self.byte_budget is not None:
            asset, budget = asset.with_cost("bytes"), float(byte_count(self.byte_budget))
        metric = self.chosen_metric(asset)
        if self.pixels is not None and not is_certified(metric):
            typer.echo(_ESTIMATED, err=True)
        allocator = meshes.MeshAllocator(asset, metric, self._chosen_traversal())
        return allocator, allocator.allocate(camera, budget)

    def chosen_metric(self, asset: MeshAsset) -> ErrorMetric:
        """The metric by its name, or the screen error that ``error`` says and the asset carries."""
        from hra.domains.meshes import ScreenError

        if self.metric is None:
            # Named anew, so that nothing warns a second time.
            return ScreenError(ScreenError(cast(Any, self.error)).resolve(asset.hierarchy).error)
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


def is_certified(metric: ErrorMetric) -> bool:
    """Whether a threshold in pixels holds, and is not only what the simplifier estimates."""
    return bool(getattr(metric, "certified", False))


@with_option_lists
def cut(
    mesh: BuiltMesh,
    limits: CutOptions,
    placed: CameraOptions,
    out: Annotated[Path | None, typer.Option("-o", "--out", help="The cut as GLB, OBJ, OFF, PLY or STL.")] = None,
    viewport: ViewportOption = "1920x1080",
    json_file: JsonOption = None,
) -> None:
    """Cut a built mesh to a triangle or byte budget, a pixel error, or both, as a camera sees it."""
    from hra.domains import meshes

    if (limits.triangles, limits.pixels, limits.byte_budget, limits.traversal) == (None, None, None, None):
        fix = "add --triangles, --pixels or --bytes"
        raise HraError("neither a budget nor an error was given", where="hra mesh cut", fix=fix)
    asset = meshes.open_asset(mesh)
    allocator, allocation = limits.allocate(asset, placed.camera(asset.bounds, viewport))
    record = {
        "error": limits.metric or getattr(allocator.metric, "error", limits.error),
        "certified": is_certified(allocator.metric),
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

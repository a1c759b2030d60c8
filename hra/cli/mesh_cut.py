"""``hra mesh cut``: a mesh of just the triangles that a camera needs, within a budget."""

from __future__ import annotations

import math
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, cast

import typer

from hra.cli.camera_options import CameraOptions, ViewportOption
from hra.cli.options import BuiltMesh, JsonOption, with_option_lists
from hra.cli.output import byte_count, show, write_json
from hra.errors import HraError

if TYPE_CHECKING:
    from hra.allocating.allocation import Allocation
    from hra.camera import Camera
    from hra.domains.meshes import MeshAllocator, MeshAsset

_ESTIMATED = (
    "note: --pixels is held by the simplifier's own estimate, which true errors may exceed several times; "
    "`hra mesh build` bounds them unless told --no-certified"
)


@dataclass(frozen=True)
class CutOptions:
    """What limits a cut."""

    triangles: Annotated[float | None, typer.Option(help="Triangle budget, never exceeded.")] = None
    pixels: Annotated[float | None, typer.Option(help="Largest projected error in pixels.")] = None
    byte_budget: Annotated[str | None, typer.Option("--bytes", help="Byte budget instead, such as 512KiB.")] = None
    error: Annotated[
        str | None, typer.Option(help="certified, hausdorff or quadric; certified where the mesh carries bounds.")
    ] = None

    def allocate(self, asset: MeshAsset, camera: Camera) -> tuple[MeshAllocator, Allocation]:
        """The allocation, and what it was made with. That a pixel error is an estimate goes to standard error.

        Raises
        ------
        HraError : triangles and bytes, or an unknown error; others as `MeshAllocator.allocate` does.
        """
        from hra.domains import meshes
        from hra.traversals.exact import Exact
        from hra.traversals.threshold import Threshold

        if self.triangles is not None and self.byte_budget is not None:
            raise HraError("two budgets were given", where="hra mesh", fix="use --triangles or --bytes")
        budget = math.inf if self.triangles is None else self.triangles
        if self.byte_budget is not None:
            asset, budget = asset.with_cost("bytes"), float(byte_count(self.byte_budget))
        traversal = Exact() if self.pixels is None else Threshold(self.pixels)
        metric = meshes.ScreenError(cast(Any, self.error)).named(asset.hierarchy)
        if self.pixels is not None and not metric.certified:
            typer.echo(_ESTIMATED, err=True)
        # Named anew, so that nothing warns a second time.
        allocator = meshes.MeshAllocator(asset, meshes.ScreenError(metric.error), traversal)
        return allocator, allocator.allocate(camera, budget)


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

    if limits.triangles is None and limits.pixels is None and limits.byte_budget is None:
        fix = "add --triangles, --pixels or --bytes"
        raise HraError("neither a budget nor an error was given", where="hra mesh cut", fix=fix)
    asset = meshes.open_asset(mesh)
    allocator, allocation = limits.allocate(asset, placed.camera(asset.bounds, viewport))
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

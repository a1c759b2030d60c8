"""What limits a cut on the command line, and the cut that comes of it: for all sides, or for one camera."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from enum import Enum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, cast

import typer

from hra.console import MetricOption, TraversalOption, byte_count, choose_metric, choose_traversal, count
from hra.errors import HraError

if TYPE_CHECKING:
    import numpy as np

    from hra.allocating.allocation import Allocation
    from hra.camera import Camera
    from hra.console.camera_options import CameraOptions
    from hra.domains.meshes import MeshAllocator, MeshAsset, TriangleMesh
    from hra.domains.meshes.lods.byte_budget import FittedFile
    from hra.domains.meshes.metrics.surface_error import AllSidesError
    from hra.model.metrics import ErrorMetric
    from hra.traversals.base import Traversal

BuiltMesh = Annotated[Path, typer.Argument(help="A mesh built by `hra mesh build`.", metavar="MESH.hra")]
TrianglesOption = Annotated[
    float | None, typer.Option(parser=count, help="Triangle budget, never exceeded: 10000, 10k, 2.5M.", metavar="N")
]
PixelsOption = Annotated[float | None, typer.Option(help="Largest error in pixels.")]
ErrorOption = Annotated[
    str | None, typer.Option(help="certified, hausdorff, quadric or appearance; certified where the mesh has bounds.")
]
ESTIMATED = (
    "note: --pixels is held by the simplifier's own estimate, which true errors may exceed several times; "
    "`hra mesh build` bounds them unless told --no-certified"
)


# Surfaces are measured on this many triangles.
_FOR_AREAS = 20_000


class Textures(Enum):
    """What a budget of bytes does to images."""

    fit = "fit"
    keep = "keep"


TexturesOption = Annotated[
    Textures, typer.Option(help="With --bytes: fit shrinks images with the triangles, keep leaves them.")
]


def check_textures(textures: Textures, limited: bool) -> None:
    """Raise if images are to be kept where nothing would shrink them: without a budget of bytes.

    Raises
    ------
    HraError : always then, because the option would be ignored.
    """
    if textures is Textures.keep and not limited:
        fix = "leave it out: only --bytes makes images smaller"
        raise HraError("without --bytes all images are kept", where="--textures", fix=fix)


@dataclass(frozen=True)
class CutOptions:
    """What limits a cut, and how it is chosen; texts as they were given."""

    triangles: TrianglesOption = None
    pixels: PixelsOption = None
    byte_budget: Annotated[
        str | None, typer.Option("--bytes", help="Largest size of the written file, such as 500kB.", metavar="SIZE")
    ] = None
    textures: TexturesOption = Textures.fit
    error: ErrorOption = None
    metric: MetricOption = None
    traversal: TraversalOption = None

    @property
    def given(self) -> bool:
        """Whether anything limits the cut."""
        return any(limit is not None for limit in (self.triangles, self.pixels, self.byte_budget, self.traversal))

    def cut(self, asset: MeshAsset, placed: CameraOptions, screen: str, suffix: str = ".glb") -> Cut:
        """The cut of these limits; that a pixel error is an estimate goes to standard error.

        Parameters
        ----------
        placed, screen : where the camera is, if anywhere; without a direction the cut is the best from all sides.
        suffix : of the file whose size is limited.

        Raises
        ------
        HraError : options that exclude each other, or unknown names; others as `MeshAllocator.allocate` does.
        """
        if self.triangles is not None and self.byte_budget is not None:
            raise HraError("two budgets were given", where="hra mesh", fix="use --triangles or --bytes")
        check_textures(self.textures, self.byte_budget is not None)
        view = _View.of(asset, placed, screen, all_sides=not placed.from_one_side and self.metric is None)
        allocator = self._allocator(asset, view)
        if self.byte_budget is not None:
            fitted = self._fitted(allocator, view, suffix)
            return Cut(allocator, fitted.allocation, view, self.pixels, fitted)
        budget = math.inf if self.triangles is None else self.triangles
        return Cut(allocator, allocator.allocate(view.context, budget), view, self.pixels)

    def _fitted(self, allocator: MeshAllocator, view: _View, suffix: str) -> FittedFile:
        from hra.domains.meshes.lods.byte_budget import ByteBudget, images_of, with_images

        def encode(allocation: Allocation, images: Mapping[bytes, bytes]) -> bytes:
            return file_of(with_images(allocator.realize(allocation), images), suffix)

        images, clusters = [], allocator.cluster_mesh
        if suffix == ".glb" and self.textures is Textures.fit:
            count = max(_FOR_AREAS, clusters.hierarchy.base_cost)
            images = images_of(allocator.realize(allocator.allocate(view.context, count)))
        return ByteBudget(allocator, view.context, images, encode).fit(
            byte_count(self.byte_budget or ""), view.per_unit
        )

    def _allocator(self, asset: MeshAsset, view: _View) -> MeshAllocator:
        from hra.domains import meshes

        sides = view.all_sides
        metric = self.chosen_metric(asset) if sides is None else replace(sides, error=self._error_name(asset))
        if self.pixels is not None and not is_certified(metric):
            typer.echo(ESTIMATED, err=True)
        return meshes.MeshAllocator(asset, metric, self._traversal())

    def chosen_metric(self, asset: MeshAsset) -> ErrorMetric:
        """The metric by its name, or the screen error that ``error`` says and the asset carries."""
        from hra.domains.meshes import ScreenError

        if self.metric is None:
            # Named again, so nothing warns a second time.
            return ScreenError(self._error_name(asset))
        if self.error is not None:
            raise HraError("two errors were given", where="hra mesh", fix="use --error or --metric")
        return choose_metric(self.metric)

    def _error_name(self, asset: MeshAsset) -> Any:
        from hra.domains.meshes import ScreenError
        from hra.domains.meshes.metrics.appearance import check_appearance

        named = ScreenError(cast("Any", self.error)).resolve(asset.hierarchy)
        if named.certified and "hausdorff" not in asset.hierarchy.node:
            fix = "`hra mesh build` without --no-certified makes bounds; or use --error quadric"
            raise HraError(f"the mesh was built without the bounds of --error {named.error}", where="--error", fix=fix)
        if named.error == "appearance":
            check_appearance(asset.hierarchy)
        return named.error

    def _traversal(self) -> Traversal:
        from hra.traversals.exact import Exact
        from hra.traversals.threshold import Threshold

        if self.traversal is None:
            return Exact() if self.pixels is None else Threshold(self.pixels)
        if self.pixels is not None:
            fix = "use --pixels, or --traversal threshold:tau=.."
            raise HraError("--pixels is a traversal of its own", where="hra mesh", fix=fix)
        return choose_traversal(self.traversal)


@dataclass(frozen=True, eq=False)
class _View:
    """What a cut is for.

    Attributes
    ----------
    camera : that sees all of the mesh; middle : of its box.
    all_sides : the metric of a cut for all sides, None if it is for this camera.
    """

    camera: Camera
    middle: tuple[float, float, float]
    all_sides: AllSidesError | None = None

    @classmethod
    def of(cls, asset: MeshAsset, placed: CameraOptions, screen: str, *, all_sides: bool) -> _View:
        camera = placed.camera(corners(asset), screen, asset.origin)
        x, y, z = asset.bounds.astype(float).mean(axis=0).tolist()
        if not all_sides:
            return cls(camera, (x, y, z))
        from hra.domains.meshes.metrics.surface_error import AllSidesError, all_round_distance, reaches

        distance = placed.distance or all_round_distance(camera, reaches(asset.hierarchy, (x, y, z))[1])
        return cls(camera, (x, y, z), AllSidesError((x, y, z), distance, camera.focal_pixels))

    @property
    def context(self) -> Camera | None:
        """What the metric reads."""
        return self.camera if self.all_sides is None else None

    @property
    def per_unit(self) -> float:
        """Pixels of a unit of length at the middle of the mesh."""
        if self.all_sides is not None:
            return self.all_sides.focal / self.all_sides.distance
        return self.camera.focal_pixels / max(math.dist(self.camera.position, self.middle), 1e-9)


@dataclass(frozen=True, eq=False)
class Cut:
    """A cut as it was chosen.

    Attributes
    ----------
    tolerance : pixels that were asked for, or None; fitted : the file, where its size was limited.
    """

    allocator: MeshAllocator
    allocation: Allocation
    view: _View
    tolerance: float | None
    fitted: FittedFile | None = None

    @property
    def triangles(self) -> int:
        """How many it has."""
        return int(self.allocator.cluster_mesh.triangles_per_cluster[self.allocation.cut].sum())

    @property
    def met(self) -> bool:
        """Whether the tolerance was met."""
        return self.tolerance is None or self.allocation.max_error <= self.tolerance

    def errors(self) -> dict[str, Any]:
        """What remains, under names that say their units."""
        left, unit = self.allocation, self.allocation.problem.unit
        if unit == "px2":
            found = {"residual_px2": left.residual, "largest_error_px": left.max_error}
        elif self.view.all_sides is not None:
            found = {"seen_from": "all sides", "distance": self.view.all_sides.distance}
            found |= {"largest_error": self._largest_distance(), "largest_error_px": left.max_error}
        else:
            found = {"residual": left.residual, "largest_error": left.max_error, "unit": unit}
        return found if self.tolerance is None else {**found, "tolerance_px": self.tolerance, "tolerance_met": self.met}

    def _largest_distance(self) -> float:
        """The largest error of the cut in object units."""
        from hra.domains.meshes import SurfaceError

        hierarchy, metric = self.allocation.hierarchy, SurfaceError(getattr(self.allocator.metric, "error", "quadric"))
        return float(metric.peak(hierarchy, None)[self.allocation.cut].max(initial=0.0))

    def unseen(self) -> bool:
        """Whether the camera sees nothing of the mesh, so that every cut is as good as the coarsest."""
        from hra.domains.meshes import ScreenError

        hierarchy = self.allocation.hierarchy
        if self.view.all_sides is not None or not hierarchy.attribute("error").any():
            return False
        return not ScreenError("quadric").peak(hierarchy, self.view.context).any()

    def outcome(self) -> str | None:
        """The tolerance beside what was reached, None without one."""
        if self.tolerance is None:
            return None
        if self.met:
            return f"tolerance met: {self.allocation.max_error:.3g} of {self.tolerance:g} px"
        reached = f"{self.allocation.max_error:.3g} instead of {self.tolerance:g} px"
        needed = self.allocator.allocate(self.view.context, math.inf).cost
        return f"tolerance NOT met: {reached}, which takes {needed:,.0f} triangles"


def corners(asset: MeshAsset) -> np.ndarray:
    """Corners [8 K, 3] of boxes around the source's clusters, or of the one around all where clusters have none."""
    import numpy as np

    node = asset.hierarchy.node
    boxes = node["box"][node["level"] == 0] if "box" in node else asset.bounds[None]
    choice = np.stack(np.meshgrid([0, 1], [0, 1], [0, 1]), -1).reshape(-1, 3)
    return boxes[:, choice, np.arange(3)].reshape(-1, 3).astype(float)


def file_of(mesh: TriangleMesh, suffix: str) -> bytes:
    """The mesh as a file, with normals where the format holds them."""
    from hra.domains.meshes.files.write_glb import encode, holds_normals

    return encode(mesh.with_normals() if holds_normals(suffix) else mesh, suffix)


def is_certified(metric: ErrorMetric) -> bool:
    """Whether a threshold in pixels holds, and is not only what the simplifier estimates."""
    return bool(getattr(metric, "certified", False))

"""How far one view is from another: depth and normals, pixel by pixel."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import asdict, dataclass

import numpy as np

from hra.camera import Camera
from hra.domains.meshes import TriangleMesh
from hra.kernels import raster
from hra_lab.evaluation.meshes.views import Rendering, draw

# Depths count as different by at most this share of the mesh's diagonal, normals by at most this many degrees where
# only one of the two views has a surface.
_MOST_DEPTH, _MOST_ANGLE = 0.05, 90.0


@dataclass(frozen=True)
class RenderingDifference:
    """Means over the pixels where either view has a surface.

    Attributes
    ----------
    depth : absolute difference as a share of the mesh's diagonal, at most 0.05 per pixel, which is also what a pixel
        counts where only one view has a surface.
    normal : angle between the normals in degrees; 90 where only one view has a surface.
    outline : share of pixels where only one view has a surface.
    """

    depth: float
    normal: float
    outline: float


def image_error(view: Rendering, source: Rendering, diagonal: float) -> RenderingDifference:
    """The error of a view; a mesh's ``diagonal`` is that of its bounding box."""
    either, both = view.covered | source.covered, view.covered & source.covered
    seen = max(int(either.sum()), 1)
    apart = np.minimum(np.abs(view.depth[both] - source.depth[both]) / diagonal, _MOST_DEPTH)
    cosine = np.einsum("pi,pi->p", view.normal[both].astype(np.float64), source.normal[both])
    angle = np.degrees(np.arccos(np.clip(cosine, -1, 1)))
    alone = seen - int(both.sum()) if either.any() else 0
    return RenderingDifference(
        depth=(float(apart.sum()) + alone * _MOST_DEPTH) / seen,
        normal=(float(angle.sum()) + alone * _MOST_ANGLE) / seen,
        outline=alone / seen,
    )


def mean_errors(
    context: raster.Context, shown: Iterable[tuple[TriangleMesh, Camera, Rendering]], diagonal: float
) -> dict[str, float]:
    """Means of the fields of `RenderingDifference` over views: mesh, camera and the source's view."""
    errors = [asdict(image_error(draw(context, mesh, camera), true, diagonal)) for mesh, camera, true in shown]
    return {name: float(np.mean([error[name] for error in errors])) for name in errors[0]}

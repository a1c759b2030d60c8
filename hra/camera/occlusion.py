"""What a camera's depth buffer hides: one test for mesh clusters, textured surfaces and anything else with bounds."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, final

import numpy as np

from hra.camera import Camera
from hra.errors import ArrayError
from hra.kernels import Pyramid, depth_pyramid, project_boxes, visible_boxes, visible_spheres
from hra.kernels.culling.depth_view import QUANTUM
from hra.kernels.culling.projection import ProjectedBounds
from hra.model.arrays import to_numpy


@final
@dataclass(frozen=True, eq=False)
class Occlusion:
    """A depth buffer as a Hi-Z pyramid, with the camera that it was drawn with.

    Parameters
    ----------
    hiz : from `hra.kernels.depth_pyramid`, of minima if the camera's depth is reversed.
    camera : with OpenGL's clip space, depth in [-w, w], or with reversed depth in [0, w]. For a standard projection to
        [0, w] (Direct3D, Vulkan) use `hra.kernels.visible_boxes`: `Camera` reads such a matrix as one to [-w, w].

    Standard depth is almost 1 far away: a wall hides nothing where ``near`` is below 5e-6 of its distance. Reversed
    depth hides at any distance. It is taken for float32; for integers use `hra.kernels.visible_boxes` with ``slack``.

    Raises
    ------
    ArrayError : the pyramid is not of the camera's viewport, or of the other kind of depth.
    """

    hiz: Pyramid
    camera: Camera

    def __post_init__(self) -> None:
        width, height = self.camera.viewport
        if self.hiz.shapes[0] != (height, width, 1):
            what = f"the pyramid is of shape {self.hiz.shapes[0]}, the viewport of {height} x {width} pixels"
            raise ArrayError(what, where="hiz", fix="draw the depth buffer with this camera")
        if (self.hiz.reduce == "min") != self.camera.reversed_depth:
            fix = f"build it with reversed_depth={self.camera.reversed_depth}"
            raise ArrayError(f"the pyramid is of {self.hiz.reduce!r}", where="hiz", fix=fix)

    @classmethod
    def of(cls, depth: Any, camera: Camera) -> Occlusion:
        """From a depth buffer float32 [height, width] in [0, 1], row 0 on top."""
        return cls(depth_pyramid(depth, reversed_depth=camera.reversed_depth), camera)

    def seen_from(self, placement: Any) -> Occlusion:
        """The same buffer in the coordinates of an object that ``placement`` [4, 4] puts into the world.

        Boxes and spheres of the object are then tested as they are, also where it is mirrored or scaled unevenly.

        Raises
        ------
        CameraError : see `hra.Camera.seen_from`.
        """
        return Occlusion(self.hiz, self.camera.seen_from(placement))

    def visible_boxes(self, boxes: Any) -> np.ndarray:
        """Which world-space boxes [K, 2, 3] may be in view and not hidden, bool [K]; conservative."""
        return to_numpy(visible_boxes(self.hiz, boxes, window_matrix(self.camera), slack=self._slack))

    def project_boxes(self, boxes: Any) -> ProjectedBounds:
        """Where world-space boxes [K, 2, 3] appear, see `hra.kernels.culling.projection.project_boxes`."""
        width, height = self.camera.viewport
        view, reverse = window_matrix(self.camera), self.camera.reversed_depth
        return project_boxes(boxes, view, (height, width), reversed_depth=reverse, slack=self._slack)

    def visible_spheres(self, centers: Any, radii: Any) -> np.ndarray:
        """Which world-space spheres, centres [K, 3] and radii [K], may be in view and not hidden, bool [K]."""
        spheres = np.concatenate([to_numpy(centers), to_numpy(radii)[:, None]], axis=1)
        return to_numpy(visible_spheres(self.hiz, spheres, window_matrix(self.camera), slack=self._slack))

    @property
    def _slack(self) -> float:
        """Steps of reversed depth in float32 shrink with it, and bounds count what is rounded; see `QUANTUM`."""
        return 0.0 if self.camera.reversed_depth else QUANTUM


def window_matrix(camera: Camera) -> np.ndarray:
    """World to clip space, float64 [4, 4], with z in [0, w], so that z / w is what the depth buffer holds."""
    matrix = camera.projection @ camera.view
    if not camera.reversed_depth:
        # From [-w, w] to [0, w], exactly up to one rounding.
        matrix[2] = (matrix[2] + matrix[3]) / 2
    return matrix

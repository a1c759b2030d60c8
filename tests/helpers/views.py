"""Cameras of every kind of depth buffer, scenes drawn by the plain rasteriser, and the exact full-resolution test."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

import hra
from hra.caching import cached_property
from hra.camera.occlusion import window_matrix
from hra.kernels import ProjectedBounds, Pyramid, depth_pyramid, project_boxes
from hra_lab.inputs.occluders import box_triangles
from tests.helpers.rasterizer import Target

Camera = hra.Camera
KINDS = ("perspective", "infinite", "reversed", "orthographic", "orthographic reversed")


def camera_of(kind: str, viewport: tuple[int, int], eye=(0, 0, 0), target=(0, 0, -1)) -> Camera:
    """A camera that looks along -Z; near plane at 0.1."""
    if kind.startswith("orthographic"):
        return Camera.orthographic(
            eye, target, height=40, near=0.1, far=150, viewport=viewport, reversed_depth="reversed" in kind
        )
    far = 200 if kind == "perspective" else np.inf
    return Camera.perspective(eye, target, near=0.1, far=far, viewport=viewport, reversed_depth=kind == "reversed")


@dataclass(frozen=True, eq=False)
class View:
    """Objects drawn from one camera.

    Parameters
    ----------
    triangles : [T, 3, 3]; ids : [T], the object of each; boxes : [K, 2, 3], around each object.
    """

    camera: Camera
    triangles: np.ndarray
    ids: np.ndarray
    boxes: np.ndarray
    bits: int | None = None

    @classmethod
    def of_boxes(cls, camera: Camera, boxes: np.ndarray, bits: int | None = None) -> View:
        return cls(camera, box_triangles(boxes), np.repeat(np.arange(len(boxes)), 12), boxes, bits)

    @property
    def matrix(self) -> np.ndarray:
        return window_matrix(self.camera)

    def blank(self) -> Target:
        width, height = self.camera.viewport
        return Target(height, width, self.camera.reversed_depth, self.bits)

    @cached_property
    def drawn(self) -> Target:
        target = self.blank()
        target.draw(self.triangles, self.ids, self.matrix)
        return target

    @cached_property
    def seen(self) -> np.ndarray:
        """Which objects own a pixel [K]."""
        return self.drawn.seen(len(self.boxes))

    @cached_property
    def hiz(self) -> Pyramid:
        return depth_pyramid(self.drawn.depth, reversed_depth=self.camera.reversed_depth)

    @cached_property
    def bounds(self) -> ProjectedBounds:
        width, height = self.camera.viewport
        return project_boxes(self.boxes, self.matrix, (height, width), reversed_depth=self.camera.reversed_depth)

    @cached_property
    def exact(self) -> np.ndarray:
        """What a test of every pixel in the rectangles keeps [K]."""
        depth = self.drawn.depth if not self.camera.reversed_depth else -self.drawn.depth
        nearest = self.bounds.depth if not self.camera.reversed_depth else -self.bounds.depth
        rects = self.bounds.rects
        farthest = np.array([depth[y0 : y1 + 1, x0 : x1 + 1].max(initial=-np.inf) for x0, y0, x1, y1 in rects])
        return ~(nearest > farthest)


def random_boxes(rng: np.random.Generator, count: int, spread: float = 20.0) -> np.ndarray:
    """Boxes [count, 2, 3] float32 all around the origin, of sizes over two magnitudes; some reach through the eye."""
    center = rng.normal(size=(count, 3)) * spread
    half = np.exp(rng.uniform(np.log(0.05), np.log(4.0), (count, 3)))
    return np.stack([center - half, center + half], axis=1).astype(np.float32)

"""Feedback without a GPU: one sample per page in view from its outline alone, or by rays what a feedback buffer holds.

Both leave out pages that a depth buffer hides.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from hra.camera import Camera
from hra.camera.occlusion import Occlusion
from hra.compiling import njit
from hra.domains.textures.feedback.feedback import Feedback
from hra.domains.textures.views.raycast import Hits, cast_rays, footprint_at, screen_to_plane
from hra.domains.textures.views.scene import PlaneScene, TexturedPlane, check_scene
from hra.errors import check_kind
from hra.model.short_repr import ShortRepr

_NOTHING = np.empty(0, np.int32), np.empty(0, np.float32), np.empty(0, np.float32), np.empty((0, 2), np.float32)


@dataclass(frozen=True, eq=False, repr=False)
class AnalyticFeedback(ShortRepr):
    """Feedback of a scene of textured planes without a GPU: one ray per cell of ``stride`` x ``stride`` pixels.

    With ``stride`` 1 every pixel counts, at its centre. With ``stride`` s the area of a tile errs by less than
    ``s**1.5 * sqrt(perimeter)`` pixels (root mean square), and slivers thinner than s may get nothing.

    Parameters
    ----------
    scene : the planes; their textures' pages are those of ``scene.textures.hierarchy``.
    stride : pixels along one side of a cell.
    occlusion : a depth buffer that holds what else is in the scene, such as meshes: pages behind it want nothing. The
        planes hide each other without it.

    Examples
    --------
    >>> import numpy as np
    >>> from hra import Camera
    >>> from hra.domains.textures import AnalyticFeedback, PlaneScene
    >>> scene = PlaneScene.ground(np.zeros((256, 256, 3), np.uint8), width=10.0)
    >>> camera = Camera.perspective(eye=(0, 4, 6), target=(0, 0, 0), viewport=(64, 48))
    >>> seen = AnalyticFeedback(scene, stride=4).observe(camera)
    >>> seen.page.size, seen.viewport_pixels, round(float(seen.wanted_level.mean()), 1)
    (132, 3072, 2.5)
    """

    scene: PlaneScene
    stride: int = 4
    occlusion: Occlusion | None = None

    def __post_init__(self) -> None:
        _check(self.scene, self.occlusion)

    def observe(self, camera: Camera) -> Feedback:
        """The feedback of the view of ``camera``."""
        hits = cast_rays(self.scene, camera, self.stride)
        parts = (self._samples(hits, index) for index in range(len(self.scene.planes)))
        page, footprint, pixels, position = (np.concatenate(part) for part in zip(*parts, strict=True))
        width, height = camera.viewport
        return Feedback(page, footprint, pixels, width * height, position)

    def _samples(self, hits: Hits, index: int) -> tuple[np.ndarray, ...]:
        """Page, footprint, pixels and position of the samples of one plane."""
        row, column = np.nonzero(hits.plane == index)
        plane, texture = self.scene.planes[index], self.scene.texture_of[index]
        cell_y, cell_x = (
            coordinate[row, column].astype(np.int32) // plane.texture.pages.cell for coordinate in (hits.y, hits.x)
        )
        if self.occlusion is not None:
            seen = visible_cells(plane, self.occlusion)[cell_y, cell_x]
            row, column, cell_y, cell_x = row[seen], column[seen], cell_y[seen], cell_x[seen]
        page = self.scene.textures.finest_pages[texture][cell_y, cell_x]
        pixels, position = hits.row_pixels[row] * hits.column_pixels[column], (hits.column[column], hits.row[row])
        return page, hits.footprint[row, column], pixels, np.stack(position, axis=1)


def _check(scene: PlaneScene, occlusion: Occlusion | None) -> None:
    check_scene(scene)
    check_kind("occlusion", occlusion, (Occlusion, type(None)), "pass a hra.camera.Occlusion, or None")


def cell_corners(plane: TexturedPlane) -> np.ndarray:
    """World positions of the corners of every cell (page of the finest level), in turn around it: [GY, GX, 4, 3]."""
    rows, columns = plane.texture.mips[0].shape[:2]
    cell, grid = plane.texture.pages.cell, plane.texture.pages.finest.shape
    y, x = (np.minimum(np.arange(n + 1) * cell / size, 1) for n, size in zip(grid, (rows, columns), strict=True))
    corner = plane.points(x[None, :], y[:, None])
    return np.stack([corner[:-1, :-1], corner[:-1, 1:], corner[1:, 1:], corner[1:, :-1]], axis=2)


def visible_cells(plane: TexturedPlane, occlusion: Occlusion) -> np.ndarray:
    """Which cells of a plane may be in view and not hidden by what was drawn, bool [GY, GX]; conservative."""
    corners = cell_corners(plane)
    boxes = np.stack([corners.min(axis=2), corners.max(axis=2)], axis=2)
    return occlusion.visible_boxes(boxes.reshape(-1, 2, 3)).reshape(corners.shape[:2])


@dataclass(frozen=True, eq=False)
class BoundsFeedback:
    """Feedback from the area of each finest page on the screen, and the texel density at the middle of that area.

    Its time depends on the pages in view, not on the pixels. The planes do not hide each other; pass a depth buffer
    that holds them.

    Parameters
    ----------
    scene : the planes; their textures' pages are those of ``scene.textures.hierarchy``.
    occlusion : a depth buffer: pages behind it want nothing.

    Examples
    --------
    >>> import numpy as np
    >>> from hra import Camera
    >>> from hra.domains.textures import BoundsFeedback, PlaneScene
    >>> scene = PlaneScene.ground(np.zeros((256, 256, 3), np.uint8), width=10.0)
    >>> camera = Camera.perspective(eye=(0, 4, 6), target=(0, 0, 0), viewport=(64, 48))
    >>> BoundsFeedback(scene).observe(camera).page
    array([1, 2, 3, 4], dtype=int32)
    """

    scene: PlaneScene
    occlusion: Occlusion | None = None

    def __post_init__(self) -> None:
        _check(self.scene, self.occlusion)

    def observe(self, camera: Camera) -> Feedback:
        """The feedback of the view of ``camera``; HraError : no camera."""
        check_kind("camera", camera, Camera, "make one by hra.Camera.perspective or orbit")
        parts = [self._samples(camera, index) for index in range(len(self.scene.planes))]
        page, footprint, pixels, position = (np.concatenate(part) for part in zip(*parts, strict=True))
        width, height = camera.viewport
        return Feedback(page, footprint, pixels, width * height, position)

    def _samples(self, camera: Camera, index: int) -> tuple[np.ndarray, ...]:
        """Page, footprint, pixels and position of the cells of one plane that are in view."""
        plane, screen = self.scene.planes[index], screen_to_plane(self.scene.planes[index], camera)
        if screen is None:
            return _NOTHING
        pixels, position = _outlines(plane, camera)
        if self.occlusion is not None:
            pixels *= visible_cells(plane, self.occlusion).ravel()
        seen = pixels > 0
        page = self.scene.textures.finest_pages[self.scene.texture_of[index]].ravel()[seen]
        position = position[seen]
        return page, _footprints(position, screen[0], *camera.viewport), pixels[seen], position.astype(np.float32)


def _outlines(plane: TexturedPlane, camera: Camera) -> tuple[np.ndarray, np.ndarray]:
    """Area of each cell [K] within the viewport in pixels, float32, and the middle of that area, float64 [K, 2]."""
    corners = cell_corners(plane).reshape(-1, 4, 3)
    width, height = camera.viewport
    to_pixels = np.array([[width / 2, 0, 0, width / 2], [0, -height / 2, 0, height / 2], [0, 0, 0, 1]])
    area, middle = np.zeros(len(corners), np.float32), np.zeros((len(corners), 2))
    _measure(corners, camera.planes, to_pixels @ camera.projection @ camera.view, area, middle)
    return area, middle


@njit(cache=True)
def _measure(corners, planes, to_pixels, area, middle):
    """Clip every quadrangle to the frustum, then enter the area and the centroid of what is left on the screen."""
    polygon, clipped = np.empty((4 + len(planes), 3)), np.empty((4 + len(planes), 3))
    for k in range(len(corners)):
        count = 4
        for i in range(4):  # assigned slices would take seconds to compile
            for axis in range(3):
                polygon[i, axis] = corners[k, i, axis]
        for plane in planes:
            count = _clip(polygon, count, plane, clipped)
            polygon, clipped = clipped, polygon
        twice, sum_x, sum_y, origin_x, origin_y, before_x, before_y = 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0
        for i in range(count):
            w = _affine(to_pixels[2], polygon[i])
            x, y = _affine(to_pixels[0], polygon[i]) / w, _affine(to_pixels[1], polygon[i]) / w
            if i == 0:
                origin_x, origin_y = x, y
            # Relative to the first corner, so that small areas far from the origin keep their digits.
            x, y = x - origin_x, y - origin_y
            cross = before_x * y - x * before_y
            twice, sum_x, sum_y = twice + cross, sum_x + cross * (before_x + x), sum_y + cross * (before_y + y)
            before_x, before_y = x, y
        area[k] = abs(twice) / 2
        if area[k] > 0:
            middle[k, 0], middle[k, 1] = origin_x + sum_x / (3 * twice), origin_y + sum_y / (3 * twice)


@njit(cache=True)
def _affine(row, point):
    """A row [4] of a matrix times a point [3]."""
    return row[0] * point[0] + row[1] * point[1] + row[2] * point[2] + row[3]


@njit(cache=True)
def _clip(polygon, count, plane, clipped):
    """Write the part of a convex polygon with ``count`` corners on the inner side of a plane; the number of corners."""
    kept = 0
    for i in range(count):
        corner, following = polygon[i], polygon[(i + 1) % count]
        here, there = _affine(plane, corner), _affine(plane, following)
        if here >= 0:
            clipped[kept] = corner
            kept += 1
        if (here >= 0) != (there >= 0):
            clipped[kept] = corner + here / (here - there) * (following - corner)
            kept += 1
    return kept


@njit(cache=True)
def _footprints(position, inverse, width, height):
    """Texels of level 0 across one pixel at positions [K, 2], float32 [K]."""
    footprints = np.empty(len(position), np.float32)
    for k in range(len(position)):
        ndc = np.array([2 * position[k, 0] / width - 1, 1 - 2 * position[k, 1] / height, 1.0])
        s, t, q = inverse @ ndc
        footprints[k] = footprint_at(inverse, s / q, t / q, q, 2 / width, 2 / height)
    return footprints

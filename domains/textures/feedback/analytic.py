"""Feedback by ray casting: what a feedback buffer would hold, without a GPU."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from hra.camera import Camera
from hra.camera.occlusion import Occlusion
from hra.domains.textures.feedback.feedback import Feedback
from hra.domains.textures.feedback.page_bounds import visible_cells
from hra.domains.textures.views.raycast import Hits, cast_rays
from hra.domains.textures.views.scene import PlaneScene
from hra.model.short_repr import ShortRepr


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

"""Bounding volumes of tiles: oriented boxes that may be thickened to spheres."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from hra.camera import Camera


@dataclass(frozen=True, eq=False)
class Volumes:
    """N volumes in the frame of the tileset.

    Attributes
    ----------
    center : float64 [N, 3]; axes : float64 [N, 3, 3], half of each edge of the box, one per row.
    radius : float64 [N], how far the volume reaches beyond the box: 0 for boxes, spheres have no axes.
    """

    center: np.ndarray
    axes: np.ndarray
    radius: np.ndarray

    def distances(self, eye: np.ndarray) -> np.ndarray:
        """How far each volume is from the point ``eye`` [3], float64 [N]; 0 within."""
        offset = eye - self.center
        length = np.linalg.norm(self.axes, axis=2)
        unit = self.axes / np.where(length > 0, length, 1.0)[..., None]
        along = np.einsum("nij,nj->ni", unit, offset)
        beyond = along - np.clip(along, -length, length)
        # What the axes do not span, as of a sphere without any, is outside as it is.
        rest = offset - np.einsum("ni,nij->nj", along, unit)
        return np.maximum(np.sqrt((beyond**2).sum(axis=1) + (rest**2).sum(axis=1)) - self.radius, 0.0)

    def in_view(self, camera: Camera) -> np.ndarray:
        """Which volumes are not beyond one side of the view, bool [N]."""
        planes = view_planes(camera)
        normal, offset = planes[:, :3], planes[:, 3]
        reach = np.abs(np.einsum("nij,pj->npi", self.axes, normal)).sum(axis=2)
        reach += self.radius[:, None] * np.linalg.norm(normal, axis=1)
        return (self.center @ normal.T + offset + reach >= 0).all(axis=1)


def view_planes(camera: Camera) -> np.ndarray:
    """The sides of the view and the plane through the eye, float64 [5, 4]: inside, all products are >= 0."""
    matrix = np.asarray(camera.projection, np.float64) @ np.asarray(camera.view, np.float64)
    return np.stack(
        [matrix[3] + matrix[0], matrix[3] - matrix[0], matrix[3] + matrix[1], matrix[3] - matrix[1], matrix[3]]
    )

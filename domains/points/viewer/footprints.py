"""Where points and splats fall on the screen, and how much they cover of each pixel: as the renderer has it."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import njit

from hra.camera import Camera
from hra.domains.points.point_cloud import PointCloud
from hra.domains.points.splat_cloud import SplatCloud
from hra.domains.points.viewer.discs import disc_radii
from hra.domains.points.viewer.gaussians import LEAST, REACH, projected_covariances

# Where even an opaque Gaussian covers less than the least.
_FARTHEST = -2 * float(np.log(LEAST))


class Footprints(NamedTuple):
    """Of every point or splat.

    Attributes
    ----------
    center : float32 or float64 [N, 2], pixels. conic : float64 [N, 3], the inverse of the covariance, xx, xy, yy; of a
        disc that of its edge. opacity : float64 [N]. depth : float64 [N], grows with the distance.
    box : int32 [N, 4], rows from and to, columns from and to (not included); empty if it is not drawn.
    """

    center: np.ndarray
    conic: np.ndarray
    opacity: np.ndarray
    depth: np.ndarray
    box: np.ndarray


def footprints(cloud: PointCloud | SplatCloud, camera: Camera) -> Footprints:
    """Where every point or splat of a cloud with sizes falls."""
    seen = camera.project(cloud.positions)
    eye = cloud.positions.astype(np.float64) @ camera.view[:3, :3].T + camera.view[:3, 3]
    if isinstance(cloud, PointCloud):
        radius = disc_radii(cloud, camera, eye)
        wide, drawn, opacity = np.repeat(radius[:, None], 2, axis=1), seen.in_front & np.isfinite(radius), 1.0
        with np.errstate(divide="ignore"):
            conic = np.repeat(1 / radius[:, None] ** 2, 3, axis=1) * [1, 0, 1]
    else:
        xx, xy, yy = projected_covariances(cloud, camera, eye).T
        wide, drawn, opacity = REACH * np.sqrt(np.stack([xx, yy], axis=1)), seen.in_front, cloud.opacities
        conic = np.stack([yy, -xy, xx], axis=1) / (xx * yy - xy * xy)[:, None]
    box = _boxes(seen.pixels, wide, drawn, camera.viewport)
    return Footprints(seen.pixels, conic, np.broadcast_to(opacity, len(cloud)).astype(float), -eye[:, 2], box)


def _boxes(center: np.ndarray, wide: np.ndarray, drawn: np.ndarray, viewport: tuple[int, int]) -> np.ndarray:
    """Pixels from and to, rows first."""
    end = np.array(viewport)
    low = np.clip(np.floor(center - wide), 0, end)
    high = np.clip(np.floor(center + wide) + 1, 0, end)
    box = np.stack([low[:, 1], high[:, 1], low[:, 0], high[:, 0]], axis=1).astype(np.int32)
    box[~drawn] = 0
    return box


@njit(cache=True, nogil=True)
def alpha_at(x, y, conic, opacity, hard, row, column):
    """The share of a pixel that a footprint around (x, y) covers: all or nothing of a ``hard`` one, a disc."""
    u, v = column + 0.5 - x, row + 0.5 - y
    far = conic[0] * u * u + 2 * conic[1] * u * v + conic[2] * v * v
    if hard:
        own = column == int(np.floor(x)) and row == int(np.floor(y))
        return 1.0 if own or far <= 1.0 else 0.0
    if far > _FARTHEST:
        return 0.0
    alpha = opacity * np.exp(-far / 2)
    return min(alpha, 0.99) if alpha >= LEAST else 0.0

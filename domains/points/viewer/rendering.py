"""Pictures of points and splats, drawn on the processor."""

from __future__ import annotations

import numpy as np

from hra.camera import Camera
from hra.domains.points.point_cloud import PointCloud
from hra.domains.points.splat_cloud import SplatCloud
from hra.domains.points.viewer.discs import draw_discs
from hra.domains.points.viewer.gaussians import draw_gaussians
from hra.errors import HraError


def render(cloud: PointCloud | SplatCloud, camera: Camera, background: float = 1.0) -> tuple[np.ndarray, np.ndarray]:
    """The picture of a cloud: discs by a depth buffer, or Gaussians blended front to back in float32.

    Parameters
    ----------
    cloud : points need radii, which those of a cut have. background : grey, 0 .. 1.

    Returns
    -------
    float32 [H, W, 3], the picture. float32 [H, W], the depth buffer in 0 .. 1 as `hra.camera.Occlusion` takes it; of
    splats where the picture becomes opaque.

    Raises
    ------
    HraError : no cloud, or points without radii.

    Examples
    --------
    >>> import hra
    >>> from hra.domains import points
    >>> camera = hra.Camera.orbit([[-1, -1, -1], [1, 1, 1]], viewport=(32, 32))
    >>> picture, depth = points.render(points.PointCloud([[0, 0, 0]], [[1, 0, 0]], [0.5]), camera)
    >>> picture[16, 16].tolist(), picture[0, 0].tolist(), bool(depth[16, 16] < depth[0, 0])
    ([1.0, 0.0, 0.0], [1.0, 1.0, 1.0], True)
    """
    if not isinstance(cloud, PointCloud | SplatCloud) or getattr(cloud, "radii", True) is None:
        fix = "pass the cloud of a cut: PointAllocator.realize(allocation), or CloudTree.take(nodes)"
        raise HraError("there is no cloud with sizes to draw", where="render", fix=fix)
    width, height = camera.viewport
    picture = np.full((height, width, 3), background, np.float32)
    eye = (_homogeneous(cloud.positions) @ camera.view.T)[:, :3]
    clip = _homogeneous(eye) @ camera.projection[2:].T
    with np.errstate(divide="ignore", invalid="ignore"):
        depth = clip[:, 0] / clip[:, 1]
    depth = depth if camera.reversed_depth else (depth + 1) / 2
    if isinstance(cloud, PointCloud):
        return picture, draw_discs(cloud, camera, eye, depth, picture)
    return picture, draw_gaussians(cloud, camera, eye, depth, picture)


def _homogeneous(positions: np.ndarray) -> np.ndarray:
    return np.concatenate([positions.astype(np.float64), np.ones((len(positions), 1))], axis=1)

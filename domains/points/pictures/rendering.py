"""Pictures of points and splats, drawn on the processor: discs by a depth buffer, Gaussians blended front to back.

Source of Gaussians: B. Kerbl and others, 3D Gaussian Splatting for Real-Time Radiance Field Rendering (2023), after M.
Zwicker and others, EWA Volume Splatting (2001).
"""

from __future__ import annotations

import numpy as np

from hra.camera import Camera
from hra.compiling import njit
from hra.domains.points.cloud.clouds import PointCloud, SplatCloud
from hra.errors import HraError

# Variance in pixels that every splat is blurred by, and what is left out: as the reference implementation has it.
_BLUR, LEAST, OPAQUE, REACH = 0.3, 1 / 255, 1e-4, 3.0


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


def draw_discs(
    cloud: PointCloud, camera: Camera, eye: np.ndarray, depths: np.ndarray, picture: np.ndarray
) -> np.ndarray:
    """Draw every point as a disc that faces the viewer; the depth buffer of what is nearest."""
    seen = camera.project(cloud.positions)
    radius = disc_radii(cloud, camera, eye)
    order = np.flatnonzero(seen.in_front & np.isfinite(radius))
    depth = np.full(picture.shape[:2], 0.0 if camera.reversed_depth else 1.0)
    sign = -1.0 if camera.reversed_depth else 1.0
    _fill(seen.pixels[order], depths[order], radius[order], cloud.colors[order], sign, picture, depth)
    return depth.astype(np.float32)


def disc_radii(cloud: PointCloud, camera: Camera, eye: np.ndarray) -> np.ndarray:
    """Radius of every disc in pixels [P]; ``eye``: positions in eye space."""
    clip = eye @ camera.projection[[3], :3].T + camera.projection[3, 3]
    return cloud.radii * camera.focal_pixels / np.maximum(clip[:, 0], 1e-30)


@njit(cache=True, nogil=True)
def _fill(centers, depths, radii, colors, sign, picture, depth):
    """The pixels whose centres a disc covers, and the one that its own centre lies in."""
    height, width = depth.shape
    for i in range(radii.size):
        x, y, r = centers[i, 0], centers[i, 1], radii[i]
        if x + r < 0 or y + r < 0 or x - r > width or y - r > height:
            continue
        for row in range(max(int(np.floor(y - r)), 0), min(int(np.floor(y + r)), height - 1) + 1):
            for column in range(max(int(np.floor(x - r)), 0), min(int(np.floor(x + r)), width - 1) + 1):
                inside = (column + 0.5 - x) ** 2 + (row + 0.5 - y) ** 2 <= r * r
                own = column == int(np.floor(x)) and row == int(np.floor(y))
                if (inside or own) and sign * depths[i] < sign * depth[row, column]:
                    depth[row, column] = depths[i]
                    picture[row, column] = colors[i]


def draw_gaussians(
    cloud: SplatCloud, camera: Camera, eye: np.ndarray, depths: np.ndarray, picture: np.ndarray
) -> np.ndarray:
    """Blend all splats over the picture; the depth at which half of the light is taken, the farthest elsewhere."""
    seen = camera.project(cloud.positions)
    order = np.flatnonzero(seen.in_front)
    order = order[np.argsort(-eye[order, 2], kind="stable")]
    flat = projected_covariances(cloud, camera, eye)
    depth = np.full(picture.shape[:2], 0.0 if camera.reversed_depth else 1.0, np.float32)
    light = np.ones(picture.shape[:2], np.float32)
    drawn = np.zeros_like(picture)
    colors = cloud.seen_from(camera.position)
    parts = [part[order].astype(np.float32) for part in (seen.pixels, depths, colors, cloud.opacities)]
    _blend(flat[order], *parts, drawn, light, depth)  # pyright: ignore[reportCallIssue]: four parts
    picture *= light[..., None]
    picture += drawn
    np.minimum(picture, 1, out=picture)  # sums of many shares round up
    return depth


def projected_covariances(cloud: SplatCloud, camera: Camera, eye: np.ndarray) -> np.ndarray:
    """Covariances in pixels [P, 3], xx, xy, yy: those of the projection's slope at each centre."""
    full = cloud.covariances[:, [0, 1, 2, 1, 3, 4, 2, 4, 5]].reshape(-1, 3, 3).astype(np.float64)
    w = eye @ camera.projection[3, :3] + camera.projection[3, 3]
    w = np.where(np.abs(w) > 1e-12, w, 1e-12)
    clip = eye @ camera.projection[:2, :3].T + camera.projection[:2, 3]
    half = np.array(camera.viewport) / 2 * [1, -1]
    slope = camera.projection[:2, :3] / w[:, None, None]
    slope = slope - clip[:, :, None] * camera.projection[3, :3] / (w**2)[:, None, None]
    slope = half[:, None] * slope @ camera.view[:3, :3]
    flat = slope @ full @ slope.transpose(0, 2, 1)
    xx, xy, yy = (flat[:, [0, 0, 1], [0, 1, 1]] + [_BLUR, 0, _BLUR]).T
    # Blurring leaves at least this determinant, below which float32 rounds covariances of what is long and thin.
    least = _BLUR * (xx + yy - _BLUR)
    return np.stack([xx, xy, np.maximum(yy, (least + xy * xy) / xx)], axis=1)


@njit(cache=True, nogil=True)
def _blend(flat, centers, depths, colors, opacities, drawn, light, depth):
    """``flat``: float64, because float32 loses a thousand pixels by one beside each other."""
    height, width = light.shape
    for i in range(opacities.size):
        xx, xy, yy = flat[i]
        x, y, det = centers[i, 0], centers[i, 1], xx * yy - xy * xy
        if not 0.0 < det < np.inf:
            continue
        wide, high = np.float32(REACH * np.sqrt(xx)), np.float32(REACH * np.sqrt(yy))
        # A sum of squares: of the inverse's products, float32 loses what is left of large ones.
        short, lean, narrow = np.float32(1 / np.sqrt(xx)), np.float32(xy / xx), np.float32(np.sqrt(xx / det))
        if x + wide < 0 or y + high < 0 or x - wide > width or y - high > height:
            continue
        for row in range(max(int(np.floor(y - high)), 0), min(int(np.floor(y + high)), height - 1) + 1):
            for column in range(max(int(np.floor(x - wide)), 0), min(int(np.floor(x + wide)), width - 1) + 1):
                if light[row, column] < OPAQUE:
                    continue
                u, v = np.float32(column + 0.5) - x, np.float32(row + 0.5) - y
                along, beside = short * u, narrow * (v - lean * u)
                alpha = opacities[i] * np.exp(np.float32(-0.5) * (along * along + beside * beside))
                if alpha < LEAST:
                    continue
                share = np.float32(min(alpha, 0.99)) * light[row, column]
                for channel in range(3):
                    drawn[row, column, channel] += share * colors[i, channel]
                if light[row, column] > 0.5 and light[row, column] - share <= 0.5:
                    depth[row, column] = depths[i]
                light[row, column] -= share

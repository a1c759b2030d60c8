"""The 4x4 matrices of a camera: built from parameters, and taken apart again.

Conventions are those of OpenGL: column vectors, right-handed world, the eye looks along -Z, clip space [-w, w] in x and
y. Depth is [-w, w] from near to far, or with reversed depth [0, w] from far to near (Lapidous and Jiao 1999), whose
float precision suits an infinite far plane.
"""

from __future__ import annotations

import math

import numpy as np

from hra.errors import CameraError


def look_at(eye: np.ndarray, target: np.ndarray, up: np.ndarray) -> np.ndarray:
    """The rigid view matrix [4, 4] float64 of an eye [3] that looks at a target [3] with ``up`` [3] upwards.

    Raises CameraError if eye and target coincide, or ``up`` is zero or parallel to the view direction.
    """
    distance = math.hypot(*(target - eye))
    if distance == 0:
        raise CameraError("the camera has no direction: eye and target are equal", where=f"eye {eye}", fix="move one")
    backward = (eye - target) / distance
    right = np.cross(up, backward)
    length = math.hypot(*right)
    if length <= 1e-9 * math.hypot(*up):
        raise CameraError(
            "up is zero or parallel to the view direction", where=f"up {up}", fix="choose another up vector"
        )
    right /= length
    view = np.eye(4)
    view[:3, :3] = right, np.cross(backward, right), backward
    view[:3, 3] = -view[:3, :3] @ eye
    return view


def perspective_matrix(
    vertical_fov_degrees: float, aspect: float, near: float, far: float, reversed_depth: bool
) -> np.ndarray:
    """The perspective projection [4, 4] float64; ``far`` may be infinite; the caller checks the parameters."""
    focal = 1 / math.tan(math.radians(vertical_fov_degrees) / 2)
    projection = np.zeros((4, 4))
    projection[0, 0] = focal / aspect
    projection[1, 1] = focal
    projection[3, 2] = -1
    ratio = near / far  # 0 for an infinite far plane, which needs no special case in this form
    if reversed_depth:
        projection[2, 2:] = ratio / (1 - ratio), near / (1 - ratio)
    else:
        projection[2, 2:] = -(1 + ratio) / (1 - ratio), -2 * near / (1 - ratio)
    return projection


def orthographic_matrix(height: float, aspect: float, near: float, far: float, reversed_depth: bool) -> np.ndarray:
    """The orthographic projection [4, 4] float64 of a box ``height`` units high; the caller checks the parameters."""
    projection = np.diag([2 / (height * aspect), 2 / height, 0, 1])
    depth = far - near
    projection[2, 2:] = (1 / depth, far / depth) if reversed_depth else (-2 / depth, -(far + near) / depth)
    return projection


def depth_slope(projection: np.ndarray) -> float:
    """Sign of the change of depth along +Z: negative for standard depth, positive for reversed depth, 0 if singular."""
    (a, b), (c, d) = projection[2:, 2:]
    return float(a * d - b * c)


def unproject(projection: np.ndarray, points: np.ndarray) -> np.ndarray:
    """Points [N, 3] of the clip cube as eye-space points [N, 3]."""
    eye = np.linalg.solve(projection, np.column_stack([points, np.ones(len(points))]).T).T
    return eye[:, :3] / eye[:, 3:]


def near_corners(projection: np.ndarray) -> np.ndarray:
    """The four corners [4, 3] of the near plane in eye space."""
    depth = 1.0 if depth_slope(projection) > 0 else -1.0
    return unproject(projection, np.array([[x, y, depth] for x in (-1, 1) for y in (-1, 1)]))


def frustum_planes(clip: np.ndarray, reversed_depth: bool) -> np.ndarray:
    """The planes [5 or 6, 4] of a world-to-clip matrix, unit normals pointing inwards (Gribb and Hartmann 2001).

    A far plane more than about 1e9 times farther away than the near plane counts as infinite and is left out: float64
    does not place it reliably, and leaving it out is conservative.
    """
    x, y, z, w = clip
    near, far = (w - z, z) if reversed_depth else (w + z, w - z)
    # A point is inside where -w <= x <= w and so on: each side of the inequalities is a row of the matrix.
    planes = np.stack([w + x, w - x, w + y, w - y, near, far])
    lengths = np.linalg.norm(planes[:, :3], axis=1)
    count = 6 if lengths[5] > 1e-9 * lengths[4] else 5
    return planes[:count] / lengths[:count, None]

"""The parameters and 4x4 matrices of a camera: checked, built from parameters, and taken apart again.

Each check returns the value in the form that the camera keeps.

Conventions are those of OpenGL: column vectors, right-handed world, the eye looks along -Z, clip space [-w, w] in x and
y. Depth is [-w, w] from near to far, or with reversed depth [0, w] from far to near (Lapidous and Jiao 1999), whose
float precision suits an infinite far plane.
"""

from __future__ import annotations

import math
import operator
from typing import Any

import numpy as np

from hra.errors import ArrayError, CameraError
from hra.files.limits import VIEWPORT_PIXELS, VIEWPORT_SIDE
from hra.model.arrays import to_numpy

# Squares of larger numbers overflow.
_LARGEST = 1e150


def numeric(name: str, values: Any, shape: tuple[int, ...]) -> np.ndarray:
    """A finite float64 copy of ``values`` of this ``shape``.

    Raises
    ------
    CameraError : another shape, not numeric, not finite, or so large that squares overflow; names the first bad one.
    """
    parts = values if type(values) in (tuple, list) else (values,)
    if all(type(part) in (float, int, np.ndarray) for part in parts):  # most are, and say all by themselves
        array = np.asarray(values)
    else:
        try:
            array = to_numpy(values)
        except ArrayError as error:
            raise CameraError(error.what, where=name) from error
    if array.shape != shape or array.dtype.kind not in "iuf":
        raise CameraError(
            f"{name} must be numbers of shape {shape}, got shape {array.shape} of {array.dtype}", where=name
        )
    bad = np.argwhere(~np.isfinite(array))
    if len(bad):
        index = tuple(bad[0].tolist())
        raise CameraError(f"{name} is {array[index]}", where=f"{name}{list(index)}", fix="pass finite numbers")
    result = array.astype(np.float64)
    if (np.abs(result) > _LARGEST).any():
        fix = f"use numbers below {_LARGEST:g}, or another unit of length"
        raise CameraError(f"{name} is too large: {np.abs(result).max():g}", where=name, fix=fix)
    return result


def number(name: str, value: Any) -> float:
    """A finite float, else CameraError."""
    return float(numeric(name, value, ()))


def positive(name: str, value: Any) -> float:
    """A finite float above 0, else CameraError."""
    checked = number(name, value)
    if checked <= 0:
        raise CameraError(f"{name} is {checked:g}", where=name, fix="use a number above 0")
    return checked


def radians(name: str, degrees: Any) -> float:
    """A finite angle in radians, else CameraError."""
    return math.radians(number(name, degrees))


def field_of_view(degrees: Any) -> float:
    """A field of view between 0 and 180 degrees, both excluded, else CameraError."""
    checked = number("vertical_fov_degrees", degrees)
    if not 0 < checked < 180:
        raise CameraError(
            f"the field of view is {checked:g} degrees", where="vertical_fov_degrees", fix="use 0 < angle < 180"
        )
    return checked


def far_distance(near: float, far: Any) -> float:
    """A far distance beyond the near one, possibly infinite, else CameraError."""
    checked = math.inf if far == math.inf else number("far", far)
    if checked <= near:
        raise CameraError(f"far is {checked:g}, not beyond near {near:g}", where="far", fix="use far > near")
    return checked


def viewport_size(viewport: Any) -> tuple[int, int]:
    """A viewport as (width, height) in whole pixels above 0, else CameraError."""
    fix = "pass (width, height) as integers above 0"
    try:
        width, height = (operator.index(side) for side in viewport)
    except (TypeError, ValueError) as error:
        raise CameraError(f"the viewport is {viewport!r}", where="viewport", fix=fix) from error
    if width <= 0 or height <= 0:
        raise CameraError(f"the viewport is {width} x {height} pixels", where="viewport", fix=fix)
    if max(width, height) > VIEWPORT_SIDE or width * height > VIEWPORT_PIXELS:
        shown = " x ".join(str(side) if side < 10**9 else "over 10**9" for side in (width, height))
        fix = f"use at most {VIEWPORT_SIDE:,} along a side and {VIEWPORT_PIXELS:,} pixels"
        raise CameraError(f"the viewport is {shown} pixels", where="viewport", fix=fix)
    return width, height


def bounding_box(bounds: Any) -> np.ndarray:
    """Least and largest corner [2, 3] of a box, else CameraError."""
    box = numeric("bounds", bounds, (2, 3))
    if (box[0] > box[1]).any():
        raise CameraError("the bounds are reversed", where="bounds", fix="pass [least corner, largest corner]")
    return box


def direction(name: str, vector: Any) -> np.ndarray:
    """A unit vector [3] along ``vector``."""
    checked = numeric(name, vector, (3,))
    length = float(np.linalg.norm(checked))
    if length == 0:
        raise CameraError(f"{name} is the zero vector", where=name, fix="pass a direction such as (0, 0, 1)")
    return checked / length


def view_matrix(view: Any, name: str = "view") -> np.ndarray:
    """An affine, invertible matrix [4, 4], else CameraError."""
    matrix = numeric(name, view, (4, 4))
    if np.abs(matrix[3] - (0, 0, 0, 1)).max() > 1e-9:
        raise CameraError(f"the {name} matrix is not affine", where=f"{name}[3]", fix="its last row must be 0 0 0 1")
    stretch = np.linalg.svd(matrix[:3, :3], compute_uv=False)
    if stretch[2] <= 1e-12 * stretch[0]:
        raise CameraError(f"the {name} matrix is singular", where=name, fix="remove the zero scale")
    matrix.flags.writeable = False
    return matrix


def projection_matrix(projection: Any) -> np.ndarray:
    """An invertible perspective or orthographic projection [4, 4] along -Z, scaled so that w is -z or 1.

    Raises
    ------
    CameraError : not finite, singular, of another form, or with the near plane of a perspective behind the eye.
    """
    matrix = numeric("projection", projection, (4, 4))
    perspective = _is_perspective(matrix)
    matrix /= -matrix[3, 2] if perspective else matrix[3, 3]
    stretch = np.linalg.svd(matrix[:2, :2], compute_uv=False)
    if stretch[1] <= 1e-12 * stretch[0] or depth_slope(matrix) == 0:
        raise CameraError("the projection matrix is singular", where="projection", fix="check sizes, near and far")
    if perspective and (near_corners(matrix)[:, 2] >= 0).any():
        raise CameraError("the near plane lies behind the eye", where="projection", fix="use near > 0")
    matrix.flags.writeable = False
    return matrix


def _is_perspective(matrix: np.ndarray) -> bool:
    x, y, z, w = matrix[3]
    if x == y == z == 0 and w > 0:
        return False
    if x == y == w == 0 and z < 0 and not matrix[:2, 3].any():
        return True
    raise CameraError(
        "the projection matrix is neither a perspective along -Z nor orthographic",
        where="projection",
        fix="its last row must be 0 0 -1 0 or 0 0 0 1; put rotations and shifts into the view matrix",
    )


def orbit_axes(turn: float, tilt: float, pole: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Direction from the target to the eye and the view's up vector, [3] each; angles in radians."""
    # The quarter turn that takes +Y to +Z takes +Z to -Y: so "in front" is +Z where y is up and -Y where z is up.
    front = np.array([0.0, 0.0, 1.0]) if abs(pole[2]) < 0.999 else np.array([0.0, -1.0, 0.0])
    front -= (front @ pole) * pole
    front /= np.linalg.norm(front)
    around = math.cos(turn) * front + math.sin(turn) * np.cross(pole, front)
    return math.cos(tilt) * around + math.sin(tilt) * pole, math.cos(tilt) * pole - math.sin(tilt) * around


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


def frustum_planes(projection: np.ndarray, view: np.ndarray) -> np.ndarray:
    """The planes [5 or 6, 4] of a frustum in world space, unit normals pointing inwards (Gribb and Hartmann 2001).

    A far plane more than about 1e9 times farther away than the near plane counts as infinite and is left out: float64
    does not place it reliably, and leaving it out is conservative.
    """
    x, y, z, w = projection @ view
    near, far = (w - z, z) if depth_slope(projection) > 0 else (w + z, w - z)
    # A point is inside where -w <= x <= w and so on: each side of the inequalities is a row of the matrix.
    planes = np.stack([w + x, w - x, w + y, w - y, near, far])
    lengths = np.linalg.norm(planes[:, :3], axis=1)
    count = 6 if lengths[5] > 1e-9 * lengths[4] else 5
    return planes[:count] / lengths[:count, None]

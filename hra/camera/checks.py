"""Validation of what a camera is made from; each check returns the value in the form that the camera keeps."""

from __future__ import annotations

import math
import operator
from typing import Any

import numpy as np

from hra.camera.matrices import depth_slope, near_corners
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
    if type(values) in (float, int, np.ndarray):  # most are, and say all by themselves
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


def points(name: str, values: Any) -> np.ndarray:
    """Points [N, 3] as contiguous float64, else ArrayError; whether they are finite is not checked."""
    array = _array(values)
    if array.ndim != 2 or array.shape[1] != 3 or array.dtype.kind not in "iuf":
        raise ArrayError(f"{name} must be numbers of shape [N, 3], got {array.shape} of {array.dtype}", where=name)
    return np.ascontiguousarray(array, np.float64)


def spheres(centers: Any, radii: Any) -> tuple[np.ndarray, np.ndarray]:
    """Centres [N, 3] and radii [N] as contiguous floats, else ArrayError; whether they are finite is not checked.

    float32 stays as it is: a million spheres are copied as slowly as they are tested.
    """
    array = _array(centers)
    checked = (
        array if array.dtype == np.float32 and array.ndim == 2 and array.shape[1] == 3 else points("centers", array)
    )
    array = _array(radii)
    if array.shape != (len(checked),) or array.dtype.kind not in "iuf":
        raise ArrayError(f"radii must be {len(checked)} numbers, got {array.shape} of {array.dtype}", where="radii")
    return np.ascontiguousarray(checked), np.ascontiguousarray(array, checked.dtype)


def boxes(values: Any) -> np.ndarray:
    """Boxes [N, 2, 3] as contiguous floats, else ArrayError; float32 stays as it is, see `spheres`."""
    array = _array(values)
    if array.ndim != 3 or array.shape[1:] != (2, 3) or array.dtype.kind not in "iuf":
        what = f"boxes must be numbers of shape [N, 2, 3], got {array.shape} of {array.dtype}"
        raise ArrayError(what, where="boxes")
    return np.ascontiguousarray(array, array.dtype if array.dtype == np.float32 else np.float64)


def _array(values: Any) -> np.ndarray:
    return values if type(values) is np.ndarray else to_numpy(values)

"""Where bounding boxes and spheres appear: pixel rectangles and nearest depths, conservative."""

from __future__ import annotations

from typing import Any, NamedTuple

from hra.errors import ArrayError
from hra.kernels.backends import adopt, check_floats, give_back_all, implementation
from hra.kernels.culling.depth_view import QUANTUM, DepthView

PACKAGE = "hra.kernels.culling"


class ProjectedBounds(NamedTuple):
    """Where bounds appear.

    Attributes
    ----------
    rects : [K, 4] int32, pixels x0, y0, x1, y1, inclusive and within the image; (0, 0, -1, -1) outside of the frustum.
    depth : [K] float32, not farther than anything that a renderer draws within the bounds. On the far side of
        everything (inf, for reversed depth -inf) outside of the frustum; on the near side of everything for bounds that
        reach before the near plane or are not finite.
    """

    rects: Any
    depth: Any


def project_boxes(
    boxes: Any,
    view_projection: Any,
    size: tuple[int, int],
    *,
    reversed_depth: bool = False,
    slack: float = QUANTUM,
    backend: str = "auto",
) -> ProjectedBounds:
    """Pixel rectangle and nearest depth of axis-aligned boxes.

    Every pixel that a box touches is in its rectangle, not just those whose centre it covers: it holds for any place of
    the samples in a pixel. What a renderer rounds in float32 is allowed for, hence coordinates that are large beside
    the distance from the eye loosen the result.

    Parameters
    ----------
    boxes : [K, 2, 3] float32 or float64, two opposite corners in world space; NumPy, torch, Warp or any array with
        DLPack, on the host or (with Warp) on a CUDA device.
    view_projection : [4, 4] on the host, world to clip space for column vectors: x and y in [-w, w], y upwards; z in
        [0, w], the depth being z / w. `hra.camera.occlusion.Occlusion` takes a camera instead.
    size : (height, width) of the depth buffer in pixels, row 0 on top.
    reversed_depth : whether depth is 1 at the near plane instead of 0.
    slack : depth quantum by which bounds are moved towards the eye besides the rounding of float32. 2**-23 suits
        buffers of 24 bits and of float32. For reversed depth in float32, whose quantum shrinks with the depth, 0 is
        enough and culls more far away. Buffers of 16 bits need 2**-15.
    backend : "auto", "reference", "numba", "warp".

    Returns
    -------
    ProjectedBounds : of the same kind of array and on the same device as the boxes.

    Raises
    ------
    ArrayError : wrong shape, dtype or slack; a matrix that is not finite.
    BackendUnavailable : the backend is missing, cannot read the device, or is one of another package.
    """
    view = DepthView.of(view_projection, size, reversed_depth, slack)
    adopted = adopt_boxes(boxes)
    found = implementation(PACKAGE, backend, adopted).project_boxes(adopted, view)
    return ProjectedBounds(*give_back_all(found, boxes))


def project_spheres(
    spheres: Any,
    view_projection: Any,
    size: tuple[int, int],
    *,
    reversed_depth: bool = False,
    slack: float = QUANTUM,
    backend: str = "auto",
) -> ProjectedBounds:
    """Pixel rectangle and nearest depth of spheres [K, 4], x, y, z and radius >= 0; otherwise as `project_boxes`.

    Exact up to the allowance for rounding: a plane ``row - s * last row`` of the matrix touches the sphere where
    ``s`` is the extreme of its projection, a quadratic equation for each of x, y and z. It is what Mara and McGuire
    (2D Polyhedral Bounds of a Clipped, Perspective-Projected 3D Sphere, JCGT 2013) solve in eye space, written for any
    matrix.
    """
    view = DepthView.of(view_projection, size, reversed_depth, slack)
    adopted = adopt_spheres(spheres)
    found = implementation(PACKAGE, backend, adopted).project_spheres(adopted, view)
    return ProjectedBounds(*give_back_all(found, spheres))


def adopt_boxes(boxes: Any) -> Any:
    """Boxes as backends take them; raises :class:`ArrayError` unless they are float32 or float64 [K, 2, 3]."""
    return _adopt(boxes, "boxes", (2, 3))


def adopt_spheres(spheres: Any) -> Any:
    """Spheres as backends take them; raises :class:`ArrayError` unless they are float32 or float64 [K, 4]."""
    return _adopt(spheres, "spheres", (4,))


def _adopt(bounds: Any, name: str, form: tuple[int, ...]) -> Any:
    adopted = adopt(bounds, name)
    if tuple(adopted.shape[1:]) != form or adopted.ndim != 1 + len(form):
        expected = ", ".join(map(str, form))
        raise ArrayError(f"shape {tuple(adopted.shape)} is not [K, {expected}]", where=f"argument {name}")
    check_floats(adopted, name)
    return adopted

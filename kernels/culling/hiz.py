"""Hi-Z occlusion culling: what lies behind everything that a depth buffer holds where it would appear.

In two passes what was visible hides the rest, and nothing that appears is missed.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from hra.errors import ArrayError
from hra.kernels.backends import adopt, dtype_of, give_back, implementation
from hra.kernels.culling.depth_view import QUANTUM, DepthView
from hra.kernels.culling.projection import PACKAGE, adopt_boxes, adopt_spheres
from hra.kernels.pyramids.levels.pyramid import Pyramid, build_pyramid
from hra.kernels.pyramids.levels.rectangles import adopt_pyramid, check_batch, check_device


def depth_pyramid(depth: Any, *, reversed_depth: bool = False, backend: str = "auto") -> Pyramid:
    """The Hi-Z pyramid of a depth buffer: the farthest depth under each pixel of every level.

    Parameters
    ----------
    depth : [H, W] float32 in [0, 1], row 0 on top (OpenGL reads rows from the bottom: flip them); 1 is the far plane,
        for reversed depth 0. NumPy, torch, Warp or any array with DLPack, on the host or (with Warp) on a CUDA device.
    reversed_depth : whether depth is 1 at the near plane and 0 at the far plane.

    Returns
    -------
    Pyramid : of maxima, for reversed depth of minima, of the same kind of array.

    Raises
    ------
    ArrayError : no float32 [H, W]. BackendUnavailable : the backend is missing or cannot read the device.

    Notes
    -----
    Greene, Kass and Miller, Hierarchical Z-Buffer Visibility, SIGGRAPH 1993.
    """
    adopted = adopt(depth, "depth")
    if adopted.ndim != 2 or dtype_of(adopted) != np.float32:
        what = f"a depth buffer is float32 [H, W], not {dtype_of(adopted)} {tuple(adopted.shape)}"
        raise ArrayError(what, where="argument depth")
    return build_pyramid(depth.reshape((*depth.shape, 1)), "min" if reversed_depth else "max", backend=backend)


def visible_boxes(
    hiz: Pyramid, boxes: Any, view_projection: Any, *, slack: float = QUANTUM, backend: str = "auto"
) -> Any:
    """Which axis-aligned boxes may be visible in front of what a depth buffer holds.

    Conservative: what a renderer in float32 draws and what changes a pixel is kept. Boxes outside of the frustum are
    not visible; those that reach before the near plane or are not finite are.

    Parameters
    ----------
    hiz : from `depth_pyramid`; minima mean reversed depth.
    boxes, view_projection, slack : as for `project_boxes`. Boxes lie where the pyramid lies.

    Returns
    -------
    bool [K], of the same kind of array as the pyramid.

    Raises
    ------
    ArrayError : another pyramid, wrong shape, dtype or slack, a matrix that is not finite.
    BackendUnavailable : the backend is missing, cannot read the device, or is one of another package.

    Examples
    --------
    >>> import numpy as np
    >>> from hra.kernels import depth_pyramid, visible_boxes
    >>> depth = np.full((480, 640), 0.5, np.float32)  # a wall half-way
    >>> boxes = np.array([[[0, 0, 0.2], [0.1, 0.1, 0.3]], [[0, 0, 0.7], [0.1, 0.1, 0.8]]])
    >>> visible_boxes(depth_pyramid(depth), boxes, np.eye(4)).tolist()
    [True, False]
    """
    return _visible(hiz, "project_boxes", adopt_boxes(boxes), view_projection, slack, backend)


def visible_spheres(
    hiz: Pyramid, spheres: Any, view_projection: Any, *, slack: float = QUANTUM, backend: str = "auto"
) -> Any:
    """Which spheres [K, 4] (x, y, z, radius) may be visible; otherwise as `visible_boxes`."""
    return _visible(hiz, "project_spheres", adopt_spheres(spheres), view_projection, slack, backend)


def _visible(hiz: Pyramid, function: str, bounds: Any, view_projection: Any, slack: float, backend: str) -> Any:
    """``function`` is the name of the projection in the backends."""
    reversed_depth = isinstance(hiz, Pyramid) and hiz.reduce == "min"
    data = adopt_pyramid(hiz, "min" if reversed_depth else "max")
    if dtype_of(data) != np.float32:
        raise ArrayError("a depth pyramid is float32", where="argument hiz", fix="depth_pyramid(depth)")
    check_device(data, bounds, "bounds")
    check_batch(hiz, None)
    view = DepthView.of(view_projection, hiz.layout.sizes[0], reversed_depth, slack)
    chosen = implementation(PACKAGE, backend, bounds)
    return give_back(chosen.visible(getattr(chosen, function), bounds, view, data, hiz.layout), hiz.data)


class TwoPassFrame(NamedTuple):
    """One frame drawn in two passes.

    Attributes
    ----------
    first, second : bool [N], the objects drawn in each pass.
    visible : bool [N], what passed the test: the next frame's ``previous``.
    """

    first: Any
    second: Any
    visible: Any


def draw_in_two_passes(
    draw: Callable[[Any], Any], test: Callable[[Pyramid], Any], previous: Any, *, reversed_depth: bool = False
) -> TwoPassFrame:
    """Draw what was visible in the last frame, then what a Hi-Z of that does not hide.

    Every object is drawn in the first pass or tested against the depth of objects that are really in this frame, so
    that none is missed, whatever moved or appeared. One pyramid is built per frame.

    Parameters
    ----------
    draw : draws objects (bool [N]) on top of what it drew before in this frame and returns the depth buffer, as for
        `depth_pyramid`. Its first call may be for no objects at all and returns the cleared buffer then.
    test : which of all N objects may be visible before a Hi-Z pyramid, bool [N]: `visible_boxes` with their boxes and
        the frame's matrix, say.
    previous : bool [N], what was visible in the last frame; all False in the first frame and for new objects. NumPy,
        torch or any array with the operators ``&`` and ``~``.
    reversed_depth : as for `depth_pyramid`.

    Notes
    -----
    Haar and Aaltonen, GPU-Driven Rendering Pipelines, SIGGRAPH 2015 course Advances in Real-Time Rendering.
    """
    visible = test(depth_pyramid(draw(previous), reversed_depth=reversed_depth))
    second = visible & ~previous
    draw(second)
    return TwoPassFrame(previous, second, visible)

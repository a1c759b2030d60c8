"""Two-pass occlusion culling: what was visible hides the rest, and nothing that appears is missed."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from hra.kernels.culling.hiz import depth_pyramid
from hra.kernels.pyramids.levels.pyramid import Pyramid


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

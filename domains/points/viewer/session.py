"""Frames of a cloud as somebody turns it, and the window that shows them."""

from __future__ import annotations

from dataclasses import dataclass
from time import perf_counter
from typing import Any

import numpy as np

import hra
import hra.viewer
from hra.camera import Camera
from hra.domains.points.allocator import PointAllocator
from hra.domains.points.cloud.cloud_tree import CloudTree
from hra.domains.points.viewer.renderer import Renderer
from hra.kernels.raster import Context
from hra.viewer import InContext, Key, OrbitCamera, OrbitView, panel_over

_STEP = 1.25

KEYS: dict[str, Key] = {
    "up": ("larger budget", lambda session: session.set_budget(session.budget * _STEP)),
    "down": ("smaller budget", lambda session: session.set_budget(session.budget / _STEP)),
    "f": ("freeze the cut", lambda session: session.freeze(not session.frozen)),
    "h": ("home", lambda session: session.go_home()),
}
"""By its name, what a key is for and does."""


@dataclass(frozen=True)
class CloudFrame:
    """One frame of a cloud.

    Attributes
    ----------
    nodes : that were drawn; leaves : of full detail; kind : points or splats.
    cost, unit : what they take of the budget.
    gap : how far what the cut gains is from the most that any cut within the budget could, 0 to 1; None where the
        cut is frozen, or errors do not add up.
    frozen : whether the cut is that of an earlier frame; seconds : what choosing and drawing took.

    Examples
    --------
    >>> from hra.domains import points
    >>> points.CloudFrame(20, 100, "points", 380, "bytes", 0.0, False, 0.004).lines()
    ['250.0 fps, 4.0 ms a frame', '20 of 100 points, 380 bytes, gap 0 %']
    """

    nodes: int
    leaves: int
    kind: str
    cost: float
    unit: str
    gap: float | None
    frozen: bool
    seconds: float

    def lines(self) -> list[str]:
        """What a window tells of it."""
        gap = "" if self.gap is None else f", gap {100 * self.gap:.2g} %"
        spent = "" if self.unit == self.kind else f", {self.cost:,.0f} {self.unit}"
        frozen = ", cut frozen" if self.frozen else ""
        return [
            f"{1 / self.seconds:.1f} fps, {1e3 * self.seconds:.1f} ms a frame{frozen}",
            f"{self.nodes:,} of {self.leaves:,} {self.kind}{spent}{gap}",
        ]


class CloudSession(OrbitView, InContext):
    """Frames of a cloud without a window: the window passes on its events and shows the frames.

    Parameters
    ----------
    tree : what is drawn.
    camera : where the eye begins, and the size of the picture. up : the upward direction [3]; None takes its own.
    budget : of points, splats or bytes, whichever the tree counts.
    metric, traversal : how cuts are chosen, see `PointAllocator`.
    context : None makes one without a window; one of the caller's is not released.

    Raises
    ------
    CameraError : the camera is not a pinhole that looks straight ahead. InvalidBudget : a budget that is not a number.
    ArrayError : a tree too large for the driver.
    MissingExtra, BackendUnavailable : there is no OpenGL 4.5, see `hra.kernels.raster.Context`.

    Attributes
    ----------
    budget, range : what is spent at most, and the least and the most that it can be; frozen : whether the cut stays.

    Examples
    --------
    >>> import hra
    >>> from hra.domains import points
    >>> tree = points.build(points.load_points(hra.samples.path("skull.ply")))
    >>> camera = hra.Camera.orbit(tree.bounds, up=(0, 0, 1), viewport=(160, 120))
    >>> with points.CloudSession(tree, camera, budget=2_000) as session:
    ...     session.drag(40, 0)
    ...     frame, picture = session.frame(), session.picture()
    >>> frame.nodes <= 2_000, picture.shape
    (True, (120, 160, 3))
    """

    def __init__(
        self,
        tree: CloudTree,
        camera: Camera,
        *,
        up: Any = None,
        budget: float = np.inf,
        metric: Any = None,
        traversal: Any = None,
        context: Context | None = None,
    ) -> None:
        OrbitView.__init__(self, OrbitCamera.of(camera, tree.bounds, up), camera.viewport)
        self.frozen, held = False, tree.hierarchy
        self.range = float(held.base_cost), float(held.node_cost[tree.leaves].sum())
        self.budget = min(budget, self.range[1])
        self._tree, self._allocator = tree, PointAllocator(tree, metric, traversal)
        self._last: hra.Allocation | None = None
        InContext.__init__(self, context)
        self._renderer = None
        with self._opening():
            self.resize(camera.viewport)

    def set_budget(self, budget: float) -> None:
        """Spend so much at most, within the range."""
        self.budget = min(max(budget, self.range[0]), self.range[1])
        self._change()

    def freeze(self, frozen: bool) -> None:
        """Keep the cut of the last frame while the eye moves, or let it follow again."""
        self.frozen = frozen and self._last is not None
        self._change()

    def resize(self, viewport: tuple[int, int]) -> None:
        """Draw pictures of another size. CameraError : the driver has no such pictures."""
        self._free()
        self._renderer = Renderer(self._tree, viewport, reversed_depth=True, context=self._context)
        self.viewport = viewport
        self._change()

    def frame(self) -> CloudFrame:
        """Draw one frame; BackendUnavailable : the context was lost, or memory ran out."""
        begin, camera = perf_counter(), self.orbit.camera(self.viewport)
        if self._last is None or not self.frozen:
            self._last = self._allocator.allocate(camera, self.budget, previous=self._last)
        self._there.show(camera, self._last.cut)
        self._there.finish()
        self.settled = True
        return CloudFrame(
            nodes=len(self._last.cut),
            leaves=len(self._tree.leaves),
            kind=self._tree.kind.unit,
            cost=self._last.cost,
            unit=self._last.hierarchy.cost_unit,
            gap=None if self.frozen else self._last.proof["gap"],
            frozen=self.frozen,
            seconds=perf_counter() - begin,
        )

    def picture(self) -> np.ndarray:
        """The last frame, float32 [H, W, 3]."""
        return self._there.picture()

    def blit(self, framebuffer: int = 0) -> None:
        """Copy it to a framebuffer of the caller's context, such as 0, a window's."""
        self._there.blit(framebuffer)

    @property
    def _there(self) -> Renderer:
        if self._renderer is None:
            raise hra.HraError("the session is closed", where="CloudSession", fix="make a new one")
        return self._renderer

    def _free(self) -> None:
        if self._renderer is not None:
            self._renderer.close()
            self._renderer = None


class CloudWindow(hra.viewer.ViewWindow):
    """`hra.viewer.ViewWindow` for a `CloudSession`, with its panel and keys; parameters and errors are those of it.

    Examples
    --------
    >>> from hra.domains import points
    >>> with points.CloudWindow((960, 540), "skull") as window:  # doctest: +SKIP
    ...     with points.CloudSession(tree, camera, context=window.context) as session:
    ...         window.show(session)
    """

    def __init__(self, size: tuple[int, int], title: str) -> None:
        super().__init__(size, title, _panel, KEYS)


def _panel(imgui: Any) -> Any:
    flags = imgui.SliderFlags_.logarithmic | imgui.SliderFlags_.always_clamp

    def draw(session: CloudSession, frame: CloudFrame) -> None:
        with panel_over(imgui, frame.lines(), KEYS):
            moved, value = imgui.slider_float(frame.unit, session.budget, *session.range, "%.0f", flags)
            if moved:
                session.set_budget(value)
            changed, frozen = imgui.checkbox("frozen", session.frozen)
            if changed:
                session.freeze(frozen)

    return draw

"""A window on a mesh: its keys, and the controls that lie over the view."""

from __future__ import annotations

from typing import Any, get_args

import hra.viewer
from hra.domains.meshes.viewer.frame import ViewFrame
from hra.domains.meshes.viewer.frame_colors import FrameColoring
from hra.domains.meshes.viewer.session import ViewSession
from hra.viewer import Key, panel_over

_MEGABYTE = 1e6
_STEP = 1.25


class ViewWindow(hra.viewer.ViewWindow):
    """`hra.viewer.ViewWindow` for a `ViewSession`, with its panel and keys; parameters and errors are those of it.

    Examples
    --------
    >>> import hra
    >>> from hra.domains import meshes
    >>> asset = meshes.open_asset("skull.hra")  # doctest: +SKIP
    >>> camera = hra.Camera.orbit(asset.bounds, up=(0, 0, 1), viewport=(1280, 720))  # doctest: +SKIP
    >>> with meshes.ViewWindow(camera.viewport, "skull") as window:  # doctest: +SKIP
    ...     with meshes.ViewSession(asset, camera, context=window.context) as session:
    ...         window.show(session)
    """

    def __init__(self, size: tuple[int, int], title: str) -> None:
        super().__init__(size, title, lambda imgui: Panel(imgui).draw, KEYS)


class Panel:
    """Draws controls of a session with Dear ImGui, and passes on what they are set to.

    Parameters
    ----------
    imgui : the module, whose context and frame are there.
    """

    def __init__(self, imgui: Any) -> None:
        self._imgui = imgui
        flags = imgui.SliderFlags_
        self._slider = flags.logarithmic | flags.always_clamp
        # Where the pool's slider is while it moves: each size starts a new pool.
        self._pool: float | None = None

    def draw(self, session: ViewSession, frame: ViewFrame) -> None:
        """One frame of it."""
        with panel_over(self._imgui, frame.lines(), KEYS):
            self._draw_budget(session)
            self._draw_pool(session)
            self._draw_choices(session)

    def _draw_budget(self, session: ViewSession) -> None:
        imgui, budget = self._imgui, session.budget
        for kind in budget.ranges:
            if imgui.radio_button(kind, budget.kind == kind):
                session.set_budget(kind, budget.values[kind])  # pyright: ignore[reportArgumentType]
            imgui.same_line()
        least, largest = budget.ranges[budget.kind]
        digits = "%.0f" if budget.kind == "triangles" else "%.2f"
        moved, value = imgui.slider_float("budget", budget.value, least, largest, digits, self._slider)
        if moved:
            session.set_budget(budget.kind, max(value, least))

    def _draw_pool(self, session: ViewSession) -> None:
        imgui = self._imgui
        least, largest = session.pool_range
        shown = self._pool or (session.pool_bytes or largest) / _MEGABYTE
        _, shown = imgui.slider_float("pool, MB", shown, least / _MEGABYTE, largest / _MEGABYTE, "%.2f", self._slider)
        self._pool = shown if imgui.is_item_active() else None
        if imgui.is_item_deactivated_after_edit():
            session.set_pool(min(max(shown * _MEGABYTE, least), largest))

    def _draw_choices(self, session: ViewSession) -> None:
        imgui = self._imgui
        for number, coloring in enumerate(get_args(FrameColoring), 1):
            if imgui.radio_button(f"{number} {coloring}", session.coloring == coloring):
                session.color_by(coloring)
            imgui.same_line()
        changed, frozen = imgui.checkbox("frozen", session.frozen)
        if changed:
            session.freeze(frozen)


KEYS: dict[str, Key] = {
    **{
        str(number): (coloring, lambda session, coloring=coloring: session.color_by(coloring))
        for number, coloring in enumerate(get_args(FrameColoring), 1)
    },
    "up": ("larger budget", lambda session: session.scale_budget(_STEP)),
    "down": ("smaller budget", lambda session: session.scale_budget(1 / _STEP)),
    "right": ("larger pool", lambda session: session.scale_pool(_STEP)),
    "left": ("smaller pool", lambda session: session.scale_pool(1 / _STEP)),
    "m": ("triangles or pixels", lambda session: _other_budget(session)),
    "f": ("freeze culling", lambda session: session.freeze(not session.frozen)),
    "h": ("home", lambda session: session.go_home()),
}
"""By its name, what a key is for and does."""


def _other_budget(session: ViewSession) -> None:
    kind = "pixels" if session.budget.kind == "triangles" else "triangles"
    session.set_budget(kind, session.budget.values[kind])

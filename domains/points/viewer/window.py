"""A window on a cloud."""

from __future__ import annotations

from typing import Any

import hra.viewer
from hra.domains.points.viewer.session import CloudFrame, CloudSession
from hra.viewer import Key, panel_over

_STEP = 1.25

KEYS: dict[str, Key] = {
    "up": ("larger budget", lambda session: session.set_budget(session.budget * _STEP)),
    "down": ("smaller budget", lambda session: session.set_budget(session.budget / _STEP)),
    "f": ("freeze the cut", lambda session: session.freeze(not session.frozen)),
    "h": ("home", lambda session: session.go_home()),
}
"""By its name, what a key is for and does."""


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

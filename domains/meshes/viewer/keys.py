"""What keys do to a view."""

from __future__ import annotations

from typing import get_args

from hra.domains.meshes.viewer.frame_colors import FrameColoring
from hra.domains.meshes.viewer.session import ViewSession
from hra.viewer import Key

_STEP = 1.25

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


def press(session: ViewSession, key: str) -> bool:
    """Do what a key stands for; False if it stands for nothing."""
    if key not in KEYS:
        return False
    KEYS[key][1](session)
    return True


def _other_budget(session: ViewSession) -> None:
    kind = "pixels" if session.budget.kind == "triangles" else "triangles"
    session.set_budget(kind, session.budget.values[kind])

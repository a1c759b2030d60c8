"""The panel that lies over a view."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

from hra.viewer.window import Key

_SHORT = 4


@contextmanager
def panel_over(imgui: Any, told: Sequence[str], keys: Mapping[str, Key]) -> Iterator[None]:
    """Draw what is told and what mouse and keys do, with the block's controls in between.

    Parameters
    ----------
    imgui : the module, whose context and frame are there.
    told : lines; keys : those with names of one digit are left to the block.
    """
    imgui.set_next_window_pos((10, 10), imgui.Cond_.first_use_ever)
    imgui.set_next_window_bg_alpha(0.8)
    imgui.begin("hra", None, imgui.WindowFlags_.always_auto_resize | imgui.WindowFlags_.no_focus_on_appearing)
    for line in told:
        imgui.text(line)
    imgui.separator()
    yield
    imgui.separator()
    named = [f"{key}: {what}" for key, (what, _) in keys.items() if not key.isdigit()]
    for line in (
        "drag: turn, right drag: move, wheel: nearer",
        ", ".join(named[:_SHORT]),
        ", ".join([*named[_SHORT:], "escape: close"]),
    ):
        imgui.text_disabled(line)
    imgui.end()

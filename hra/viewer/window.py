"""A window on a view: passes on what mouse and keys do, and shows the session's frames under a panel."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from time import perf_counter
from typing import Any, Protocol, Self

import numpy as np

from hra.errors import needs
from hra.kernels.raster.context import Context
from hra.kernels.raster.window import Window

# How long to wait for events while nothing changes, seconds, and how many frames the panel takes to answer one.
_IDLE = 1.0
_FRAMES = 3
_NAMES = {"up": "up_arrow", "down": "down_arrow", "left": "left_arrow", "right": "right_arrow"}

Key = tuple[str, Callable[[Any], None]]
"""What a key is for, and what it does to a session."""
_SHORT = 4


class Session(Protocol):
    """What a window shows."""

    @property
    def viewport(self) -> tuple[int, int]:
        """(width, height) in pixels."""
        ...

    @property
    def settled(self) -> bool:
        """Whether the next frame would be the last one again."""
        ...

    def frame(self) -> Any:
        """Draw a frame, and say what it is."""
        ...

    def blit(self, framebuffer: int = 0) -> None:
        """Copy the last frame to a framebuffer of the viewport's size."""
        ...

    def drag(self, right: float, down: float) -> None:
        """Turn by a movement of the mouse, pixels."""
        ...

    def pan(self, right: float, down: float) -> None:
        """Move aside by one, pixels."""
        ...

    def scroll(self, notches: float) -> None:
        """Go nearer by a turn of the wheel."""
        ...

    def resize(self, viewport: tuple[int, int]) -> None:
        """Take another size."""
        ...


class ViewWindow:
    """A window that draws with OpenGL 4.5; one at a time.

    Parameters
    ----------
    size : (width, height) in pixels to begin with; title : what stands above it.
    panel : makes of the module ``imgui`` what draws the panel of a session and its last frame.
    keys : by name, a character or up, down, left and right.

    Raises
    ------
    MissingExtra : the extra ``window`` is not installed.
    BackendUnavailable : there is no display, or no driver with OpenGL 4.5.
    """

    def __init__(
        self,
        size: tuple[int, int],
        title: str,
        panel: Callable[[Any], Callable[[Any, Any], None]],
        keys: Mapping[str, Key],
    ) -> None:
        with needs("imgui-bundle", "window"):
            # Before GLFW: it is linked against one of its own, and says where that is when it is imported.
            from imgui_bundle import imgui
        self._imgui: Any = imgui
        self._window = Window(size, title)
        self._size = self._window.size
        imgui.create_context()
        imgui.get_io().set_ini_filename("")  # it would write where the panel was to the working folder
        imgui.backends.glfw_init_for_opengl(self._window.address, True)
        imgui.backends.opengl3_init("#version 450")
        self._panel, self._keys = panel(imgui), keys
        self._frame: Any = None

    @property
    def context(self) -> Context:
        """What a session has to draw with."""
        return self._window.context

    def show(self, session: Session) -> None:
        """Show frames until the window is closed; raises as its frames do."""
        busy = _FRAMES
        while not self._window.closed:
            idle, begin = session.settled and not busy, perf_counter()
            self._window.wait(_IDLE if idle else 0.0)
            something_came = idle and perf_counter() - begin < _IDLE
            busy = _FRAMES if something_came else max(busy - 1, 0)
            self.draw(session)
            self._window.swap()

    def draw(self, session: Session) -> None:
        """Draw a frame with its panel, if anything changed, and do what was asked for meanwhile."""
        imgui = self._imgui
        imgui.backends.opengl3_new_frame()
        imgui.backends.glfw_new_frame()
        imgui.new_frame()
        self._pass_on(session)
        self._follow_size(session)
        if self._frame is None or not session.settled:
            self._frame = session.frame()
        self._window.clear()
        session.blit()
        self._panel(session, self._frame)
        imgui.render()
        imgui.backends.opengl3_render_draw_data(imgui.get_draw_data())

    def read(self) -> np.ndarray:
        """What was drawn last, uint8 [H, W, 3]."""
        return self._window.read()

    def close(self) -> None:
        """Close it."""
        self._imgui.backends.opengl3_shutdown()
        self._imgui.backends.glfw_shutdown()
        self._imgui.destroy_context()
        self._window.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def _pass_on(self, session: Session) -> None:
        imgui, io = self._imgui, self._imgui.get_io()
        if not io.want_capture_mouse:
            self._move(session, io)
        if io.want_capture_keyboard:
            return
        for name, (_, act) in self._keys.items():
            if imgui.is_key_pressed(_key(imgui, name)):
                act(session)
        if imgui.is_key_pressed(imgui.Key.escape):
            self._window.ask_to_close()

    def _move(self, session: Session, io: Any) -> None:
        right, down = io.mouse_delta.x, io.mouse_delta.y
        turning, moving = io.mouse_down[0], io.mouse_down[1] or io.mouse_down[2]
        if (right or down) and (turning or moving):
            (session.pan if moving else session.drag)(right, down)
        if io.mouse_wheel:
            session.scroll(io.mouse_wheel)

    def _follow_size(self, session: Session) -> None:
        # Not while it is pulled, and not to nothing where it is minimised.
        before, self._size = self._size, self._window.size
        if session.viewport != self._size == before and min(before) > 0:
            session.resize(before)


def _key(imgui: Any, name: str) -> Any:
    return getattr(imgui.Key, _NAMES.get(name, f"_{name}" if name.isdigit() else name))


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

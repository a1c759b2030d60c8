"""A window of the operating system that OpenGL 4.5 draws to."""

from __future__ import annotations

import ctypes
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import numpy as np

from hra.errors import BackendUnavailable, MissingExtra
from hra.kernels.raster.context import DRIVER_FIX, VERSION, Context

if TYPE_CHECKING:
    from types import TracebackType


class Window:
    """A window with a context of its own, current in the thread that opened it.

    Parameters
    ----------
    size : (width, height) in pixels to begin with; title : what stands above it.

    Raises
    ------
    MissingExtra : GLFW or ModernGL are not installed.
    BackendUnavailable : there is no display, or no driver with OpenGL 4.5; the message gives the reason and the remedy.

    Attributes
    ----------
    context : draws to it; framebuffer 0 is what is shown after the next `swap`.
    address : of GLFW's window, for libraries that go on with it.

    Examples
    --------
    >>> from hra.kernels.raster.window import Window
    >>> with Window((320, 240), "a window") as window:  # doctest: +SKIP
    ...     while not window.closed:
    ...         window.wait(0.1)
    ...         window.clear()
    ...         window.swap()
    """

    def __init__(self, size: tuple[int, int], title: str) -> None:
        try:
            import glfw
            import moderngl
        except ImportError as error:
            raise MissingExtra.of(error.name or "glfw", "window") from error
        self._glfw: Any = glfw
        self._window: Any = None
        fix = "save a screenshot, by commands with --screenshot PNG"
        self._check(self._call(glfw.init), "there is no display to open a window on", "DISPLAY", fix)
        try:
            self._window = self._call(lambda: _open(glfw, size, title))
            reason = "there is no window with OpenGL 4.5"
            self._check(self._window, reason, "GLFW", DRIVER_FIX)
            glfw.make_context_current(self._window)
            glfw.swap_interval(1)
            current = _Current(glfw, self._window)
            self._gl = moderngl.create_context(require=VERSION, context=current)  # pyright: ignore[reportArgumentType]
            self.context = Context(self._gl)
        except BaseException:
            self.close()
            raise
        self.address: int = ctypes.cast(self._window, ctypes.c_void_p).value or 0

    @property
    def size(self) -> tuple[int, int]:
        """(width, height) in pixels as it is now; nothing of it is left while it is minimised."""
        return tuple(self._glfw.get_framebuffer_size(self._window))

    @property
    def closed(self) -> bool:
        """Whether somebody closed it, or `ask_to_close` did."""
        return bool(self._glfw.window_should_close(self._window))

    def ask_to_close(self) -> None:
        """Let `closed` be true."""
        self._glfw.set_window_should_close(self._window, True)

    def wait(self, seconds: float) -> None:
        """Take what mouse and keys did; wait for them so long at most."""
        if seconds > 0:
            self._glfw.wait_events_timeout(seconds)
        else:
            self._glfw.poll_events()

    def clear(self) -> None:
        """Make what is drawn next black, and draw to it."""
        self._gl.screen.use()
        self._gl.screen.clear()

    def swap(self) -> None:
        """Show what was drawn."""
        self._glfw.swap_buffers(self._window)

    def read(self) -> np.ndarray:
        """What was drawn since the last `swap`, uint8 [H, W, 3], row 0 at the top."""
        width, height = self.size
        # Outside of `Context.use`: ModernGL names an attachment that windows do not have, which OpenGL calls an error.
        data = self._gl.screen.read(viewport=(0, 0, width, height), components=3, alignment=1)
        return np.frombuffer(data, np.uint8).reshape(height, width, 3)[::-1]

    def close(self) -> None:
        """Close it."""
        if self._window is not None:
            if hasattr(self, "context"):
                self.context.release()
            self._glfw.destroy_window(self._window)
            self._window = None
        self._glfw.terminate()

    def __enter__(self) -> Window:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None):
        self.close()

    def _check(self, made: Any, what: str, where: str, fix: str) -> None:
        if not made:
            _, reason = self._glfw.get_error()
            said = reason.decode(errors="replace") if reason else "no reason is given"
            raise BackendUnavailable(f"{what}: {said}", where=where, fix=fix)

    def _call(self, function: Any) -> Any:
        with _silent(self._glfw):
            return function()


def _open(glfw: Any, size: tuple[int, int], title: str) -> Any:
    major, minor = VERSION // 100, VERSION % 100 // 10
    glfw.window_hint(glfw.CONTEXT_VERSION_MAJOR, major)
    glfw.window_hint(glfw.CONTEXT_VERSION_MINOR, minor)
    glfw.window_hint(glfw.OPENGL_PROFILE, glfw.OPENGL_CORE_PROFILE)
    if sys.platform == "linux":
        # As contexts without a window are: while one of those is current, GLX would end the process.
        glfw.window_hint(glfw.CONTEXT_CREATION_API, glfw.EGL_CONTEXT_API)
    return glfw.create_window(*size, title, None, None)


class _Current:
    """What ModernGL asks of a context that it did not make."""

    def __init__(self, glfw: Any, window: Any) -> None:
        self._glfw, self._window = glfw, window

    def load_opengl_function(self, name: str) -> int:
        return self._glfw.get_proc_address(name) or 0

    def __enter__(self) -> None:
        self._glfw.make_context_current(self._window)

    def __exit__(self, *error: object) -> None:
        pass

    def release(self) -> None:
        pass


@contextmanager
def _silent(glfw: Any) -> Iterator[None]:
    """Let errors be read, where the package would warn of them."""
    before, glfw.ERROR_REPORTING = glfw.ERROR_REPORTING, "ignore"
    try:
        yield
    finally:
        glfw.ERROR_REPORTING = before

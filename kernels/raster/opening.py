"""Finding an OpenGL driver that is new enough."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hra.errors import BackendUnavailable, MissingExtra

if TYPE_CHECKING:
    import moderngl

VERSION = 450
"""OpenGL 4.5: compute shaders, clip control and direct state access; Mesa's software renderer has it, too."""

DRIVER_FIX = (
    "install a driver with OpenGL 4.5; without a GPU, on Debian or Ubuntu: "
    "apt-get install libegl1 libegl-mesa0 libgl1 libgl1-mesa-dri libglx-mesa0"
)


def standalone() -> moderngl.Context:
    """A new context without a window; errors as in `Context`."""
    try:
        import moderngl
    except ImportError as error:
        raise MissingExtra.of("moderngl", "gl") from error
    try:
        return moderngl.create_context(require=VERSION, standalone=True, backend="egl")  # pyright: ignore[reportArgumentType]
    except Exception as error:  # ModernGL raises plain Exception for whatever a driver lacks
        reason = f"there is no OpenGL 4.5 context without a window: {error}"
        raise BackendUnavailable(reason, where="EGL", fix=DRIVER_FIX) from error


def new_enough(adopted: moderngl.Context) -> moderngl.Context:
    """The context itself, or :class:`BackendUnavailable` if it is too old."""
    if adopted.version_code < VERSION:
        what = f"the context has OpenGL version {adopted.version_code / 100:.1f}; 4.5 is needed"
        raise BackendUnavailable(what, where="argument adopted", fix="ask the window library for a 4.5 core context")
    return adopted

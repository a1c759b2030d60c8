"""An OpenGL context without a window, or the one of the caller's own program.

It finds a driver that is new enough, and reads the shaders' source texts.
"""

from __future__ import annotations

import re
import sys
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from importlib.resources import files
from typing import TYPE_CHECKING, Any

from hra.errors import BackendUnavailable, needs
from hra.kernels.raster.functions import CONTEXT_LOST, MAJOR_VERSION, NO_ERROR, OUT_OF_MEMORY, Functions

if TYPE_CHECKING:
    from types import TracebackType

    import moderngl

VERSION = 450
_INCLUDE = re.compile(r'^#include "(.+)"$', re.MULTILINE)


"""OpenGL 4.5: compute shaders, clip control and direct state access; Mesa's software renderer has it, too."""
DRIVER_FIX = (
    "install a driver with OpenGL 4.5; without a GPU, on Debian or Ubuntu: "
    "apt-get install libegl1 libegl-mesa0 libgl1 libgl1-mesa-dri libglx-mesa0"
)


def standalone() -> moderngl.Context:
    """A new context without a window; errors as in `Context`."""
    with needs("moderngl", "gl"):
        import moderngl
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


def shader_source(name: str, constants: Mapping[str, int]) -> str:
    """The file ``name`` of the folder shaders, with its includes and with ``constants`` as macros."""
    defines = "".join(f"#define {constant} {value}\n" for constant, value in constants.items())
    text = _INCLUDE.sub(lambda found: _read(found[1]), _read(name))
    return f"#version {VERSION} core\n{defines}{text}"


def _read(name: str) -> str:
    return files("hra.kernels.raster").joinpath("shaders", name).read_text("utf-8")


class Context:
    """An OpenGL 4.5 context, for use in the thread that made it; each thread needs one of its own.

    It is current only during the calls that need it, and none is afterwards: in a thread with a window adopt the
    window's context. Release it, or use it in a ``with`` statement, when it is done with.

    Parameters
    ----------
    adopted : a ModernGL context of the caller's, such as a window's. It stays current in this thread, its framebuffer,
        depth test and clip control are put back after each call, and it is not released. None makes a context without
        a window through EGL.

    Raises
    ------
    MissingExtra : ModernGL is not installed.
    BackendUnavailable : there is no driver, or none with OpenGL 4.5; the message gives the reason and the remedy.

    Examples
    --------
    >>> from hra.kernels import raster
    >>> with raster.Context() as context:  # doctest: +SKIP
    ...     print(context.renderer)
    llvmpipe (LLVM 15.0.6, 256 bits)
    """

    def __init__(self, adopted: moderngl.Context | None = None) -> None:
        self._owned = adopted is None
        self._thread = threading.get_ident()
        self._programs: dict[Any, Any] = {}
        self._gl = standalone() if adopted is None else new_enough(adopted)
        self._info = self._gl.info
        self.functions = Functions.load(_loader_of(self._gl))
        self._released, self._in_use = False, False

    @property
    def renderer(self) -> str:
        """The driver's name for what draws: a GPU, or llvmpipe for the CPU."""
        return self._info["GL_RENDERER"]

    @property
    def version(self) -> str:
        """The driver's version of OpenGL."""
        return self._info["GL_VERSION"]

    def limit(self, name: str) -> int:
        """A limit of the driver, such as "GL_MAX_TEXTURE_SIZE"."""
        return int(self._info[name])

    @property
    def viewport_limit(self) -> tuple[int, int]:
        """The largest width and height that can be drawn to."""
        return self._info["GL_MAX_VIEWPORT_DIMS"]

    def external_texture(self, name: int, size: tuple[int, int]) -> moderngl.Texture:
        """A ModernGL texture of one float over the texture ``name``, which stays its maker's to delete."""
        return self._gl.external_texture(name, size, 1, 0, "f4")

    @contextmanager
    def use(self) -> Iterator[moderngl.Context]:
        """Make the context current for a block of ModernGL calls; blocks within blocks are parts of the outer one.

        Raises
        ------
        BackendUnavailable : it was released, belongs to another thread or was lost, or a call in the block failed.
        """
        self._check_usable()
        if self._in_use:
            yield self._gl
            return
        with self._current(), self._typed_errors():
            self._check_current()
            self._gl.clear_errors()  # those of the caller's own calls
            yield self._gl
            self._check_errors()

    @contextmanager
    def _current(self) -> Iterator[None]:
        # Leaving ModernGL's block makes current what was so before the context was made: an adopted one must stay.
        self._in_use = True
        try:
            if self._owned:
                with self._gl:
                    yield
            else:
                self._gl.__enter__()
                yield
        finally:
            self._in_use = False

    @contextmanager
    def _typed_errors(self) -> Iterator[None]:
        import moderngl

        try:
            yield
        except moderngl.Error as error:
            raise BackendUnavailable(f"OpenGL failed: {error}", where=self.renderer) from error

    def program(self, *shaders: str, **constants: int) -> Any:
        """The program of the shader files ``shaders``, compiled once: one compute, or a vertex and a fragment shader.

        ``constants`` are defined in them as macros.
        """
        key = (shaders, tuple(sorted(constants.items())))
        if key not in self._programs:
            first, *rest = (shader_source(name, constants) for name in shaders)
            made = self._gl.program(first, rest[0]) if rest else self._gl.compute_shader(first)
            self._programs[key] = made
        return self._programs[key]

    @property
    def released(self) -> bool:
        """Whether it was released."""
        return self._released

    def release(self) -> None:
        """Give back everything that was made in the context, and the context itself unless it was adopted."""
        if self._released:
            return
        self._released = True
        if self._owned:
            self._gl.release()
        else:
            for program in self._programs.values():
                program.release()

    def __enter__(self) -> Context:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None):
        self.release()

    def __del__(self) -> None:
        # The context that a thread keeps for itself is forgotten, not released, when the thread ends. When the
        # interpreter does, ModernGL's own names are gone, and so is the context.
        if not getattr(self, "_released", True) and not sys.is_finalizing():
            self.release()

    def _check_usable(self) -> None:
        if self._released:
            raise BackendUnavailable("the OpenGL context is released", fix="make a new raster.Context()")
        if threading.get_ident() != self._thread:
            fix = "make one raster.Context() per thread"
            raise BackendUnavailable("the OpenGL context belongs to another thread", fix=fix)

    def _check_current(self) -> None:
        # Without a context calls do nothing, and what they were to write keeps whatever was there.
        if not self.functions.integer(MAJOR_VERSION):
            what = "the OpenGL context was lost: other code of this process, such as PyVista, closed its display"
            fix = "make a new raster.Context(), or renderer, and everything in it"
            raise BackendUnavailable(what, fix=fix)

    def _check_errors(self) -> None:
        error = self.functions.GetError()
        if error == CONTEXT_LOST or self.functions.GetGraphicsResetStatus() != NO_ERROR:
            fix = "make a new raster.Context() and everything in it, or use the CPU backends"
            raise BackendUnavailable("the OpenGL context was lost: the driver was reset", fix=fix)
        if error == OUT_OF_MEMORY:
            raise BackendUnavailable("the OpenGL driver is out of memory", fix="use smaller buffers, or release some")
        if error != NO_ERROR:
            raise BackendUnavailable(f"OpenGL reported error 0x{error:04X}", where=self.renderer)


def _loader_of(gl: moderngl.Context) -> Callable[[str], int]:
    """What tells where the driver has a function: private, but the only way for a context that somebody else made."""
    held = gl.mglo._context
    # ModernGL has a loader of its own for contexts that it was not told of.
    return held.load if hasattr(held, "load") else held.load_opengl_function

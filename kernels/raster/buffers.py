"""What holds OpenGL objects, and arrays to and from OpenGL buffers."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from hra.errors import ArrayError

if TYPE_CHECKING:
    from types import TracebackType

    import moderngl

    from hra.kernels.raster.context import Context

_MAX_GROUPS = 65_535  # per axis, the least that OpenGL grants
T = TypeVar("T")


class Resource:
    """Something that holds OpenGL objects until it is released, also at the end of a ``with`` statement."""

    def __init__(self, context: Context) -> None:
        self.context = context
        self._objects: list[Any] = []

    def own(self, thing: T) -> T:
        """Have ``thing``, which has a method ``release``, released together with this object."""
        self._objects.append(thing)
        return thing

    def release(self) -> None:
        """Release all objects; a context that is released already has done so."""
        if self.context.released:
            return
        with self.context.use():
            while self._objects:
                self._objects.pop().release()

    def __enter__(self):
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None):
        self.release()


def upload(gl: moderngl.Context, array: np.ndarray) -> moderngl.Buffer:
    """A new buffer with the bytes of ``array``; a word of nothing for an empty one, since no buffer may be empty."""
    return gl.buffer(np.ascontiguousarray(array)) if array.size else gl.buffer(reserve=4)


def download(buffer: moderngl.Buffer, dtype: Any, count: int) -> np.ndarray:
    """The first ``count`` elements of a buffer, copied to the host."""
    result = np.empty(count, dtype)
    if count:
        buffer.read_into(result, size=result.nbytes)
    return result


def check_storage_size(context: Context, size: int, what: str) -> None:
    """Raise :class:`ArrayError` if a shader of this driver cannot reach all of ``size`` bytes."""
    limit = context.limit("GL_MAX_SHADER_STORAGE_BLOCK_SIZE")
    if size > limit:
        reason = f"{what} takes {size:,} bytes; shaders of {context.renderer} reach {limit:,}"
        raise ArrayError(reason, fix="split it, or use a CPU backend")


def groups(items: int, size: int) -> int:
    """Work groups of ``size`` invocations for ``items``, of which each invocation may have to take several."""
    return min(-(-items // size), _MAX_GROUPS)

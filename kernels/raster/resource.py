"""What holds OpenGL objects."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeVar

if TYPE_CHECKING:
    from types import TracebackType

    from hra.kernels.raster.context import Context

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

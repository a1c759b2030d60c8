"""Who frees an OpenGL context: whoever made it, and only that."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Self

from hra.kernels.raster.context import Context


class InContext:
    """What draws in a context of its own, or in one of the caller's, which stays when this is closed.

    Parameters
    ----------
    context : None makes one without a window.

    Raises
    ------
    MissingExtra, BackendUnavailable : there is no OpenGL 4.5, see `hra.kernels.raster.Context`.
    """

    def __init__(self, context: Context | None) -> None:
        self._context, self._owned = context or Context(), context is None

    @contextmanager
    def _opening(self) -> Iterator[None]:
        """Free what there is already if the block fails."""
        try:
            yield
        except BaseException:
            self.close()
            raise

    def _free(self) -> None:
        """Free what this holds in the context; may be called again, and before all of it is there."""
        raise NotImplementedError

    def close(self) -> None:
        """Free what it holds on the GPU."""
        self._free()
        if self._owned:
            self._context.release()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()


class Drawer(InContext):
    """What draws frames and leaves them on the GPU."""

    @property
    def driver(self) -> str:
        """What draws: a GPU, or llvmpipe for the CPU."""
        return self._context.renderer

    def finish(self) -> None:
        """Wait until all that was asked for is drawn."""
        with self._context.use() as gl:
            gl.finish()

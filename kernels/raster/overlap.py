"""Selecting what the next frame draws while the GPU draws this one."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import TypeVar

from hra.errors import BackendUnavailable
from hra.kernels.raster import functions
from hra.kernels.raster.context import Context

Frame = TypeVar("Frame")
Selection = TypeVar("Selection")
Result = TypeVar("Result")
_SECOND = 1_000_000_000  # nanoseconds


class Fence:
    """A mark in the context's queue of commands, which is passed when all commands before it are done.

    Raises
    ------
    BackendUnavailable : the context fails, see :class:`Context`.
    """

    def __init__(self, context: Context) -> None:
        self._context = context
        with context.use():
            self._sync = context.functions.FenceSync(functions.FENCE_COMPLETE, 0)
            context.functions.Flush()  # or the driver may wait for more commands before it starts

    def wait(self, timeout: float = 60.0) -> None:
        """Wait until the mark is passed; other Python threads run meanwhile.

        Raises
        ------
        BackendUnavailable : it was not passed within ``timeout`` seconds, or the context fails.
        """
        calls = self._context.functions
        with self._context.use():
            status = calls.ClientWaitSync(self._sync, functions.FLUSH_COMMANDS, int(timeout * _SECOND))
            calls.DeleteSync(self._sync)
        if status not in (functions.ALREADY_SIGNALED, functions.CONDITION_SATISFIED):
            raise BackendUnavailable(f"the driver was not done after {timeout} seconds", where=self._context.renderer)


def overlap(
    context: Context,
    frames: Iterable[Frame],
    select: Callable[[Frame], Selection],
    draw: Callable[[Frame, Selection], object],
    read: Callable[[Frame, Selection], Result],
) -> Iterator[Result]:
    """Per frame: issue the draw calls, select for the next frame while the GPU draws, wait, read.

    The results are those of selecting, drawing and reading one after the other, as long as ``select`` needs nothing of
    the frame that is being drawn; it may use what was read of the frame before that.

    Parameters
    ----------
    frames : cameras, say; asked for one ahead.
    select : the allocation of a frame; it runs on the CPU and leaves the context alone.
    draw : issues the commands for a frame and its selection, and does not wait for them.
    read : takes the frame's result from the GPU.
    """
    selected = ((frame, select(frame)) for frame in frames)
    current = next(selected, None)
    while current is not None:
        draw(*current)
        fence = Fence(context)
        following = next(selected, None)  # selects here, while the GPU draws
        fence.wait()
        yield read(*current)
        current = following

"""Selecting what the next frame draws while the GPU draws this one."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import Any, TypeVar

from hra.errors import BackendUnavailable
from hra.kernels.backends import load_warp
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
    stream: Any = None,
) -> Iterator[Result]:
    """Per frame: issue the draw calls, select for the next frame while the GPU draws, wait, read.

    The results are those of selecting, drawing and reading one after the other, as long as ``select`` needs nothing of
    the frame that is being drawn; it may use what was read of the frame before that.

    Parameters
    ----------
    frames : cameras, say; asked for one ahead.
    select : the allocation of a frame; it runs on the CPU, or by Warp in ``stream``, and leaves the context alone.
    draw : issues the commands for a frame and its selection, and does not wait for them.
    read : takes the frame's result from the GPU.
    stream : a ``warp.Stream`` for kernels of ``select``, not the one that ``draw`` uses. It waits for what the device's
        current stream was given before ``draw``, and ``draw`` of the next frame for it: on the device, not on the host.
    """
    selected = ((frame, select(frame)) for frame in frames)
    with _within(stream, _mark(stream)):
        current = next(selected, None)
    while current is not None:
        before = _mark(stream)
        draw(*current)
        fence = Fence(context)
        with _within(stream, before):
            following = next(selected, None)  # selects here, while the GPU draws
        fence.wait()
        yield read(*current)
        current = following


def _mark(stream: Any) -> Any:
    """An event behind what the current stream of the device was given so far."""
    return None if stream is None else stream.device.stream.record_event()


@contextmanager
def _within(stream: Any, before: Any) -> Iterator[None]:
    """Launch kernels in ``stream`` behind an event, and have the current stream wait for them."""
    if stream is None:
        yield
        return
    stream.wait_event(before)
    with load_warp().ScopedStream(stream, sync_enter=False):  # or it would wait for the drawing, too
        yield
    stream.device.stream.wait_event(stream.record_event())

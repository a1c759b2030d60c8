"""When each item is wanted next: by which reference, and in which frame as far as the known frames of a trace tell."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from hra.caching import cached_property
from hra.compiling import njit
from hra.residency.replay.trace import Trace


@njit(cache=True)
def next_references(demands: np.ndarray, count: int) -> np.ndarray:
    """Position of the next reference to the same item, int64 [D].

    After its last reference, item i gets D + i: no two references share a next one, and it still tells the item
    (`item_of`).
    """
    coming, following = np.arange(demands.size, demands.size + count), np.empty(demands.size, np.int64)
    for r in range(demands.size - 1, -1, -1):
        following[r] = coming[demands[r]]
        coming[demands[r]] = r
    return following


@njit(cache=True)
def item_of(reference: int, demands: np.ndarray) -> int:
    """The item of a reference, or of what `next_references` says after the last one."""
    return demands[reference] if reference < demands.size else reference - demands.size


@njit(cache=True)
def still_to_come(heap: list, now: int) -> list:
    """A heap of negated references without those up to ``now``."""
    return [entry for entry in heap if -entry > now]


@dataclass(frozen=True, eq=False)
class NextUse:
    """Knows the next ``ahead`` frames of a trace; a frame takes time for its own demands and one further frame's only.

    Parameters
    ----------
    wanted : the trace.
    ahead : how many frames after the current one are known, >= 0.
    """

    wanted: Trace
    ahead: int

    def update(self, coming: np.ndarray, frame: int) -> None:
        """Go from the frame before to ``frame``.

        Parameters
        ----------
        coming : int64 [N], changed in place: the next known frame that wants each item, at most ``frame`` for none.
        """
        _update(self.wanted.frames, self.wanted.demands, self._next_frames, self.ahead, coming, frame)

    def soon(self, frame: int, count: int) -> np.ndarray:
        """The demands of the ``count`` frames after one, as far as they are known, in order."""
        offsets = self.wanted.frames[frame + 1 : frame + 2 + min(count, self.ahead)]
        return self.wanted.demands[offsets[0] : offsets[-1]]

    @cached_property
    def _next_frames(self) -> np.ndarray:
        """The frame that demands the item of each reference next, int64 [D]; the number of frames for none."""
        following = next_references(self.wanted.demands, self.wanted.cost.size)
        return np.minimum(np.searchsorted(self.wanted.frames, following, side="right") - 1, len(self.wanted))


@njit(cache=True)
def _update(frames, demands, next_frames, ahead, coming, frame):
    last = min(frame + ahead, frames.size - 2)
    for r in range(frames[frame], frames[frame + 1]):
        coming[demands[r]] = next_frames[r] if next_frames[r] <= last else -1
    # What comes into view: one frame, but at the start all that are known.
    first = frame + 1 if frame == 0 else frame + ahead
    for seen in range(max(first, frame + 1), last + 1):
        for r in range(frames[seen], frames[seen + 1]):
            if coming[demands[r]] <= frame:
                coming[demands[r]] = seen

"""How far a build is."""

from __future__ import annotations

from collections.abc import Callable

# Called with the triangles that are simplified away and the triangles of the source; the first rises to the second.
Progress = Callable[[int, int], None]

# Calls of one build at most, but for the last: drawing a bar may take longer than a group.
_CALLS = 200


class Countdown:
    """Counts triangles and tells it from time to time.

    The source's triangles less those of the surface so far measure the work well: the first level is half of both.
    """

    def __init__(self, total: int, tell: Progress | None) -> None:
        self._total, self._tell = total, tell
        self._done = self._told = 0

    def advance(self, triangles: int) -> None:
        """``triangles`` fewer are left."""
        self._done += triangles
        if self._tell and self._done - self._told >= self._total / _CALLS:
            self._told = self._done
            self._tell(self._done, self._total)

    def finish(self) -> None:
        """The build is done, however many triangles are left."""
        if self._tell:
            self._tell(self._total, self._total)

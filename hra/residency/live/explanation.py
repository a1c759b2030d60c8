"""Why an item is resident or not."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Explanation:
    """The state of one item after a frame, and the terms of its priority.

    Attributes
    ----------
    resident, pinned : whether it is there; whether it is one of the coarsest, which always are.
    frame : the last frame, -1 before the first.
    bytes, gain : of the item; the gain is 0 if the last frame did not want it. Its priority is gain per byte.
    queue_position : how many wanted items are loaded before it; None if it is not queued.
    missing_parent : the item that has to be there first, None if it is.
    resident_children : they keep it from being evicted.
    wanted_at, next_wanted_at : the last frame that wanted it, the next that is known to; None for none.
    loaded_at, evicted_at : last frames of both; None for never.
    """

    item: int
    resident: bool
    pinned: bool
    frame: int
    bytes: int
    gain: float
    queue_position: int | None
    missing_parent: int | None
    resident_children: int
    wanted_at: int | None
    next_wanted_at: int | None
    loaded_at: int | None
    evicted_at: int | None

    @property
    def priority(self) -> float:
        """Gain per byte."""
        return self.gain / self.bytes

    def __str__(self) -> str:
        return f"item {self.item} is {self._state()}: {self._reason()}"

    def _state(self) -> str:
        if self.resident:
            return "resident"
        return "queued" if self.queue_position is not None else "not resident"

    def _reason(self) -> str:
        return self._why_resident() if self.resident else self._why_absent()

    def _why_resident(self) -> str:
        if self.pinned:
            return "the coarsest items always are"
        if self.wanted_at == self.frame:
            return f"this frame wants it, gain {self.gain:.6g} for {self.bytes:,} bytes"
        if self.next_wanted_at is not None:
            return f"frame {self.next_wanted_at} will want it"
        if self.resident_children:
            return f"{self.resident_children} finer items need it"
        if self.wanted_at is None:
            return "it was loaded ahead and no frame has wanted it; its room was not needed since"
        return f"last wanted in frame {self.wanted_at}, and its room was not needed since"

    def _why_absent(self) -> str:
        if self.queue_position is not None:
            after = "" if self.missing_parent is None else f", after its parent {self.missing_parent}"
            return f"{self.queue_position} items are loaded before it, {self.priority:.6g} gain per byte{after}"
        if self.evicted_at is not None:
            last = "no frame" if self.wanted_at is None else f"frame {self.wanted_at}"
            return f"evicted in frame {self.evicted_at}, last wanted by {last}"
        return "no frame has wanted it" if self.wanted_at is None else "it is no longer wanted"

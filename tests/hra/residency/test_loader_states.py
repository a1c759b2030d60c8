"""A loader through any sequence of requests, reads that end, fail or come too late, beside a plain account of them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule

from hra.residency import Backoff, Loader, Reading

ITEMS, LIMIT = 8, 12
BACKOFF = Backoff(first=1.0, most=4.0)


@dataclass
class Read:
    """A call that waits, runs or has ended; ``fails`` is what it does when it is asked for its result."""

    call: Callable[[int], Any]
    item: int
    state: str = "waits"
    fails: bool = False

    def done(self) -> bool:
        return self.state == "ended"

    def cancel(self) -> bool:
        if self.state == "waits":
            self.state = "cancelled"
        return self.state == "cancelled"

    def result(self) -> Any:
        if self.fails:
            raise OSError(f"no data for {self.item}")
        return self.call(self.item)


@dataclass
class Disk:
    """An executor that does nothing by itself."""

    reads: list[Read] = field(default_factory=list)

    def submit(self, call: Callable[[int], Any], item: int, /) -> Read:
        self.reads.append(Read(call, item))
        return self.reads[-1]


class Sequence(RuleBasedStateMachine):
    """The model counts the bytes of what was asked for and neither cancelled, given up nor released."""

    @initialize(seed=st.integers(0, 10**6))
    def make(self, seed: int) -> None:
        self.bytes = np.random.default_rng(seed).integers(1, 7, ITEMS)
        self.disk, self.now, self.wanted = Disk(), 0.0, list[int]()
        self.counted: list[Read] = []
        self.failures, self.retry_at = dict[int, int](), dict[int, float]()
        reading = Reading(
            lambda item: -item, self.bytes, LIMIT, backoff=BACKOFF, executor=self.disk, clock=lambda: self.now
        )
        self.loader = Loader(reading)

    def _held(self, items: Any) -> int:
        return int(sum(self.bytes[read.item] for read in self.counted if read.item in items))

    @rule(wanted=st.lists(st.integers(0, ITEMS - 1), unique=True, max_size=ITEMS))
    def request(self, wanted: list[int]) -> None:
        before, arrived = len(self.disk.reads), set(self.loader.arrived)
        self.loader.request(wanted)
        new, self.wanted = self.disk.reads[before:], wanted
        gone = arrived - set(self.loader.arrived)
        self.counted = [r for r in self.counted if r.state != "cancelled" and r.item not in gone] + new
        assert all(self.now >= self.retry_at.get(read.item, 0.0) for read in new)
        there = {read.item for read in self.counted}
        missing = [k for k, item in enumerate(wanted) if item not in there and self.now >= self.retry_at.get(item, 0.0)]
        if missing:  # what comes first of these did not fit, and nothing that comes later took its room
            first, late = missing[0], set(wanted[missing[0] + 1 :])
            running = {read.item for read in self.counted if read.state in ("runs", "ended")}
            assert self._held(there - (late - running)) + self.bytes[wanted[first]] > LIMIT
            assert not {read.item for read in new} & late

    @rule(which=st.integers(0, 20))
    def begin(self, which: int) -> None:
        if waiting := [read for read in self.counted if read.state == "waits"]:
            waiting[which % len(waiting)].state = "runs"

    @rule(which=st.integers(0, 20), fails=st.booleans())
    def end(self, which: int, fails: bool) -> None:
        if running := [read for read in self.counted if read.state == "runs"]:
            read = running[which % len(running)]
            read.state, read.fails = "ended", fails

    @rule()
    def collect(self) -> None:
        ended = [r for r in self.counted if r.state == "ended" and r.item not in self.loader.arrived]
        found = {failure.item: failure for failure in self.loader.collect()}
        for read in ended:
            if read.item in self.wanted and not read.fails:
                self.failures.pop(read.item, None)
                self.retry_at.pop(read.item, None)
                assert self.loader.arrived[read.item] == -read.item
                continue
            self.counted.remove(read)
            assert read.item not in self.loader.arrived
            if read.item in self.wanted:
                count = self.failures[read.item] = self.failures.get(read.item, 0) + 1
                self.retry_at[read.item] = self.now + min(2.0 ** (count - 1), 4.0)
                assert (read.item in found) == (count == 1)
        assert all(failure.retry_at == self.retry_at[item] for item, failure in found.items())

    @rule(which=st.integers(0, 20))
    def upload(self, which: int) -> None:
        if arrived := sorted(self.loader.arrived):
            item = arrived[which % len(arrived)]
            self.loader.release(item)
            self.counted = [read for read in self.counted if read.item != item]

    @rule(seconds=st.sampled_from([0.5, 1.0, 3.0]))
    def wait(self, seconds: float) -> None:
        self.now += seconds

    @invariant()
    def bytes_are_those_of_the_model_and_within_the_limit(self) -> None:
        if hasattr(self, "loader"):
            assert self.loader.held_bytes == self._held(range(ITEMS)) <= LIMIT
            assert len({read.item for read in self.counted}) == len(self.counted)  # no item is read twice at once
            assert set(self.loader.arrived) <= set(self.wanted)


TestSequence = Sequence.TestCase
TestSequence.settings = settings(max_examples=60, stateful_step_count=40, deadline=None, derandomize=True)

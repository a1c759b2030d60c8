"""Timing: the library and its peers in turns on the same fresh inputs, medians of wall and processor time."""

from __future__ import annotations

import gc
import statistics
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

# After this many seconds in one case, a peer has been timed well enough; hra runs in every round.
_PEER_SECONDS = 4.0


@dataclass(frozen=True)
class Gaps:
    """Distance from the upper bound, relative to the bound (``gap``) and to the least residual (``residual_gap``)."""

    gap: float
    residual_gap: float

    def worst(self, other: Gaps) -> Gaps:
        """The larger of each."""
        return Gaps(max(self.gap, other.gap), max(self.residual_gap, other.residual_gap))


@dataclass(frozen=True)
class Contender:
    """One way to solve a case.

    Attributes
    ----------
    prepare : brings an input into the form that ``run`` wants, outside of the clock.
    read : brings an output into the form that is judged, outside of the clock.
    warm_up : run once before the clock counts: compiled code needs it, pure Python does not.
    share : part of the case that ``run`` solves; its seconds are divided by it.
    threads : of the processor that ``run`` may use.
    """

    name: str
    run: Callable[[Any], Any]
    prepare: Callable[[Any], Any] = lambda given: given
    warm_up: bool = True
    share: float = 1.0
    read: Callable[[Any], Any] = lambda output: output
    threads: int = 1


@dataclass(frozen=True)
class Case:
    """One benchmark: for solvers at one budget.

    Attributes
    ----------
    contenders : the library first, then its peers; the row quotes the first peer.
    inputs : a fresh input for each round, made outside of the clock; round 0 is the warm-up.
    judge : gaps by contender from an input and the outputs by contender; raises if an output is invalid. Where an
        output is either right or wrong there are no gaps.
    size : what the row calls n.
    moved_bytes : what must at least be read and written.
    absent : peers that cannot run here, with the reason.
    """

    contenders: tuple[Contender, ...]
    inputs: Callable[[int], Any]
    judge: Callable[[Any, Mapping[str, Any]], Mapping[str, Gaps]]
    size: int
    moved_bytes: int
    absent: Mapping[str, str] = field(default_factory=dict)


CaseAt = Callable[[float], Case]
"""The case of one instance at a share of its total cost."""


@dataclass
class Clock:
    """Seconds that one contender took in each round, and its worst gaps."""

    wall: list[float] = field(default_factory=list)
    cpu: list[float] = field(default_factory=list)
    gaps: Gaps = field(default_factory=lambda: Gaps(0.0, 0.0))

    @property
    def seconds(self) -> float:
        """Median wall time."""
        return statistics.median(self.wall)

    @property
    def cpu_seconds(self) -> float:
        """Median processor time: what a busy machine distorts least."""
        return statistics.median(self.cpu)


def measure(case: Case, repeat: int) -> dict[str, Clock]:
    """Run all contenders in turns for ``repeat`` rounds; clocks by name, in the order of the contenders."""
    first = case.inputs(0)
    for contender in case.contenders:
        if contender.warm_up:
            contender.run(contender.prepare(first))
    clocks = {contender.name: Clock() for contender in case.contenders}
    for number in range(1, repeat + 1):
        _round(case, number, clocks)
    return clocks


def _round(case: Case, number: int, clocks: Mapping[str, Clock]) -> None:
    given, outputs = case.inputs(number), {}
    for contender in case.contenders:
        clock = clocks[contender.name]
        if contender is case.contenders[0] or sum(clock.wall) * contender.share < _PEER_SECONDS:
            outputs[contender.name] = contender.read(_time_call(contender, given, clock))
    for name, gaps in case.judge(given, outputs).items():
        clocks[name].gaps = clocks[name].gaps.worst(gaps)


def _time_call(contender: Contender, given: Any, clock: Clock) -> Any:
    prepared = contender.prepare(given)
    with _no_collection():
        cpu, wall = time.process_time(), time.perf_counter()
        output = contender.run(prepared)
        wall, cpu = time.perf_counter() - wall, time.process_time() - cpu
    clock.wall.append(wall / contender.share)
    clock.cpu.append(cpu / contender.share)
    return output


@contextmanager
def _no_collection() -> Iterator[None]:
    """Without garbage collection, whose pauses depend on what else is alive."""
    gc.disable()
    try:
        yield
    finally:
        gc.enable()

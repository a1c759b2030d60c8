"""Reads on a virtual clock: they end in a seeded order, and some of them fail."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np


@dataclass
class VirtualRead:
    """A call that ends at a time of the virtual clock; it is made when its result is asked for."""

    call: Callable[[], Any]
    ends_at: float
    machine: VirtualReads
    begins_at: float
    cancelled: bool = False

    def done(self) -> bool:
        return self.machine.now >= self.ends_at

    def cancel(self) -> bool:
        self.cancelled = self.machine.now < self.begins_at
        return self.cancelled

    def result(self) -> Any:
        return self.call()


@dataclass
class VirtualReads:
    """An executor and its clock; ``slowest`` is in seconds, a read may wait for a quarter of its time."""

    seed: int
    slowest: float = 0.1
    now: float = 0.0
    random: np.random.Generator = field(init=False)

    def __post_init__(self) -> None:
        self.random = np.random.default_rng(self.seed)

    def submit(self, call: Callable[[int], Any], item: int, /) -> VirtualRead:
        seconds = float(self.random.uniform(0, self.slowest))
        return VirtualRead(lambda: call(item), self.now + seconds, self, self.now + seconds / 4)

    def clock(self) -> float:
        return self.now


@dataclass
class Flaky:
    """A reader that fails for a share of its calls, in a seeded order."""

    read: Callable[[int], Any]
    share: float
    seed: int
    calls: int = 0
    failed: int = 0
    random: np.random.Generator = field(init=False)

    def __post_init__(self) -> None:
        self.random = np.random.default_rng(self.seed)

    def __call__(self, item: int) -> Any:
        self.calls += 1
        if self.random.random() < self.share:
            self.failed += 1
            raise OSError(f"no data for {item}")
        return self.read(item)

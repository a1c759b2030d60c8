"""A row of the tokens suite: that of a kernel, with what is known of its answer beside its time."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from hra_lab.bench.kernels.rows import KernelBenchmark
from hra_lab.bench.suite import Scale


@dataclass(frozen=True)
class TokenBenchmark:
    """One task on the host.

    Attributes
    ----------
    timing : the seconds of the library and its peers.
    facts : size of the task -> further fields of the row, such as the count of tokens.
    """

    timing: KernelBenchmark
    facts: Callable[[int], Mapping[str, Any]]

    @property
    def name(self) -> str:
        """The name of the row."""
        return self.timing.name

    @property
    def needs(self) -> tuple[str, ...]:
        """Features without which the row is skipped."""
        return self.timing.needs

    def measure(self, scale: Scale, repeat: int, bandwidth: float) -> dict[str, Any]:
        """The row; see `KernelBenchmark.measure`."""
        size = self.timing.full if scale == "full" else self.timing.small
        return {**self.timing.measure(scale, repeat, bandwidth), **self.facts(size)}

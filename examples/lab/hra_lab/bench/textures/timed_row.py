"""What the rows of the textures suite have in common."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from hra_lab.bench.harness import Case, Clock, measure


def timed_row(name: str, case: Case, peer: str | None, repeat: int, results: Mapping[str, float]) -> dict[str, Any]:
    """Measure a case, whose first contender is the library, and quote one peer; None if there is none to quote."""
    return row_of(name, case.size, measure(case, repeat), peer, results)


def row_of(
    name: str, size: int, clocks: Mapping[str, Clock], peer: str | None, results: Mapping[str, float]
) -> dict[str, Any]:
    """The row of clocks by contender, the library's first."""
    own, other = next(iter(clocks.values())), None if peer is None else clocks.get(peer)
    return {
        "name": name,
        "n": size,
        "ours_s": own.seconds,
        "ours_cpu_s": own.cpu_seconds,
        "peer": None if other is None else peer,
        "peer_s": None if other is None else other.seconds,
        "ratio": None if other is None else other.seconds / own.seconds,
        "results": results,
        "peers": {label: {"s": clock.seconds, "cpu_s": clock.cpu_seconds} for label, clock in clocks.items()},
    }

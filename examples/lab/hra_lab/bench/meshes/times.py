"""The seconds that every row of the suite quotes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from hra_lab.bench.harness import Clock


def times(clocks: Mapping[str, Clock]) -> dict[str, Any]:
    """Wall and processor time of the library and of the peer of least processor time; ratios above 1: hra is faster."""
    own = clocks["hra"]
    peers = {name: clock for name, clock in clocks.items() if name != "hra"}
    fields: dict[str, Any] = {"ours_s": own.seconds, "wall_s": own.seconds, "cpu_s": own.cpu_seconds}
    if not peers:
        return fields | dict.fromkeys(("peer", "peer_s", "peer_cpu_s", "ratio", "cpu_ratio"))
    name = min(peers, key=lambda name: peers[name].cpu_seconds)
    return fields | {
        "peer": name,
        "peer_s": peers[name].seconds,
        "peer_cpu_s": peers[name].cpu_seconds,
        "ratio": peers[name].seconds / own.seconds,
        "cpu_ratio": peers[name].cpu_seconds / own.cpu_seconds,
    }

"""A kernel's row: one case, no budgets; its outputs are right or wrong, so there are no gaps but bytes."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

from hra_lab.bench.devices import Device
from hra_lab.bench.harness import Case, Clock, Contender, measure
from hra_lab.bench.suite import Scale


@dataclass(frozen=True)
class KernelBenchmark:
    """One kernel on one device.

    Attributes
    ----------
    build : makes the case of a given size on a device.
    full, small : sizes; "small" is for tests.
    needs : features ("module:attribute") without which the benchmark is skipped.
    """

    name: str
    build: Callable[[int, Device], Case]
    full: int
    small: int
    device: Device
    needs: tuple[str, ...] = ()

    def measure(self, scale: Scale, repeat: int, bandwidth: float) -> dict[str, Any]:
        """The row; the peer that is quoted is the fastest of all that ran."""
        case = self.build(self.full if scale == "full" else self.small, self.device)
        case = replace(case, contenders=tuple(_waiting(one, self.device) for one in case.contenders))
        clocks = measure(case, repeat)
        own, limit = clocks[case.contenders[0].name], case.moved_bytes / bandwidth
        return {
            "name": self.name,
            "device": self.device.title,
            "n": case.size,
            "bytes": case.moved_bytes,
            "ours_s": own.seconds,
            "ours_cpu_s": own.cpu_seconds,
            **_quote(case, clocks),
            "limit_s": limit,
            "of_bandwidth": limit / own.seconds,
            "threads": {contender.name: contender.threads for contender in case.contenders},
            "peers": {name: _peer(clocks[name]) for name in _peers(case)},
            "absent": dict(case.absent),
        }


def _waiting(contender: Contender, device: Device) -> Contender:
    """The same with a clock that waits for the device, before and after."""

    def then_wait(call: Callable[[Any], Any], given: Any) -> Any:
        result = call(given)
        device.synchronize()
        return result

    return replace(
        contender,
        prepare=lambda given: then_wait(contender.prepare, given),
        run=lambda prepared: then_wait(contender.run, prepared),
    )


def _peers(case: Case) -> list[str]:
    return [contender.name for contender in case.contenders[1:]]


def _quote(case: Case, clocks: dict[str, Clock]) -> dict[str, Any]:
    """The fastest peer that is not the library itself; nothing to quote where none can run."""
    rivals = [name for name in _peers(case) if not name.startswith("hra")]
    if not rivals:
        return {"peer": None, "peer_s": None, "ratio": None}
    fastest = min(rivals, key=lambda name: clocks[name].seconds)
    seconds = clocks[fastest].seconds
    return {"peer": fastest, "peer_s": seconds, "ratio": seconds / clocks[case.contenders[0].name].seconds}


def _peer(clock: Clock) -> dict[str, float]:
    return {"s": clock.seconds, "cpu_s": clock.cpu_seconds}

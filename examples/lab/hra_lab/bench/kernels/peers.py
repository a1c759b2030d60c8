"""Which peers can run here."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from typing import Any

from hra.errors import BackendUnavailable, MissingExtra
from hra_lab.bench.devices import Device
from hra_lab.bench.harness import Contender
from hra_lab.bench.threads import kernel_threads

Peer = Callable[[Device], Iterable[Contender]]
"""Makes the contenders of one library on a device; raises `MissingExtra` or `BackendUnavailable` if it cannot run."""


def gather(device: Device, peers: Mapping[str, Peer]) -> tuple[tuple[Contender, ...], dict[str, str]]:
    """All contenders of the ``peers`` that can run on ``device``, and why the others cannot."""
    contenders, absent = [], {}
    for name, peer in peers.items():
        try:
            contenders += peer(device)
        except (BackendUnavailable, MissingExtra) as error:
            absent[name] = error.what
    return tuple(contenders), absent


def host_only(*contenders: Contender) -> Peer:
    """A peer that is always installed and knows nothing but the processor."""

    def peer(device: Device) -> Iterable[Contender]:
        require_host(device)
        return contenders

    return peer


def on_two_threads(own: Contender) -> Peer:
    """The library's own contender with a thread more, where it runs on the processor."""

    def run(prepared: Any) -> Any:
        with kernel_threads(2):
            return own.run(prepared)

    return host_only(replace(own, name="hra, 2 threads", run=run, threads=2))


def require_host(device: Device) -> None:
    """Raise `BackendUnavailable` on any device but the host."""
    if not device.on_host:
        raise BackendUnavailable(f"does not run on {device.name}", where="device", fix="use the device 'cpu'")

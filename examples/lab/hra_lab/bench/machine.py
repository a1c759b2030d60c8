"""What a benchmark ran on: processor, versions, memory bandwidth."""

from __future__ import annotations

import os
import platform
import time
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

import numpy as np

from hra import __version__
from hra_lab.bench.devices import HOST, Device

_PACKAGES = ("numpy", "numba", "scipy", "torch", "warp-lang")


def facts() -> dict[str, Any]:
    """Processor, cores, load average over 1, 5 and 15 minutes, and versions as plain data."""
    return {
        "processor": _processor(),
        "cores": os.cpu_count(),
        "load_average": os.getloadavg() if hasattr(os, "getloadavg") else None,
        "platform": platform.platform(),
        "python": platform.python_version(),
        "versions": {"hra": __version__, **{name: _version(name) for name in _PACKAGES}},
    }


@cache
def copy_bandwidth(device: Device = HOST, size: int = 200_000_000, repeat: int = 5) -> float:
    """Bytes per second that are read and written while an array of ``size`` bytes is copied; the best of several.

    One core copies on the host. The best rather than the median: it stands for what the machine can do, and limits are
    computed from it. A process measures it once: to get the memory takes the system longer than to copy it.
    """
    source, target = (device.send(np.ones(size, np.uint8)) for _ in range(2))
    device.copy(target, source)
    return 2 * size / min(_copy_seconds(device, target, source) for _ in range(repeat))


def _copy_seconds(device: Device, target: Any, source: Any) -> float:
    device.synchronize()
    start = time.perf_counter()
    device.copy(target, source)
    device.synchronize()
    return time.perf_counter() - start


def _processor() -> str:
    """The processor's name; Linux hides it from `platform`."""
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
    except OSError:
        return platform.processor()
    names = [line.split(":", 1)[1].strip() for line in lines if line.startswith("model name")]
    return names[0] if names else platform.processor()


def _version(package: str) -> str | None:
    try:
        return version(package)
    except PackageNotFoundError:
        return None

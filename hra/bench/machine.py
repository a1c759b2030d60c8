"""What a benchmark ran on: processor, versions, memory bandwidth."""

from __future__ import annotations

import os
import platform
import time
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

import numpy as np

from hra import __version__

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


def copy_bandwidth(size: int = 200_000_000, repeat: int = 5) -> float:
    """Bytes per second that one core reads and writes while it copies an array of ``size`` bytes; the best of several.

    The best rather than the median: it stands for what the machine can do, and limits are computed from it.
    """
    source = np.ones(size, np.uint8)
    target = np.empty_like(source)
    np.copyto(target, source)
    return 2 * size / min(_copy_seconds(target, source) for _ in range(repeat))


def _copy_seconds(target: np.ndarray, source: np.ndarray) -> float:
    start = time.perf_counter()
    np.copyto(target, source)
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

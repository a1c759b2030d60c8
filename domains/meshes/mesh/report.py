"""What a build took, and what it made."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from hra.compiling import Stopwatch

_STATUS = Path("/proc/self/status")


@dataclass(frozen=True)
class BuildReport:
    """Facts of one build, as they are stored with the mesh.

    Attributes
    ----------
    cpu_s, wall_s : seconds of all threads, and of the clock, without compilation; reading the file included if `build`
        was given a path.
    rss_mb : most resident memory during the build beyond that before it, in MiB; None where Linux's counters are
        missing. If the process has held more before, what is resident at the end, which may be less.
    threads : that worked on it.
    triangles : of the source; root_triangles : of the coarsest cut.
    levels, clusters, groups : of the hierarchy; a level is a halving, also where it is made of several steps.
    stuck_groups : groups that could not be simplified, and were given other neighbours on a later level. They are part
        of the root only if all of it is stuck as one group.
    merged_islands : groups without a common border that were simplified together with near ones.
    source : name of the file, "" for a mesh in memory.
    settings : the other arguments of `build`.
    """

    cpu_s: float
    wall_s: float
    rss_mb: float | None
    threads: int
    triangles: int
    root_triangles: int
    levels: int
    clusters: int
    groups: int
    stuck_groups: int
    merged_islands: int
    source: str
    settings: dict[str, Any]


class Meter:
    """Seconds and memory since it was made."""

    def __init__(self) -> None:
        self._watch = Stopwatch()
        self._resident, self._peak = _megabytes("VmRSS"), _megabytes("VmHWM")

    def read(self) -> dict[str, Any]:
        """The first three fields of `BuildReport`."""
        peak = _megabytes("VmHWM")
        most = peak if peak > self._peak else _megabytes("VmRSS")
        return {
            "cpu_s": self._watch.cpu,
            "wall_s": self._watch.wall,
            "rss_mb": max(most - self._resident, 0.0) if _STATUS.exists() else None,
        }


def _megabytes(field: str) -> float:
    if not _STATUS.exists():
        return 0.0
    lines = _STATUS.read_text().splitlines()
    return next((int(line.split()[1]) / 1024 for line in lines if line.startswith(field)), 0.0)

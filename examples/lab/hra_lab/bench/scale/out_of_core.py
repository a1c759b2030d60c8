"""A mesh built in parts within a limit of memory, beside the same in memory; what is held is measured from outside."""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from hra import samples
from hra.domains import meshes
from hra_lab.bench.suite import Scale
from hra_lab.inputs.large_meshes import write_repeated

MEMORY = 2**28
_PARTS = """
import json, sys
from hra.compiling import Stopwatch
from hra.domains import meshes
if __name__ == "__main__":
    watch = Stopwatch()
    report = meshes.build_out_of_core(sys.argv[1], sys.argv[2], memory=int(sys.argv[3]))
    print(json.dumps({"cpu_s": watch.cpu, "root_triangles": report.root_triangles, "parts": report.parts}))
"""
_WHOLE = """
import json, sys
from hra.compiling import Stopwatch
from hra.domains import meshes
if __name__ == "__main__":
    watch = Stopwatch()
    meshes.build(sys.argv[1]).save(sys.argv[2])
    print(json.dumps({"cpu_s": watch.cpu}))
"""


@dataclass(frozen=True)
class OutOfCoreRow:
    """Copies of the skull, no two alike, certified; both builds read the file and write one.

    Attributes
    ----------
    full, small : copies of 42,480 triangles; "small" is for tests.
    """

    name: str
    full: int = 60
    small: int = 1
    needs: tuple[str, ...] = ("meshoptimizer:simplify",)

    def measure(self, scale: Scale, repeat: int, bandwidth: float) -> dict[str, Any]:
        """The row, of one run; ``ratio`` is the time in memory over that in parts."""
        copies = self.full if scale == "full" else self.small
        with tempfile.TemporaryDirectory() as name:
            source = Path(name, "copies.stl")
            skull = meshes.load(samples.path("skull.ply"), attributes=False)
            count = write_repeated(source, skull, copies)
            own, seconds, peak = _run(_PARTS, source, Path(name, "parts.hra"), str(MEMORY))
            other, whole_seconds, whole_peak = _run(_WHOLE, source, Path(name, "whole.hra"))
            file_bytes = source.stat().st_size
        return {
            "name": self.name,
            "n": count,
            "ours_s": seconds,
            "ours_cpu_s": own["cpu_s"],
            "peer": "hra in memory",
            "peer_s": whole_seconds,
            "peer_cpu_s": other["cpu_s"],
            "ratio": whole_seconds / seconds,
            "memory": MEMORY,
            "file_over_limit": file_bytes / MEMORY,
            "peak_over_limit": peak / MEMORY,
            "in_core_peak_over_limit": whole_peak / MEMORY,
            "cpu_over_in_core": own["cpu_s"] / other["cpu_s"],
            "root_triangles": own["root_triangles"],
            "parts": own["parts"],
        }


def _run(script: str, *arguments: str | Path) -> tuple[dict[str, Any], float, int]:
    """What a script prints, its seconds, and the most bytes that it and its children were seen to hold."""
    start, peak = time.perf_counter(), 0
    command = [sys.executable, "-W", "ignore", "-c", script, *map(str, arguments)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        while process.poll() is None:
            peak = max(peak, resident_bytes(process.pid))
            time.sleep(0.02)
        text = process.stdout.read() if process.stdout else ""
    if process.returncode:
        raise subprocess.CalledProcessError(process.returncode, command)
    return json.loads(text), time.perf_counter() - start, peak


def resident_bytes(process: int) -> int:
    """What a process and all below it hold now, by Linux's counters; 0 where there are none."""
    try:
        status = Path(f"/proc/{process}/status").read_text().splitlines()
        children = Path(f"/proc/{process}/task/{process}/children").read_text().split()
    except OSError:  # it has ended
        return 0
    own = next((int(line.split()[1]) * 1024 for line in status if line.startswith("VmRSS")), 0)
    return own + sum(resident_bytes(int(child)) for child in children)

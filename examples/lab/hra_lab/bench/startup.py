"""The startup suite: how long commands take from nothing, and the first time, when everything has to be compiled."""

from __future__ import annotations

import os
import statistics
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from typing import Any

from hra import samples
from hra.errors import HraError
from hra_lab.bench.suite import Scale

_MESHES, _PICTURES = ("meshoptimizer:simplify", "trimesh:Trimesh"), ("OpenImageIO:ImageBuf", "matplotlib.figure:Figure")
_CALL = "import sys; from hra.cli import main; sys.argv[0] = 'hra'; main()"


@dataclass(frozen=True)
class StartupBenchmark:
    """A Python process of its own: warm as a median of several, cold once with an empty cache of compiled code.

    Attributes
    ----------
    arguments : of Python; of ``hra`` where they do not begin with "-c". In them ``{folder}`` is a folder for files.
    before : of a process that is not measured and makes what the others read.
    """

    name: str
    arguments: tuple[str, ...]
    needs: tuple[str, ...] = ()
    before: tuple[str, ...] = ()

    def measure(self, scale: Scale, repeat: int, bandwidth: float) -> dict[str, Any]:
        """Seconds of the clock and of all processors; small runs compile first, unmeasured, in the usual cache.

        Raises
        ------
        HraError : the command failed.
        """
        with tempfile.TemporaryDirectory() as folder:
            os.mkdir(f"{folder}/cache")
            cache = {"NUMBA_CACHE_DIR": f"{folder}/cache"} if scale == "full" else {}
            if self.before:
                self._run(self.before, folder, {})
            cold = self._run(self.arguments, folder, cache)
            warm = [self._run(self.arguments, folder, cache) for _ in range(repeat)]
        wall, cpu = (statistics.median(times) for times in zip(*warm, strict=True))
        measured = cold if scale == "full" else (None, None)
        return {
            "name": self.name,
            "wall_s": wall,
            "cpu_s": cpu,
            "cold_wall_s": measured[0],
            "cold_cpu_s": measured[1],
            "peer": None,
        }

    def _run(self, arguments: tuple[str, ...], folder: str, variables: dict[str, str]) -> tuple[float, float]:
        """Seconds of the clock and of the processor that one process takes."""
        code = () if arguments[0] == "-c" else ("-c", _CALL)
        before, start = os.times(), time.perf_counter()
        command = [sys.executable, *code, *(argument.replace("{folder}", folder) for argument in arguments)]
        # Python's own cache of compiled modules belongs to a warm start, however this process was called.
        inherited = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
        done = subprocess.run(command, env={**inherited, **variables}, capture_output=True, text=True)
        wall, after = time.perf_counter() - start, os.times()
        if done.returncode:
            said = done.stderr.strip().replace("\n", "; ") or "nothing"
            what = f"{self.name} ended with exit code {done.returncode} and said: {said}"
            raise HraError(what, where=" ".join(command[2:]), fix="run it by hand")
        used = (after.children_user - before.children_user) + (after.children_system - before.children_system)
        return wall, used


def startup_suite() -> tuple[StartupBenchmark, ...]:
    """All benchmarks, in the order of the table; none has a peer."""
    photo, skull = (str(samples.path(name)) for name in ("photo.jpg", "skull.ply"))
    build, cut = (
        ("mesh", "build", skull, "-o", "{folder}/a.hra"),
        ("mesh", "cut", "{folder}/a.hra", "--triangles", "10k"),
    )
    return (
        StartupBenchmark("python", ("-c", "pass")),
        StartupBenchmark("import_hra", ("-c", "import hra")),
        StartupBenchmark("import_numba", ("-c", "import numba")),
        StartupBenchmark("help", ("--help",)),
        StartupBenchmark("doctor", ("doctor",)),
        StartupBenchmark("tokens_allocate", ("tokens", "allocate", photo), needs=("PIL.Image:open",)),
        StartupBenchmark("mesh_build", build, needs=_MESHES),
        StartupBenchmark("mesh_cut", cut, needs=_MESHES, before=build),
        StartupBenchmark("demo", ("demo", "--out", "{folder}/out"), needs=(*_MESHES, *_PICTURES)),
    )

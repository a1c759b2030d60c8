"""The startup suite: how long commands take from nothing, and the first time, when everything has to be compiled.

Beside them stands what gltfpack takes, where it is found (``npm i gltfpack``, on the path).
"""

from __future__ import annotations

import os
import re
import shutil
import socket
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib import request
from urllib.parse import urlsplit

from hra import samples
from hra.errors import HraError
from hra_lab.bench.suite import Scale

_MESHES, _PICTURES = ("meshoptimizer:simplify", "trimesh:Trimesh"), ("OpenImageIO:ImageBuf", "matplotlib.figure:Figure")
_CALL = "import sys; from hra.cli import main; sys.argv[0] = 'hra'; main()"
# 20,000 Gaussians on a wavy ball.
_SPLATS = """
import sys
import numpy as np
from hra.domains import points
rng = np.random.default_rng(0)
side = rng.normal(size=(20_000, 3))
side /= np.linalg.norm(side, axis=1)[:, None]
places = side * (1 + 0.15 * np.sin(6 * side[:, :1]) * np.cos(5 * side[:, 1:2]))
wide = np.zeros((len(places), 6))
wide[:, [0, 3, 5]] = rng.uniform(0.005, 0.03, places.shape) ** 2
cloud = points.SplatCloud(places, wide, (side + 1) / 2, rng.uniform(0.3, 0.95, len(places)))
points.save_tree(sys.argv[1], points.build(cloud))
"""
_SQUARE = """
import sys
from PIL import Image
Image.open(sys.argv[1]).resize((2048, 2048)).save(sys.argv[2], quality=90)
"""


@dataclass(frozen=True)
class StartupBenchmark:
    """A Python process of its own: warm as a median of several, cold once with an empty cache of compiled code.

    Attributes
    ----------
    arguments : of Python; of ``hra`` where they do not begin with "-c". In them ``{folder}`` is a folder for files.
    before : of a process that is not measured and makes what the others read.
    peer : commands of another program that do the same, one after another; its name is their first word.
    """

    name: str
    arguments: tuple[str, ...]
    needs: tuple[str, ...] = ()
    before: tuple[str, ...] = ()
    peer: tuple[tuple[str, ...], ...] = ()

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
            peer = self._peer(folder, repeat)
        return {**_row(self.name, cold if scale == "full" else None, warm), **peer}

    def _peer(self, folder: str, repeat: int) -> dict[str, Any]:
        """Medians of the peer's seconds of the processor, or why there are none."""
        if not self.peer:
            return {}
        name = self.peer[0][0]
        if shutil.which(name) is None:
            return {"absent": {name: "not found on the path"}}
        commands = [tuple(word.replace("{folder}", folder) for word in command) for command in self.peer]
        times = [sum(_timed(self.name, command, {})[1] for command in commands) for _ in range(repeat)]
        return {"peer": name, "peer_cpu_s": statistics.median(times)}

    def _run(self, arguments: tuple[str, ...], folder: str, variables: dict[str, str]) -> tuple[float, float]:
        """Seconds of the clock and of the processor that one process takes."""
        code = () if arguments[0] == "-c" else ("-c", _CALL)
        words = (argument.replace("{folder}", folder) for argument in arguments)
        return _timed(self.name, (sys.executable, *code, *words), variables)


@dataclass(frozen=True)
class QuestionBenchmark:
    """A question to the page that `hra explore --serve` shows of an image: what the server takes until it is answered.

    Attributes
    ----------
    image : the file; the questions differ, so that none is answered from memory.
    """

    name: str
    image: str
    needs: tuple[str, ...] = ("uvicorn:run", "starlette.applications:Starlette", "multipart:MultipartParser")

    def measure(self, scale: Scale, repeat: int, bandwidth: float) -> dict[str, Any]:
        """Seconds of one server: the first question as the cold one."""
        with self._served() as (address, process):
            times = [self._ask(address, process, f"where is part {number}?") for number in range(repeat + 1)]
        return _row(self.name, times[0], times[1:])

    @contextmanager
    def _served(self) -> Iterator[tuple[str, int]]:
        command = [sys.executable, "-c", _CALL, "explore", self.image, "--serve", "--port", "8765"]
        with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True) as server:
            try:
                said = "" if server.stdout is None else server.stdout.readline()
                if (found := re.search(r"http://\S+", said)) is None:
                    raise HraError(f"the server said {said!r}", where=" ".join(command[3:]), fix="run it by hand")
                _wait_for(found.group())
                yield found.group(), server.pid
            finally:
                server.terminate()

    def _ask(self, address: str, process: int, question: str) -> tuple[float, float]:
        border = "hra-question"
        lines = [f"--{border}", 'Content-Disposition: form-data; name="query"', "", question, f"--{border}--", ""]
        kind = {"Content-Type": f"multipart/form-data; boundary={border}", "Origin": address.rstrip("/")}
        asked = request.Request(address, "\r\n".join(lines).encode(), kind)
        cpu, wall = _cpu_seconds(process), time.perf_counter()
        with request.urlopen(asked) as answer:
            answer.read()
        return time.perf_counter() - wall, _cpu_seconds(process) - cpu


def _wait_for(address: str) -> None:
    """Until a server listens: it says its address before."""
    place = urlsplit(address)
    for _ in range(100):
        try:
            return socket.create_connection((place.hostname, place.port)).close()
        except ConnectionRefusedError:
            time.sleep(0.1)
    raise HraError(f"nothing listens at {address}", where="hra explore --serve", fix="run it by hand")


def _cpu_seconds(process: int) -> float:
    """What a process has used so far, as Linux counts it."""
    after_name = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
    return (int(after_name[11]) + int(after_name[12])) / os.sysconf("SC_CLK_TCK")


def _row(name: str, cold: tuple[float, float] | None, warm: list[tuple[float, float]]) -> dict[str, Any]:
    (wall, cpu), first = map(statistics.median, zip(*warm, strict=True)), cold or (None, None)
    return {
        "name": name,
        "wall_s": wall,
        "cpu_s": cpu,
        "cold_wall_s": first[0],
        "cold_cpu_s": first[1],
        "peer": None,
        "peer_cpu_s": None,
    }


def _timed(name: str, command: tuple[str, ...], variables: dict[str, str]) -> tuple[float, float]:
    """Seconds of the clock and of the processor that a process and its children take."""
    # Python's own cache of compiled modules belongs to a warm start, however this process was called.
    inherited = {key: value for key, value in os.environ.items() if key != "PYTHONDONTWRITEBYTECODE"}
    before, start = os.times(), time.perf_counter()
    done = subprocess.run(command, env={**inherited, **variables}, capture_output=True, text=True)
    wall, after = time.perf_counter() - start, os.times()
    if done.returncode:
        said = done.stderr.strip().replace("\n", "; ") or "nothing"
        what = f"{name} ended with exit code {done.returncode} and said: {said}"
        raise HraError(what, where=" ".join(command[2:]), fix="run it by hand")
    used = (after.children_user - before.children_user) + (after.children_system - before.children_system)
    return wall, used


def startup_suite() -> tuple[StartupBenchmark | QuestionBenchmark, ...]:
    """All benchmarks, in the order of the table."""
    names = ("photo.jpg", "page.png", "earth.jpg", "skull.ply")
    photo, page, earth, skull = (str(samples.path(name)) for name in names)
    build, cut = (
        ("mesh", "build", skull, "-o", "{folder}/a.hra"),
        ("mesh", "cut", "{folder}/a.hra", "--triangles", "10k"),
    )
    # As many triangles as the statue of an engine's examples.
    statue = ("mesh", "lods", skull, "--triangles", "16259", "-o", "{folder}/statue.glb")
    ratios = (".5", ".25", ".1")
    lods = ("mesh", "lods", "{folder}/statue.glb", "--ratios", ",".join(ratios), "-o", "{folder}/lods")
    pack = tuple(
        ("gltfpack", "-i", "{folder}/statue.glb", "-o", "{folder}/p.glb", "-si", f"0{each}") for each in ratios
    )
    packed = tuple((*pack, f"0{each}") for each in ratios)
    render = ("points", "render", "{folder}/a.hpt", "-o", "{folder}/a.png")
    replay = ("texture", "replay", "{folder}/a.jpg", "--pool", "1MiB")
    pillow, splats = ("PIL.Image:open",), ("-c", _SPLATS, "{folder}/a.hpt")
    return (
        StartupBenchmark("python", ("-c", "pass")),
        StartupBenchmark("import_hra", ("-c", "import hra")),
        StartupBenchmark("import_numba", ("-c", "import numba")),
        StartupBenchmark("help", ("--help",)),
        StartupBenchmark("doctor", ("doctor",)),
        StartupBenchmark("tokens_allocate", ("tokens", "allocate", photo), needs=pillow),
        StartupBenchmark("tokens_allocate_page", ("tokens", "allocate", page), needs=pillow),
        StartupBenchmark("mesh_lods", lods, needs=_MESHES, before=statue, peer=packed),
        StartupBenchmark("mesh_build", build, needs=_MESHES),
        StartupBenchmark("mesh_cut", cut, needs=_MESHES, before=build),
        StartupBenchmark("points_render", render, needs=pillow, before=splats),
        StartupBenchmark("points_render_budget", (*render, "--points", "5k"), needs=pillow, before=splats),
        QuestionBenchmark("explore_question", page),
        StartupBenchmark("texture_replay", replay, needs=_PICTURES, before=("-c", _SQUARE, earth, "{folder}/a.jpg")),
        StartupBenchmark("demo", ("demo", "--out", "{folder}/out"), needs=(*_MESHES, *_PICTURES)),
    )

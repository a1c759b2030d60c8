"""``hra warm-up``: compile everything once, in parallel, so that no later command waits for it."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from pathlib import Path
from typing import Any

import typer

from hra import samples
from hra.console import JsonOption, running, show, write_json
from hra.errors import HraError

_CALL = "import sys; from hra.cli import main; sys.argv[0] = 'hra'; main()"
# Every traversal on a tree and on a graph, and what verifies them.
_CORE = """
import hra
from hra.cli.solve_everything import solve_everything
solve_everything()
"""
# 2,000 Gaussians on a ball.
_SPLATS = """
import sys
import numpy as np
from hra.domains import points
side = np.random.default_rng(0).normal(size=(2_000, 3))
side /= np.linalg.norm(side, axis=1)[:, None]
wide = np.zeros((len(side), 6))
wide[:, [0, 3, 5]] = 1e-4
cloud = points.SplatCloud(side, wide, (side + 1) / 2, np.full(len(side), 0.5))
points.save_tree(sys.argv[1], points.build(cloud))
"""


def warm_up(json_file: JsonOption = None) -> None:
    """Compile everything for this machine, once; takes all processors for a minute or two.

    Runs small examples of every domain. Skips missing extras and names them.
    """
    with tempfile.TemporaryDirectory() as folder, running("compiling everything") as say:
        record = _run_all(_chores(Path(folder)), say)
    failed = {name: row["said"] for name, row in record.items() if row["said"] and not row["skipped"]}
    write_json(json_file, record)
    show("compiled", ((name, f"{row['seconds']:.1f} s{_note(row)}") for name, row in record.items()))
    if failed:
        what = "; ".join(f"{name}: {said}" for name, said in failed.items())
        raise HraError(f"not everything was compiled: {what}", where="hra warm-up", fix="run that command by hand")
    typer.echo("nothing is left to compile for the commands of these domains")


def _note(row: dict[str, Any]) -> str:
    return f", skipped: {row['said']}" if row["skipped"] else ""


def _chores(folder: Path) -> dict[str, list[Sequence[str]]]:
    """Commands in order of their compile time, the longest first."""
    skull, built = str(samples.path("skull.ply")), str(folder / "skull.hra")
    statue, cloud, splats = (str(folder / name) for name in ("statue.glb", "skull.hpt", "splats.hpt"))
    photo, page, earth = (str(samples.path(name)) for name in ("photo.jpg", "page.png", "earth.jpg"))
    cut = ("mesh", "cut", built)
    return {
        "meshes": [
            ("mesh", "build", skull, "-o", built),
            (*cut, "--bytes", "200kB", "-o", str(folder / "a.glb")),
            (*cut, "--triangles", "9k", "--azimuth", "30", "-o", str(folder / "b.glb")),
            (*cut, "--pixels", "4", "--azimuth", "30"),
            ("mesh", "lods", built, "--ratios", ".5,.2", "-o", str(folder / "lods")),
            ("mesh", "lods", skull, "--triangles", "4k", "-o", statue),
            ("mesh", "lods", statue, "--ratios", ".5,.2", "-o", str(folder / "lods")),
            ("mesh", "check", built, "--cuts", "3"),
        ],
        "tokens": [
            ("tokens", "allocate", photo),
            ("tokens", "allocate", page),
            ("tokens", "compare", page, "--query", "top left", "--budget", "64"),
        ],
        "core": [("-c", _CORE), ("doctor",)],
        "textures": [
            ("texture", "plan", photo, "--pool", "1MiB"),
            ("texture", "replay", earth, "--pool", "4MiB", "--frames", "4"),
        ],
        "points": [
            ("points", "build", skull, "-o", cloud),
            ("-c", _SPLATS, splats),
            *(("points", "cut", tree, "--points", "500", "-o", str(folder / "cut.ply")) for tree in (cloud, splats)),
            *(("points", "render", tree, "-o", str(folder / "a.png")) for tree in (cloud, splats)),
            *(("points", "render", tree, "--points", "500", "-o", str(folder / "a.png")) for tree in (cloud, splats)),
        ],
    }


def _run_all(chores: dict[str, list[Sequence[str]]], say: Any) -> dict[str, dict[str, Any]]:
    """Seconds of each group of commands, and what it said if it did not end well."""
    record: dict[str, dict[str, Any]] = {}
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()  # Linux alone has it
    with ThreadPoolExecutor(cores) as workers:
        started = {workers.submit(_run, commands): name for name, commands in chores.items()}
        for done in as_completed(started):
            record[started[done]] = done.result()
            left = ", ".join(name for name in chores if name not in record)
            say(f"compiling everything, left: {left or 'nothing'}")
    return {name: record[name] for name in chores}


def _run(commands: list[Sequence[str]]) -> dict[str, Any]:
    start = time.perf_counter()
    for command in commands:
        code = () if command[0] == "-c" else ("-c", _CALL)
        done = subprocess.run([sys.executable, *code, *command], capture_output=True, text=True)
        if done.returncode:
            said = (done.stderr.strip() or "nothing").splitlines()
            error = next((line.removeprefix("error: ") for line in said if line.startswith("error: ")), said[-1])
            missing = "is not installed" in error
            return {"seconds": time.perf_counter() - start, "said": error, "skipped": missing}
    return {"seconds": time.perf_counter() - start, "said": "", "skipped": False}

#!/usr/bin/env python
"""Install hra with the lowest or the newest versions of its packages into new environments, and try it; prints a table.

Run ``python scripts/check_matrix.py [--packages lowest,newest] [--extras demo] [--pythons python3.11,python3.12]
[--docs docs/promises.md]`` (`make matrix`). Every Python is tried with every choice of versions and every one of
``--extras``, which are separated by semicolons; nothing stands for the core alone. The lowest versions are the bounds
of pyproject.toml. A Python that is not there is said to be so. The exit code is 1 if installing or trying failed, but
for lowest versions that have no wheels for a Python that came after them.
"""

from __future__ import annotations

import argparse
import re
import shutil
import subprocess
import sys
import tempfile
import tomllib
from itertools import chain, product
from pathlib import Path

ROOT = Path(__file__).parents[1]
BEGIN, END = "<!-- made by scripts/check_matrix.py -->", "<!-- until here, by scripts/check_matrix.py -->"
_WORKS, _NONE, _NO_WHEELS = "installed and works", "not on this machine", "no wheels of these versions"
TRIAL = """
import numpy as np, hra
tree = hra.Hierarchy.tree([-1, 0, 0, 1, 1], [0, 2, 3, 1, 4])
allocation = hra.solve(tree, 5, gains=[0, 3, 2, 1, 5], traversal=hra.Exact())
assert hra.verify(allocation).ok and allocation.cost <= 5, allocation
extras = {extras!r}.split(",")
if "demo" in extras:
    from hra.domains import meshes, tokens
    skull = meshes.load(hra.samples.path("skull.ply"))
    cut = meshes.MeshAllocator(meshes.build(skull)).allocate(hra.Camera.orbit(skull.bounds, azimuth=30), 10_000)
    assert cut.cost <= 10_000, cut
    chosen = tokens.PyramidSampling()
    assert len(chosen.realize(chosen.allocate((hra.samples.path("page.png"), ""), 64)).values) == 64
if "points" in extras:
    from hra.domains import points
    assert len(points.build(points.PointCloud(np.random.default_rng(0).random((50, 3)))).hierarchy) > 0
if "corpus" in extras:
    import pyarrow, pyarrow.parquet
if "serve" in extras:
    from hra.lab.explore.server import Asked, application
    application(str, Asked())
import numba
print(f"numpy {{np.__version__}}, numba {{numba.__version__}}")
"""


def main() -> int:
    """Install and try each; the exit code."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--packages", default="lowest,newest")
    parser.add_argument("--extras", default="demo", help="extras to install, or nothing for the core alone")
    parser.add_argument("--pythons", default=sys.executable)
    parser.add_argument("--docs", type=Path, help="page whose table is replaced")
    chosen = parser.parse_args()
    rows = ["| Python | packages | extras | result |", "| -- | -- | -- | -- |"]
    every = product(chosen.pythons.split(","), chosen.packages.split(","), chosen.extras.split(";"))
    failed = False
    for python, packages, extras in every:
        version, result = _tried(python, packages, extras)
        failed |= not result.startswith((_WORKS, _NONE, _NO_WHEELS)) or (result == _NO_WHEELS and packages == "newest")
        rows.append(f"| {version} | {packages} | {extras.replace(',', ', ') or 'none'} | {result} |")
        print(rows[-1], file=sys.stderr, flush=True)
    print("\n".join(rows))
    if chosen.docs is not None:
        head, _, rest = chosen.docs.read_text().partition(BEGIN)
        chosen.docs.write_text("\n".join([head + BEGIN, *rows, END]) + rest.partition(END)[2])
    return 1 if failed else 0


def _tried(python: str, packages: str, extras: str) -> tuple[str, str]:
    """The version of a Python, and what came of it."""
    if shutil.which(python) is None:
        return Path(python).name, _NONE
    version = _run([python, "-c", "import platform; print(platform.python_version())"])
    if version.returncode:
        return Path(python).name, _NONE
    with tempfile.TemporaryDirectory() as folder:
        inside, bounds = Path(folder, "env/bin/python"), Path(folder, "bounds.txt")
        bounds.write_text("\n".join(lowest()) if packages == "lowest" else "")
        target = f"{ROOT}[{extras}]" if extras else str(ROOT)
        # What has no wheel for this Python is not built from its sources.
        install = ["install", "-q", "--only-binary=:all:", "--no-binary=hra", target, "-c", str(bounds)]
        steps = [
            [python, "-m", "venv", f"{folder}/env"],
            [str(inside), "-m", "pip", *install],
            [str(inside), "-O", "-I", "-c", "import hra"],
            [str(inside), "-I", "-c", TRIAL.format(extras=extras)],
        ]
        for step in steps:
            done = _run(step, folder)
            if done.returncode and "No matching distribution" in done.stderr:
                return version.stdout.strip(), _NO_WHEELS
            if done.returncode:
                print(f"{done.stdout[-2000:]}{done.stderr[-2000:]}", file=sys.stderr)
                return version.stdout.strip(), f"FAILED: {(done.stderr.strip().splitlines() or ['?'])[-1][:200]}"
    return version.stdout.strip(), f"{_WORKS}: {done.stdout.strip()}"


def _run(command: list[str], folder: str | None = None) -> subprocess.CompletedProcess[str]:
    return subprocess.run(command, cwd=folder, capture_output=True, text=True)


def lowest() -> list[str]:
    """The bounds of all direct dependencies as exact versions."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    everything = [*project["dependencies"], *chain.from_iterable(project["optional-dependencies"].values())]
    found = (re.fullmatch(r"([\w.-]+)(?:\[[\w,]+\])?>=([\w.]+)", requirement) for requirement in everything)
    bounds: dict[str, list[str]] = {}
    for match in filter(None, found):
        bounds.setdefault(match[1], []).append(match[2])
    # Where extras state several, all of them together take the highest.
    return sorted(f"{name}=={max(some, key=_numbers)}" for name, some in bounds.items())


def _numbers(version: str) -> list[int]:
    return [int(part) for part in version.split(".")]


if __name__ == "__main__":
    sys.exit(main())

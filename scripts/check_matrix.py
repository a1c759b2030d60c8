#!/usr/bin/env python
"""Install hra with the lowest or the newest versions of its packages, into a new environment, and try it.

Run ``python scripts/check_matrix.py [--packages lowest|newest] [--extras demo] [--python python3.12]``.
The lowest versions are the bounds of pyproject.toml. The exit code is 1 if
installing or trying failed.
"""

from __future__ import annotations

import argparse
import re
import subprocess
import sys
import tempfile
import tomllib
from itertools import chain
from pathlib import Path

ROOT = Path(__file__).parents[1]
TRIAL = """
import numpy as np, hra
tree = hra.Hierarchy.tree([-1, 0, 0, 1, 1], [0, 2, 3, 1, 4])
allocation = hra.solve(tree, 5, gains=[0, 3, 2, 1, 5], traversal=hra.Exact())
assert hra.verify(allocation).ok and allocation.cost <= 5, allocation
if {extras!r}:
    from hra.domains import meshes, tokens
    skull = meshes.load(hra.samples.path("skull.ply"))
    cut = meshes.MeshAllocator(meshes.build(skull)).allocate(hra.Camera.orbit(skull.bounds, azimuth=30), 10_000)
    assert cut.cost <= 10_000, cut
    chosen = tokens.PyramidSampling()
    assert len(chosen.realize(chosen.allocate((hra.samples.path("page.png"), ""), 64)).values) == 64
"""


def main() -> int:
    """Install and try; the exit code."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--packages", choices=["lowest", "newest"], default="newest")
    parser.add_argument("--extras", default="demo", help="extras to install, or nothing for the core alone")
    parser.add_argument("--python", default=sys.executable)
    chosen = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        python, bounds = Path(folder, "env/bin/python"), Path(folder, "bounds.txt")
        bounds.write_text("\n".join(lowest()) if chosen.packages == "lowest" else "")
        target = f"{ROOT}[{chosen.extras}]" if chosen.extras else str(ROOT)
        steps = [
            [chosen.python, "-m", "venv", f"{folder}/env"],
            [str(python), "-m", "pip", "install", "-q", target, "-c", str(bounds)],
            [str(python), "-O", "-I", "-c", "import hra"],
            [str(python), "-I", "-c", TRIAL.format(extras=chosen.extras)],
        ]
        for step in steps:
            done = subprocess.run(step, cwd=folder, capture_output=True, text=True)
            if done.returncode:
                print(f"{chosen.python}, {chosen.packages}: FAILED\n{done.stdout[-2000:]}{done.stderr[-2000:]}")
                return 1
    print(f"{chosen.python}, {chosen.packages} versions, extras {chosen.extras or 'none'}: installed and works")
    return 0


def lowest() -> list[str]:
    """The bounds of all direct dependencies as exact versions."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    everything = [*project["dependencies"], *chain.from_iterable(project["optional-dependencies"].values())]
    found = (re.fullmatch(r"([\w.-]+)>=([\w.]+)", requirement) for requirement in everything)
    return sorted({f"{match[1]}=={match[2]}" for match in found if match})


if __name__ == "__main__":
    sys.exit(main())

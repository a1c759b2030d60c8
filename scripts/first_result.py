#!/usr/bin/env python
"""Measure the time from ``pip install`` of the built wheel to the first picture, in a fresh virtual environment.

Run ``python scripts/first_result.py [FOLDER]``; prints a table in Markdown. What pip has in its cache is used,
what Numba compiled elsewhere is not.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

ROOT = Path(__file__).parents[1]


def main(folder: Path) -> None:
    """One line for each step, and the sum."""
    run(sys.executable, "-m", "build", "--wheel", "--outdir", folder, ROOT)
    (wheel,) = folder.glob("*.whl")
    python, hra = folder / "venv/bin/python", folder / "venv/bin/hra"
    samples = "import hra.samples as s; print(s.path('page.png').parent)"
    steps = {
        "a virtual environment": lambda: run(sys.executable, "-m", "venv", folder / "venv"),
        "`pip install 'hra[demo]'` from the wheel": lambda: run(
            python, "-m", "pip", "install", "-q", f"{wheel}[demo]", "-c", ROOT / "constraints.txt"
        ),
    }
    print("| step | s |\n| --- | ---: |")
    total = sum(timed(name, step) for name, step in steps.items())
    data = Path(run(python, "-c", samples).strip())
    page, skull = data / "page.png", data / "skull.ply"
    sheet = ("tokens", "allocate", page, "--relevance", "uniform", "--budget", "273", "-o", folder / "page.png")
    total += timed("the first picture: `hra tokens allocate page.png -o sheet.png`", lambda: run(hra, *sheet))
    print(f"| **from nothing to the first picture** | **{total:.0f}** |")
    timed("the same command again", lambda: run(hra, *sheet))
    levels = ("mesh", "lods", skull, "--triangles", "5k,1k", "-o", folder / "levels")
    timed("the first levels of detail: `hra mesh lods skull.ply`", lambda: run(hra, *levels))
    timed("the first page to move a budget on: `hra explore skull.ply`", lambda: run(hra, "explore", skull))
    print(f"\nLoad average {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores.")


def timed(name: str, step: Callable[[], str]) -> float:
    """Run a step, and print how long it took."""
    begin = time.perf_counter()
    step()
    seconds = time.perf_counter() - begin
    print(f"| {name} | {seconds:.1f} |", flush=True)
    return seconds


def run(*command: object) -> str:
    """What a command prints; its failure ends the measurement."""
    with tempfile.TemporaryDirectory() as folder:
        done = subprocess.run([str(part) for part in command], cwd=folder, capture_output=True, text=True, check=False)
    if done.returncode:
        raise SystemExit(f"{command}: {done.stderr[-2000:]}")
    return done.stdout


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path, nargs="?")
    if folder := parser.parse_args().folder:
        main(folder.absolute())
    else:
        with tempfile.TemporaryDirectory() as made:
            main(Path(made))

#!/usr/bin/env python
"""Build every mesh of a folder and check it on random cuts, as `hra mesh check` does; prints a Markdown table.

Run ``python scripts/check_meshes.py [FOLDER] [--cuts N] [--certified]``; `make data` fills the default, data/meshes.
The exit code is 1 if a build fails, a check finds something, or a cut of a closed mesh is open. Files that are refused
with a typed error while they are read are listed, but no failure.
"""

from __future__ import annotations

import argparse
import sys
import time
import warnings
from pathlib import Path

import numpy as np

from hra.domains import meshes
from hra.domains.meshes.files.suffixes import READ
from hra.errors import FileError, HraError, HraWarning, MeshError


def main() -> int:
    """Check the folder; the exit code."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", nargs="?", type=Path, default=Path("data/meshes"))
    parser.add_argument("--cuts", type=int, default=200, help="random cuts per mesh")
    parser.add_argument("--certified", action="store_true", help="also bound the deviation and measure it on samples")
    chosen = parser.parse_args()
    warnings.simplefilter("ignore", HraWarning)  # repairs of hard cases are expected
    files = sorted(file for file in chosen.folder.glob("*") if file.suffix.lower() in READ)
    if not files:
        print(f"no meshes in {chosen.folder}; `make data` fetches some", file=sys.stderr)
        return 1
    print("| mesh | triangles | closed | levels | root | check | CPU s |")
    print("| --- | ---: | --- | ---: | ---: | --- | ---: |")
    failed = [file.name for file in files if not _passes(file, chosen.cuts, chosen.certified)]
    print(f"\n{len(files) - len(failed)} of {len(files)} meshes pass" + f"; not {', '.join(failed)}" * bool(failed))
    return 1 if failed else 0


def _passes(file: Path, cuts: int, certified: bool) -> bool:
    """Print the line of one mesh; whether nothing was violated."""
    try:
        source = meshes.load(file)
    except (FileError, MeshError) as error:
        print(f"| {file.name} | | | | | refused: {error.what} | |", flush=True)
        return True
    start = time.process_time()
    try:
        clusters = meshes.build(source, certified=certified)
    except HraError as error:
        print(f"| {file.name} | {len(source.triangles):,} | | | | the build failed: {error.what} | |", flush=True)
        return False
    seconds = time.process_time() - start
    report = meshes.check(clusters, cuts=cuts)
    found = {name: count for name, count in vars(report).items() if name in _violations() and count}
    if report.closed and not _stays_closed(clusters):
        found["opened"] = True
    words = ", ".join(f"{name} {count}" for name, count in found.items()) or "ok"
    levels = int(clusters.hierarchy.attribute("level").max()) + 1
    print(
        f"| {file.name} | {clusters.triangle_count:,} | {'yes' if report.closed else 'no'} | {levels} "
        f"| {clusters.root_triangle_count:,} | {words} | {seconds:.2f} |",
        flush=True,
    )
    return report.sound and not found


def _violations() -> set[str]:
    """The counts of a report that a sound mesh has at 0: those before the number of cuts."""
    names = list(meshes.CheckReport.__dataclass_fields__)
    return set(names[: names.index("cuts")])


def _stays_closed(clusters: meshes.ClusterMesh) -> bool:
    """Whether the coarsest cut and one of each level are closed."""
    hierarchy = clusters.hierarchy
    level = hierarchy.attribute("level")
    offsets, removed = hierarchy.removed_nodes
    made_at = level[removed[offsets[:-1]]]
    cuts = (hierarchy.active_nodes(made_at >= at) for at in range(1, int(level.max()) + 2))
    return all(meshes.is_closed(clusters.mesh(np.flatnonzero(cut))) for cut in cuts)


if __name__ == "__main__":
    sys.exit(main())

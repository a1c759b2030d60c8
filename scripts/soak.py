#!/usr/bin/env python
"""Stream and allocate with random cameras and budgets in one process for minutes, and print how memory went.

Run ``python scripts/soak.py [--minutes 10]``. Each round allocates the sample mesh, serves a frame of a pool of bytes
that wants what a random allocation took, and chooses tokens of an image of random size; every budget is checked. The
slope is that of a straight line through the resident memory of the second half, in MiB an hour. The exit code is 1 if a
budget was exceeded.
"""

from __future__ import annotations

import argparse
import sys
import time
from pathlib import Path

import numpy as np

import hra
from hra.domains import meshes, tokens
from hra.residency import ResidentPool


class Rounds:
    """What is streamed and allocated, again and again."""

    def __init__(self, seed: int) -> None:
        self.rng, self.skull = np.random.default_rng(seed), meshes.build(hra.samples.path("skull.ply"))
        self.meshes, self.tokens = meshes.MeshAllocator(self.skull), tokens.PyramidSampling()
        parents = np.r_[-1, self.rng.integers(0, np.arange(1, 500))]
        self.parents, self.cost = parents, self.rng.integers(1, 9, 500)
        self.bytes = ResidentPool(self.cost, parents, pool_bytes=400, upload_bytes=60)
        self.pages = hra.Hierarchy.tree(parents, self.cost, mode="add")
        self.exceeded, self.last = 0, None

    def run(self) -> None:
        """One round of everything."""
        camera = hra.Camera.orbit(self.skull.bounds, azimuth=float(self.rng.uniform(0, 360)), up=(0, 0, 1))
        budget = float(self.rng.uniform(self.skull.hierarchy.base_cost, self.skull.triangle_count))
        self.last = self.meshes.allocate(camera, budget)
        wanted = hra.solve(self.pages, float(self.rng.uniform(50, 400)), gains=self.rng.random(500))
        self.bytes.advance(wanted.cut)
        count = int(self.rng.integers(16, 400))
        image = self.rng.random((int(self.rng.integers(64, 256)), 200, 3), dtype=np.float32)
        chosen = self.tokens.allocate((image, "centre"), count)
        limits = ((self.last.cost, budget), (self.bytes.used_bytes, 400), (chosen.cost, count))
        self.exceeded += sum(used > limit for used, limit in limits)


def resident() -> float:
    """MiB of this process in memory."""
    return int(Path("/proc/self/statm").read_text().split()[1]) * 4096 / 2**20


def soak(minutes: float, seed: int = 0) -> dict[str, float]:
    """Rounds, budgets that were exceeded, memory at the half and at the end, and its slope."""
    rounds, done, seen = Rounds(seed), 0, []
    begin = time.monotonic()
    while (now := time.monotonic() - begin) < minutes * 60:
        rounds.run()
        done += 1
        seen.append((now / 3600, resident()))
    late = np.array(seen[len(seen) // 2 :])
    slope = np.polynomial.Polynomial.fit(late[:, 0], late[:, 1], 1).convert().coef[1]
    return {"rounds": done, "exceeded": rounds.exceeded, "half": late[0, 1], "end": late[-1, 1], "slope": slope}


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--minutes", type=float, default=10)
    found = soak(parser.parse_args().minutes)
    print(", ".join(f"{name} {value:,.1f}" for name, value in found.items()))
    sys.exit(1 if found["exceeded"] else 0)

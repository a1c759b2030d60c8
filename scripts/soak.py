#!/usr/bin/env python
"""Stream, allocate and answer the explorer with random cameras and budgets in one process; print how memory went.

Run ``python scripts/soak.py [--minutes 10] [--memory 4096]``. Each round allocates the sample mesh, serves a frame of a
pool of bytes that wants what a random allocation took, and chooses tokens of an image of random size; every
`_PAGE`-th asks the explorer's server for a page, with an uploaded image, and opens the mesh's file anew. Every budget
is checked; what the process may address is bounded. Slopes are those of straight lines through the last two thirds, by
when every cache has been filled: resident memory in MiB an hour, and blocks that Python holds, in thousands an hour.
The exit code is 1 if a budget was exceeded or a page was not made.
"""

from __future__ import annotations

import argparse
import io
import os
import resource
import sys
import tempfile
import time
import warnings
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import numpy as np
from PIL import Image

import hra
from hra.domains import meshes, tokens
from hra.residency import ResidentPool

_PAGE, _SAMPLES = 40, 1000


class Rounds:
    """What is streamed, allocated and asked, again and again."""

    def __init__(self, seed: int, folder: Path) -> None:
        self.rng, self.skull = np.random.default_rng(seed), meshes.build(hra.samples.path("skull.ply"))
        self.file = folder / "skull.hra"
        self.skull.save(self.file)
        self.meshes, self.tokens = meshes.MeshAllocator(self.skull), tokens.PyramidSampling()
        parents = np.r_[-1, self.rng.integers(0, np.arange(1, 500))]
        self.parents, self.cost = parents, self.rng.integers(1, 9, 500)
        self.bytes = ResidentPool(self.cost, parents, pool_bytes=400, upload_bytes=60)
        self.pages = hra.Hierarchy.tree(parents, self.cost, mode="add")
        self.client, self.done, self.exceeded, self.refused = _client(folder), 0, 0, 0

    def run(self) -> None:
        """One round of everything."""
        cut, budget = self._mesh()
        wanted = hra.solve(self.pages, float(self.rng.uniform(50, 400)), gains=self.rng.random(500))
        self.bytes.advance(wanted.cut)
        count = int(self.rng.integers(16, 400))
        chosen = self.tokens.allocate((self._image(), "centre"), count)
        limits = ((cut.cost, budget), (self.bytes.used_bytes, 400), (chosen.cost, count))
        self.exceeded += sum(used > limit for used, limit in limits)
        if self.done % _PAGE == 0:
            self._page()
        self.done += 1

    def _mesh(self) -> tuple[Any, float]:
        azimuth = float(self.rng.uniform(0, 360))
        camera = hra.Camera.orbit(self.skull.bounds, azimuth=azimuth, up=(0, 0, 1))
        budget = float(self.rng.uniform(self.skull.hierarchy.base_cost, self.skull.triangle_count))
        return self.meshes.allocate(camera, budget), budget

    def _image(self) -> np.ndarray:
        return self.rng.random((int(self.rng.integers(64, 256)), 200, 3), dtype=np.float32)

    def _page(self) -> None:
        """Another copy of the mesh, and a page of the explorer."""
        again = meshes.load_clusters(self.file)
        if again.triangle_count != self.skull.triangle_count:
            self.refused += 1
        content = io.BytesIO()
        Image.fromarray((self._image() * 255).astype(np.uint8)).save(content, "PNG")
        asked = {"query": "what is red?", "azimuth": str(self.rng.uniform(-360, 360)), "elevation": "10"}
        answer = self.client.post("/", data=asked, files={"image": ("a.png", content.getvalue(), "image/png")})
        self.refused += answer.status_code != 200 or "</html>" not in answer.text


def _client(folder: Path) -> Any:
    """The explorer's server on an image, asked without a socket."""
    from starlette.testclient import TestClient

    from hra.pages.explore.page import render
    from hra.pages.explore.request import PageRequest, views_of
    from hra.pages.explore.server import Asked, application, form

    source = folder / "a.png"
    Image.fromarray(np.zeros((64, 64, 3), np.uint8)).save(source)

    def make(asked: Asked) -> str:
        request = PageRequest(
            ((source, "tokens"),), asked.query, None, False, asked.azimuth, asked.elevation, asked.image
        )
        return render(request.title, views_of(request, lambda text: None), form(asked))

    here = "http://127.0.0.1:8000"
    return TestClient(application(make, Asked("first")), base_url=here, headers={"Origin": here})


def held() -> tuple[float, float, int]:
    """MiB of this process in memory, thousands of blocks of Python's, and open files."""
    resident = int(Path("/proc/self/statm").read_text().split()[1]) * resource.getpagesize() / 2**20
    return resident, sys.getallocatedblocks() / 1000, len(os.listdir("/proc/self/fd"))


def soak(minutes: float, seed: int = 0) -> dict[str, float]:
    """Rounds, what went wrong, and memory: after a third of the time, at the end, at most, and its slopes."""
    rows, taken = np.zeros((_SAMPLES, 4)), 0  # of one size from the start: a list of them would be what grows
    with ExitStack() as stack:
        rounds = Rounds(seed, Path(stack.enter_context(tempfile.TemporaryDirectory())))
        stack.enter_context(rounds.client)  # one loop for all requests, as a server has
        stack.enter_context(warnings.catch_warnings())
        warnings.simplefilter("ignore")
        begin = time.monotonic()
        while (share := (time.monotonic() - begin) / (minutes * 60)) < 1:
            rounds.run()
            if share >= taken / _SAMPLES:
                rows[taken] = share * minutes / 60, *held()
                taken += 1
    rows = rows[:taken]
    late = rows[rows[:, 0] >= rows[-1, 0] / 3]
    found = {"rounds": rounds.done, "exceeded": rounds.exceeded, "pages not made": rounds.refused}
    found |= {"MiB after warm-up": late[0, 1], "MiB at the end": late[-1, 1], "MiB at most": rows[:, 1].max()}
    found |= {"MiB an hour": _slope(late[:, 0], late[:, 1]), "1000 blocks an hour": _slope(late[:, 0], late[:, 2])}
    return found | {"files more": late[-1, 3] - late[0, 3]}


def _slope(hours: np.ndarray, values: np.ndarray) -> float:
    return float(np.polynomial.Polynomial.fit(hours, values, 1).convert().coef[-1]) if len(hours) > 1 else 0.0


def main() -> int:
    """Soak and print; the exit code."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--minutes", type=float, default=10)
    parser.add_argument("--memory", type=int, default=4096, help="MiB that the process may address")
    chosen = parser.parse_args()
    resource.setrlimit(resource.RLIMIT_AS, (chosen.memory << 20, chosen.memory << 20))
    found = soak(chosen.minutes)
    print(", ".join(f"{name} {value:,.1f}" for name, value in found.items()))
    return 1 if found["exceeded"] or found["pages not made"] else 0


if __name__ == "__main__":
    sys.exit(main())

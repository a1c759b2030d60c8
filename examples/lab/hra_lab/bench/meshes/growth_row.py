"""Row: how the time of a build grows with the mesh."""

from __future__ import annotations

import statistics
import time
from dataclasses import dataclass
from typing import Any

from hra.domains import meshes
from hra_lab.bench.meshes.fresh import fresh_build_bytes
from hra_lab.bench.suite import Scale
from hra_lab.inputs.mesh_sources import bumpy


@dataclass(frozen=True)
class GrowthBenchmark:
    """Displaced spheres, each of four times the triangles; processor time per triangle should stay the same."""

    name: str
    needs: tuple[str, ...] = ("trimesh:creation", "meshoptimizer:simplify")

    def measure(self, scale: Scale, repeat: int, bandwidth: float) -> dict[str, Any]:
        """The row of the largest sphere; ``growth`` is its processor time per triangle over that of the smallest.

        ``by_triangles`` has the median processor seconds of every size.
        """
        sizes = (6, 7, 8, 9) if scale == "full" else (3, 4)
        cpu, wall = {}, {}
        for subdivisions in sizes:
            triangles = 20 * 4**subdivisions
            cpu[triangles], wall[triangles] = _build_seconds(subdivisions, repeat)
        first, last = min(cpu), max(cpu)
        memory = fresh_build_bytes(bumpy(sizes[-1]), certified=False)
        return {
            "name": self.name,
            "n": last,
            "ours_s": wall[last],
            "wall_s": wall[last],
            "cpu_s": cpu[last],
            "rss_mb": None if memory is None else memory / 2**20,
            **dict.fromkeys(("peer", "peer_s", "peer_cpu_s", "ratio", "cpu_ratio")),
            "growth": cpu[last] / last / (cpu[first] / first),
            "by_triangles": {str(triangles): seconds for triangles, seconds in cpu.items()},
        }


def _build_seconds(subdivisions: int, repeat: int) -> tuple[float, float]:
    """Median processor and wall seconds; the mesh is not kept, because the largest takes a lot of memory."""
    mesh, cpu, wall = bumpy(subdivisions), [], []
    for _ in range(repeat):
        cpu_start, start = time.process_time(), time.perf_counter()
        clusters = meshes.build(mesh)
        wall.append(time.perf_counter() - start)
        cpu.append(time.process_time() - cpu_start)
        if clusters.triangle_count != len(mesh.triangles):
            raise ValueError(f"{clusters.triangle_count} of {len(mesh.triangles)} triangles were built")
    return statistics.median(cpu), statistics.median(wall)

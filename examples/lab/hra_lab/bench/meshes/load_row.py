"""Row: a built mesh from its file, ready to be cut."""

from __future__ import annotations

import tempfile
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from hra.domains import meshes
from hra_lab.bench.harness import Case, Contender, Gaps, measure
from hra_lab.bench.memory import peak_bytes
from hra_lab.bench.meshes.build_row import SMALL
from hra_lab.bench.meshes.inputs import Input, clusters
from hra_lab.bench.meshes.times import times
from hra_lab.bench.suite import Scale

_PEER = "trimesh (PLY)"


@dataclass(frozen=True)
class LoadBenchmark:
    """The project's file beside trimesh reading the source's triangles, which have no levels, from a binary PLY."""

    name: str
    given: Input
    needs: tuple[str, ...] = ("trimesh:creation", "meshoptimizer:simplify")

    def measure(self, scale: Scale, repeat: int, bandwidth: float) -> dict[str, Any]:
        """The row; every mesh that was loaded is compared with the one that was saved."""
        import trimesh

        given = self.given if scale == "full" else replace(self.given, source=SMALL)
        built = clusters(given)
        with tempfile.TemporaryDirectory() as folder:
            own, source = Path(folder) / "mesh.hra", Path(folder) / "source.ply"
            built.save(own)
            given.mesh().export(source)
            size = own.stat().st_size

            def judge(_: Any, outputs: Mapping[str, Any]) -> dict[str, Gaps]:
                loaded: meshes.ClusterMesh = outputs["hra"]
                if not (
                    np.array_equal(loaded.indices, built.indices) and len(loaded.hierarchy) == len(built.hierarchy)
                ):
                    raise ValueError("the mesh that was loaded is not the one that was saved")
                return {}

            contenders = (
                Contender("hra", lambda _: meshes.load_clusters(own)),
                Contender(_PEER, lambda _: trimesh.load_mesh(source, process=False)),
            )
            clocks = measure(Case(contenders, lambda number: number, judge, built.triangle_count, size), repeat)
            memory = peak_bytes(lambda: meshes.load_clusters(own))
        return {
            "name": self.name,
            "n": built.triangle_count,
            **times(clocks),
            "rss_mb": None if memory is None else memory / 2**20,
            "bytes": size,
            "limit_s": size / bandwidth,
            "clusters": built.hierarchy.node_cost.size,
        }

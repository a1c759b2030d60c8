"""Rows: building a cluster mesh, beside chains of whole-mesh simplification."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from typing import Any

from hra.domains import meshes
from hra.domains.meshes.building.settings import processors
from hra.errors import BackendUnavailable, FileError
from hra_lab.bench.harness import Case, Clock, Contender, Gaps, measure
from hra_lab.bench.meshes.chains import chain_peers
from hra_lab.bench.meshes.fresh import fresh_build_bytes
from hra_lab.bench.meshes.inputs import Input
from hra_lab.bench.meshes.times import times
from hra_lab.bench.suite import Scale

SMALL = 4  # subdivisions of the sphere that stands for every mesh at the small scale
_CUTS = 20


@dataclass(frozen=True)
class BuildBenchmark:
    """One mesh, from triangles in memory to the hierarchy."""

    name: str
    given: Input
    peers: bool = True
    needs: tuple[str, ...] = ("trimesh:creation", "meshoptimizer:simplify")

    def measure(self, scale: Scale, repeat: int, bandwidth: float) -> dict[str, Any]:
        """The row; memory is measured in a fresh process.

        Raises
        ------
        BackendUnavailable : the mesh was not fetched.
        """
        given = self.given if scale == "full" else replace(self.given, source=SMALL)
        try:
            mesh = given.mesh()
        except FileError as error:
            raise BackendUnavailable(f"{error.what} ({error.where})", fix=error.fix) from error
        contenders, absent = chain_peers() if self.peers else ((), {})
        own = Contender("hra", given.build, threads=processors())
        last: dict[str, Any] = {}

        def judge(_: Any, outputs: Mapping[str, Any]) -> dict[str, Gaps]:
            last.update(outputs)
            _check(outputs, len(mesh.triangles))
            return {}

        clocks = measure(Case((own, *contenders), lambda _: mesh, judge, len(mesh.triangles), 0, absent), repeat)
        memory = fresh_build_bytes(mesh, given.certified)
        return {
            "name": self.name,
            "n": len(mesh.triangles),
            **times(clocks),
            "rss_mb": None if memory is None else memory / 2**20,
            **_facts(last["hra"]),
            "peers": {name: {**_peer(clocks[name]), **_levels(last[name])} for name in clocks if name != "hra"},
            "threads": {contender.name: contender.threads for contender in (own, *contenders)},
            "absent": absent,
        }


def _check(outputs: Mapping[str, Any], triangles: int) -> None:
    """Raise ValueError for an answer that is none."""
    clusters: meshes.ClusterMesh = outputs["hra"]
    report = meshes.check(clusters, cuts=_CUTS, samples=200)
    if not report.sound or clusters.triangle_count != triangles:
        raise ValueError(f"the build of {triangles} triangles is not sound: {asdict(report)}")
    for name, counts in outputs.items():
        if name != "hra" and not (counts[0] == triangles and 0 < counts[1] < 0.75 * triangles and counts[-1] > 0):
            raise ValueError(f"{name} did not halve {triangles} triangles: {counts}")


def _facts(clusters: meshes.ClusterMesh) -> dict[str, Any]:
    return {
        "levels": int(clusters.hierarchy.attribute("level").max()) + 1,
        "clusters": clusters.hierarchy.node_cost.size,
        "groups": len(clusters.hierarchy),
        "root_triangles": clusters.root_triangle_count,
    }


def _peer(clock: Clock) -> dict[str, Any]:
    return {"s": clock.seconds, "cpu_s": clock.cpu_seconds}


def _levels(counts: list[int]) -> dict[str, Any]:
    return {"levels": len(counts), "root_triangles": counts[-1]}

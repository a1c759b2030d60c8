"""Rows: building a cluster mesh, beside chains of whole-mesh simplification.

Peers of the builder: whole-mesh simplification in halves, each level from the last, as others do it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import asdict, dataclass, replace
from importlib import import_module
from typing import Any

import numpy as np

from hra.domains import meshes
from hra.domains.meshes import TriangleMesh
from hra.domains.meshes.building.settings import processors
from hra.domains.meshes.mesh.meshopt import library
from hra.errors import BackendUnavailable, FileError
from hra_lab.bench.features import missing
from hra_lab.bench.harness import Case, Clock, Contender, Gaps, measure
from hra_lab.bench.meshes.fresh import fresh_build_bytes
from hra_lab.bench.meshes.inputs import Input
from hra_lab.bench.meshes.times import times
from hra_lab.bench.suite import Scale

SMALL = 4  # subdivisions of the sphere that stands for every mesh at the small scale
_CUTS = 20
_LAST = 128  # triangles at which cluster hierarchies end, too
# A level that kept more than this is the last: nothing more can be collapsed.
_STUCK = 0.9
Mesh = tuple[np.ndarray, np.ndarray]
Halve = Callable[[Mesh], Mesh]


"""Positions [V, 3] and triangles [F, 3] to those of about half as many triangles."""


def chain_peers() -> tuple[tuple[Contender, ...], dict[str, str]]:
    """The chains that can run here, and why the others cannot. They return the triangles of each level."""
    contenders, absent = [], {}
    for name, feature, make in _PEERS:
        reason = missing(feature)
        if reason is None:
            halve = make()
            contenders.append(Contender(name, lambda given, halve=halve: _chain(halve, given), _arrays, warm_up=False))
        else:
            absent[name] = reason
    return tuple(contenders), absent


def _arrays(mesh: TriangleMesh) -> Mesh:
    return mesh.positions, mesh.triangles


def _chain(halve: Halve, mesh: Mesh) -> list[int]:
    counts = [len(mesh[1])]
    while counts[-1] > _LAST:
        mesh = halve(mesh)
        counts.append(len(mesh[1]))
        if counts[-1] > _STUCK * counts[-2]:
            break
    return counts


def _meshoptimizer() -> Halve:
    # The package's own Python function, which is what its users call; importing our binding checks the version.
    library()
    import meshoptimizer

    def halve(mesh: Mesh) -> Mesh:
        positions, triangles = mesh
        result = np.empty(triangles.size, np.uint32)
        count = meshoptimizer.simplify(
            result, triangles.reshape(-1), positions, target_index_count=triangles.size // 6 * 3, target_error=1e30
        )
        return positions, result[:count].reshape(-1, 3)

    return halve


def _fast_simplification() -> Halve:
    # No package of ours asks for it, so type checkers must not either.
    fast_simplification = import_module("fast_simplification")

    def halve(mesh: Mesh) -> Mesh:
        positions, triangles = fast_simplification.simplify(mesh[0], mesh[1].astype(np.int32), 0.5)[:2]
        return positions, triangles

    return halve


def _pyvista(method: str) -> Callable[[], Halve]:
    def make() -> Halve:
        import pyvista

        def halve(mesh: Mesh) -> Mesh:
            surface: Any = pyvista.PolyData.from_regular_faces(*mesh)
            coarse = getattr(surface, method)(0.5)
            return np.asarray(coarse.points), coarse.regular_faces

        return halve

    return make


_PEERS: Iterable[tuple[str, str, Callable[[], Halve]]] = (
    ("meshoptimizer", "meshoptimizer:simplify", _meshoptimizer),
    ("fast-simplification", "fast_simplification:simplify", _fast_simplification),
    ("PyVista decimate", "pyvista:PolyData.decimate", _pyvista("decimate")),
    ("PyVista decimate_pro", "pyvista:PolyData.decimate_pro", _pyvista("decimate_pro")),
)


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

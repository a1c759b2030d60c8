"""Peers of the builder: whole-mesh simplification in halves, each level from the last, as others do it."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from importlib import import_module
from typing import Any

import numpy as np

from hra.domains.meshes import TriangleMesh
from hra.domains.meshes.mesh.meshopt import library
from hra_lab.bench.features import missing
from hra_lab.bench.harness import Contender

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

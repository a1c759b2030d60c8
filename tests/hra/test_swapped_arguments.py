"""Arguments in each other's places, classes for objects, names for things: all are named by a typed error."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import hra
from hra.domains import meshes
from hra.errors import HraError
from hra.residency import Trace, save_trace
from tests.helpers.allocators import Plain, Table

TREE = hra.Hierarchy.tree([-1, 0, 0], [1, 1, 1])
METRIC = Table([3, 1, 1])
ERRORS = {"errors": [3, 1, 1]}
SCREEN = meshes.ScreenError("quadric")
Call = Callable[[Any, Any], Any]

CASES: dict[str, Call] = {
    "budget and camera": lambda mesh, camera: meshes.MeshAllocator(mesh, SCREEN).allocate(5000, camera),
    "no camera": lambda mesh, _: meshes.MeshAllocator(mesh, SCREEN).allocate(None, 5000),
    "a budget as text": lambda mesh, camera: meshes.MeshAllocator(mesh, SCREEN).allocate(camera, "5000"),  # pyright: ignore
    "metric and clusters": lambda mesh, _: meshes.MeshAllocator(SCREEN, mesh),  # pyright: ignore
    "metric and traversal": lambda mesh, _: meshes.MeshAllocator(mesh, hra.Hull(), SCREEN),  # pyright: ignore
    "a metric's class": lambda mesh, _: meshes.MeshAllocator(mesh, meshes.ScreenError),  # pyright: ignore
    "a traversal's class": lambda mesh, _: meshes.MeshAllocator(mesh, None, hra.Hull),  # pyright: ignore
    "a mesh that is not built": lambda mesh, _: meshes.MeshAllocator(mesh.mesh(np.array([0]))),
    "a path for clusters": lambda *_: meshes.MeshAllocator("a.hra"),  # pyright: ignore
    "a number to realize": lambda mesh, _: meshes.MeshAllocator(mesh, SCREEN).realize(5),  # pyright: ignore
    "clusters to build": lambda mesh, _: meshes.build(mesh),
    "nothing to build": lambda *_: meshes.build(None),  # pyright: ignore
    "levels and mesh": lambda mesh, _: meshes.lod_chain([0.5], mesh),  # pyright: ignore
    "one level": lambda mesh, _: meshes.lod_chain(mesh, 0.5),  # pyright: ignore
    "camera and cut": lambda mesh, camera: meshes.render(mesh, camera, np.array([0])),  # pyright: ignore
    "angle and bounds": lambda mesh, _: hra.Camera.orbit(30, mesh.bounds),
    "a mesh for bounds": lambda mesh, _: hra.Camera.orbit(mesh),
    "distances for points": lambda *_: hra.Camera.perspective(5, 6),
    "hierarchy and budget": lambda *_: hra.solve(3, TREE, **ERRORS),  # pyright: ignore
    "a list for a hierarchy": lambda *_: hra.solve([1, 2], 3, **ERRORS),  # pyright: ignore
    "a traversal's class to solve": lambda *_: hra.solve(TREE, 3, **ERRORS, traversal=hra.Hull),  # pyright: ignore
    "a traversal's name": lambda *_: hra.solve(TREE, 3, **ERRORS, traversal="hull"),  # pyright: ignore
    "metric and hierarchy": lambda *_: Plain(METRIC, TREE, hra.Hull()),  # pyright: ignore
    "a number for an allocation": lambda *_: Plain(TREE, METRIC, hra.Hull()).allocate(None, 2, previous=5),  # pyright: ignore
    "text for nodes": lambda *_: Plain(TREE, METRIC, hra.Hull()).allocate(None, 2, pinned="a"),
    "a list in a pool": lambda *_: hra.pool([Plain(TREE, METRIC, hra.Hull())]),  # pyright: ignore
    "a hierarchy in a pool": lambda *_: hra.pool(TREE),  # pyright: ignore
    "a number to verify": lambda *_: hra.verify(5),  # pyright: ignore
    "a path to verify": lambda *_: hra.verify("a.npz"),  # pyright: ignore
    "costs and parents": lambda *_: hra.Hierarchy.tree([1, 1, 1.5], [-1, 0, 0]),
    "a threshold as text": lambda *_: hra.Threshold("1"),  # pyright: ignore
    "a number of states as text": lambda *_: hra.Exact("many"),  # pyright: ignore
    "hysteresis for a traversal": lambda *_: hra.Coherent(0.1),  # pyright: ignore
    "gains and hierarchy": lambda *_: hra.allocate_batch(np.ones((2, 2)), TREE, 2),  # pyright: ignore
    "a traversal's class for a batch": lambda *_: hra.allocate_batch(TREE, np.ones((2, 1)), 2, traversal=hra.Hull),  # pyright: ignore
    "trace and path": lambda *_: save_trace(Trace([0, 1], [0], [5]), "a.npz"),  # pyright: ignore
    "a hierarchy to relax": lambda *_: hra.relaxation(TREE),  # pyright: ignore
    "metric and hierarchy of a problem": lambda *_: hra.Problem.of(METRIC, TREE, None, 2),  # pyright: ignore
    "a hierarchy for a problem": lambda *_: hra.complete(TREE, np.zeros(1, bool), np.ones(1), spend_all=False),  # pyright: ignore
}


@pytest.fixture(scope="module")
def mesh() -> meshes.ClusterMesh:
    points = np.random.default_rng(0).normal(size=(30, 3))
    corners = np.arange(30).reshape(-1, 3)
    return meshes.build(meshes.from_arrays(points, corners), certified=False)


@pytest.mark.parametrize("call", CASES.values(), ids=CASES.keys())
def test_a_typed_error_says_what_is_expected(call: Call, mesh: meshes.ClusterMesh) -> None:
    with pytest.raises(HraError) as caught:
        call(mesh, hra.Camera.orbit(mesh.bounds))
    assert caught.value.what and caught.value.fix

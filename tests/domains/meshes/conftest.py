"""Small meshes with known properties, and the skull, each built once."""

from __future__ import annotations

import numpy as np
import pytest
import trimesh

import hra
from hra.domains import meshes
from tests.helpers.seamed_meshes import grid


def closed_mesh(subdivisions: int, seed: int = 0, bumps: float = 0.15) -> meshes.TriangleMesh:
    """A sphere with bumps: closed, 20 * 4**subdivisions triangles, errors that differ from place to place."""
    sphere = trimesh.creation.icosphere(subdivisions=subdivisions)
    direction = np.random.default_rng(seed).normal(size=(4, 3)) * 4
    radius = 1 + bumps * np.sin(np.asarray(sphere.vertices) @ direction.T).mean(axis=1, keepdims=True)
    return meshes.from_arrays(sphere.vertices * radius, sphere.faces)


def grid_mesh(cells: int, height: float = 0.0) -> meshes.TriangleMesh:
    """An open square of 2 * cells**2 triangles in the plane z = 0, or with waves of this height."""
    x, y = np.meshgrid(np.linspace(0, 1, cells + 1), np.linspace(0, 1, cells + 1))
    points = np.stack([x, y, height * np.sin(7 * x) * np.cos(5 * y)], axis=-1).reshape(-1, 3)
    return meshes.from_arrays(points, grid(cells, cells))


@pytest.fixture(scope="session")
def bumpy() -> meshes.TriangleMesh:
    return closed_mesh(4)


@pytest.fixture(scope="session")
def bumpy_clusters(bumpy: meshes.TriangleMesh) -> meshes.ClusterMesh:
    return meshes.build(bumpy)


@pytest.fixture(scope="session")
def skull() -> meshes.TriangleMesh:
    return meshes.load(hra.samples.path("skull.ply"))


@pytest.fixture(scope="session")
def skull_clusters(skull: meshes.TriangleMesh) -> meshes.ClusterMesh:
    return meshes.build(skull)


@pytest.fixture(scope="session")
def hard_meshes() -> dict[str, meshes.TriangleMesh]:
    """Closed meshes that trip builders: islands, an edge of four faces, a vertex of two fans, extreme coordinates."""
    ball = closed_mesh(3)
    points, faces = np.asarray(ball.positions, np.float64), ball.triangles.astype(np.int64)

    def copies(offsets: np.ndarray) -> meshes.TriangleMesh:
        many = (points[None] + np.asarray(offsets)[:, None]).reshape(-1, 3)
        return meshes.from_arrays(
            many, (faces[None] + len(points) * np.arange(len(offsets))[:, None, None]).reshape(-1, 3)
        )

    return {
        "one ball": ball,
        "islands": copies(3.0 * np.stack(np.meshgrid(*[np.arange(3)] * 3), axis=-1).reshape(-1, 3)),
        "bow tie": _joined_balls(points, faces, shared=1),
        "edge of four faces": _joined_balls(points, faces, shared=2),
        "far away": meshes.from_arrays(points * 1000 + 1e7, faces),
        "tiny": meshes.from_arrays(points * 1e-9, faces),
        "flat two-sided": _two_sided(grid_mesh(20)),
    }


def _joined_balls(points: np.ndarray, faces: np.ndarray, shared: int) -> meshes.TriangleMesh:
    """Two balls that share a vertex, or an edge in the same direction (so that four faces meet in it)."""
    corners = faces[0][:shared]
    other = points + 5.0
    other[corners] = points[corners]
    number = np.arange(len(points)) + len(points)
    number[corners] = corners
    both = np.concatenate([points, np.delete(other, corners, axis=0)])
    place = np.cumsum(np.isin(np.arange(2 * len(points)), number) | (np.arange(2 * len(points)) < len(points))) - 1
    return meshes.from_arrays(both, np.concatenate([faces, place[number[faces]]]))


def _two_sided(sheet: meshes.TriangleMesh) -> meshes.TriangleMesh:
    both = np.concatenate([sheet.triangles, sheet.triangles[:, ::-1]])
    return meshes.from_arrays(sheet.positions, both)


@pytest.fixture
def rng() -> np.random.Generator:
    return np.random.default_rng(0)


def random_down_closed(hierarchy, rng: np.random.Generator) -> np.ndarray:
    """A random valid set of refinements, bool [R]: a random set less what lacks a predecessor."""
    selected = rng.random(len(hierarchy)) < rng.random()
    offsets, predecessors = hierarchy.predecessors
    for r in range(len(hierarchy)):
        selected[r] &= bool(selected[predecessors[offsets[r] : offsets[r + 1]]].all())
    return selected


@pytest.fixture(scope="session")
def down_closed():
    return random_down_closed


@pytest.fixture(scope="session")
def make_closed():
    return closed_mesh


@pytest.fixture(scope="session")
def make_grid():
    return grid_mesh

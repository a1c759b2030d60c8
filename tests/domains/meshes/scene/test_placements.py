from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hra.domains import meshes
from hra.domains.meshes.scene.placements import Placements
from hra.errors import CameraError, HraError


@pytest.fixture(scope="module")
def grid(make_grid) -> meshes.ClusterMesh:
    return meshes.build(make_grid(12, 12))


@given(st.integers(0, 10**6))
def test_spheres_hold_all_vertices_of_their_copies(grid: meshes.ClusterMesh, seed: int):
    rng = np.random.default_rng(seed)
    matrices = np.tile(np.eye(4), (5, 1, 1))
    matrices[:, :3] = rng.normal(size=(5, 3, 4))
    placed = Placements.of([(grid, matrices)])
    for matrix, center, radius in zip(matrices, placed.centers, placed.radii, strict=True):
        world = grid.positions @ matrix[:3, :3].T + matrix[:3, 3]
        assert np.linalg.norm(world - center, axis=1).max() <= radius * (1 + 1e-6)
    assert placed.mesh_of.tolist() == [0] * 5


@pytest.mark.parametrize("bad", [np.eye(3), np.full((4, 4), np.nan), np.zeros((4, 4)), np.diag([1, 1, 1, 2])])
def test_placements_that_are_none_are_refused(grid: meshes.ClusterMesh, bad: np.ndarray):
    with pytest.raises(CameraError):
        Placements.of([(grid, np.array([bad]))])
    with pytest.raises(HraError):
        Placements.of([])

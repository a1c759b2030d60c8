"""Borders of the source: simplification never ends a surface anywhere else."""

from __future__ import annotations

import numpy as np
import pytest
import trimesh
from hypothesis import given
from hypothesis import strategies as st

from hra.domains import meshes
from hra.domains.meshes.building.borders import Borders
from hra.domains.meshes.building.geometry import Geometry
from hra.domains.meshes.building.level import Groups, simplify_groups
from hra.domains.meshes.building.part import Kept
from hra.domains.meshes.building.settings import Countdown, Workers
from hra.domains.meshes.building.simplify import CoarseStep, simplify_group
from hra.domains.meshes.building.source_clusters import source_clusters
from hra.domains.meshes.measures.surface import boundary_chain


def patched_ball(patches: int) -> meshes.TriangleMesh:
    """A rough ball on which some faces are there twice: every edge has an opposite, but around these one too few."""
    ball, rng = trimesh.creation.icosphere(subdivisions=3), np.random.default_rng(0)
    points = np.asarray(ball.vertices) * (1 + 0.1 * rng.normal(size=(len(ball.vertices), 1)))
    faces = np.asarray(ball.faces)
    twice = faces[rng.choice(len(faces), patches, replace=False)]
    return meshes.TriangleMesh(points.astype(np.float32), np.concatenate([faces, twice]).astype(np.uint32))


def ends_of(triangles: np.ndarray) -> set[int]:
    return set(boundary_chain(triangles.reshape(-1, 3))[0].ravel().tolist())


@given(st.integers(0, 2**32 - 1), st.integers(1, 20), st.integers(0, 20))
def test_leaving_the_border_agrees_with_chains(seed: int, fine_count: int, coarse_count: int) -> None:
    rng = np.random.default_rng(seed)
    fine, coarse = (rng.integers(0, 10, (count, 3)).astype(np.uint32) for count in (fine_count, coarse_count))
    ends = rng.random(10) < rng.random()
    difference = boundary_chain(np.concatenate([fine, coarse[:, ::-1]]))[0]
    at_ends = bool(ends[fine].any())
    expected = at_ends and not ends[[v for a, b in difference.tolist() if a != b for v in (a, b)]].all()
    borders, geometry = Borders(ends, np.zeros(10, bool)), Geometry.of(rng.normal(size=(10, 3)).astype(np.float32))
    assert borders.left_by(coarse.reshape(-1), fine.reshape(-1), geometry) == expected


def test_wedges_of_a_position_are_one_vertex() -> None:
    points = np.array([[0, 0, 0], [1, 0, 0], [0, 1, 0], [1, 1, 0], [1, 0, 0], [0, 1, 0]], np.float32)
    normals = np.repeat([[0, 0, 1], [0, 1, 0]], [4, 2], axis=0).astype(np.float32)
    geometry = Geometry.of(points, meshes.VertexAttributes(normals=normals))
    seam, whole = np.array([0, 1, 2, 4, 3, 5], np.uint32), np.array([0, 1, 2, 1, 3, 2], np.uint32)
    borders = Borders(np.array([True, False, False, False, False, False]), np.zeros(6, bool))
    assert not borders.left_by(whole, seam, geometry)
    assert borders.left_by(whole[:3], seam, geometry)


@pytest.mark.parametrize("patches", [2, 20])
def test_a_group_that_leaves_the_border_is_simplified_again(patches: int) -> None:
    mesh = patched_ball(patches)
    positions, triangles = mesh.positions, mesh.triangles
    geometry, shared = Geometry.of(positions), np.zeros(len(positions), np.uint8)
    # As if the repeated edges had only come up during simplification.
    borders = Borders(Borders.of(geometry, triangles).ends, np.zeros(len(positions), bool))
    with Workers(1) as workers:
        table = source_clusters(geometry, triangles, 64, workers)
        groups = Groups(table, np.array([0, len(table)]))
        free = simplify_group(groups.indices(0), geometry, shared, 10**6, CoarseStep(64))
        assert free is not None
        assert not ends_of(free.indices) <= ends_of(triangles)
        (result,) = simplify_groups(
            groups, geometry, Kept.of(shared, borders), CoarseStep(64), workers, Countdown(1, None)
        )
    assert result is not None
    assert ends_of(result.indices) <= ends_of(triangles)


@pytest.mark.case(8)
def test_faces_that_are_there_twice_make_no_cracks() -> None:
    report = meshes.check(meshes.build(patched_ball(20)), cuts=100)
    assert report.sound
    assert not report.closed

"""Borders of the source: simplification never ends a surface anywhere else."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hra.domains import meshes
from hra.domains.meshes.building.borders import Borders
from hra.domains.meshes.building.geometry import Geometry
from hra.domains.meshes.distances.surface import boundary_chain
from tests.helpers.borders_cases import patched_ball
from tests.helpers.seamed_meshes import grid


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


def test_discrete_levels_are_not_held_where_three_faces_meet(tmp_path) -> None:
    """Fins on a waved ground; with all of their feet in place a tenth is 32 times as far away."""
    side, ground = np.linspace(0, 1, 49), grid(48, 48)
    across, along = np.meshgrid(side, side)
    points = np.stack([across, along, 0.05 * np.sin(7 * across) * np.cos(6 * along)], axis=2).reshape(-1, 3)
    number, triangles = np.arange(49 * 49).reshape(49, 49), [ground]
    for feet in [*number[4:48:4], *number.T[4:48:4]]:
        rows = len(points) + np.arange(6 * 49).reshape(6, 49)
        above = points[feet] + np.arange(1, 7)[:, None, None] * [0, 0, 0.02]
        points = np.concatenate([points, above.reshape(-1, 3)])
        triangles.append(np.concatenate([feet[None], rows]).reshape(-1)[grid(48, 6)])
    meshes.from_arrays(points, np.concatenate(triangles)).export(tmp_path / "fins.glb")
    assert meshes.scene_lod(tmp_path / "fins.glb", [0.1]).chain.errors[0] < 0.003


@pytest.mark.case(8)
def test_faces_that_are_there_twice_make_no_cracks() -> None:
    report = meshes.check(meshes.build(patched_ball(20)), cuts=100)
    assert report.sound
    assert not report.closed

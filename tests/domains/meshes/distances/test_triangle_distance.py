"""Distances from points to surfaces: what cannot be measured is refused."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hra.domains import meshes
from hra.domains.meshes.distances.triangle_distance import walk
from hra.errors import MeshError
from tests.domains.meshes.distances.test_straddling import surface_of

CORNERS = np.array([[0, 0, 0], [1, 0, 0], [0, 1, 0]], np.float32)
FACE = np.array([[0, 1, 2]], np.uint32)
POINTS = np.array([[0.2, 0.2, 0.5], [2.0, 0.0, 0.0]])


@pytest.mark.parametrize(
    ("points", "positions", "triangles", "message"),
    [
        (POINTS, CORNERS, FACE[:0], "no triangles"),
        (POINTS, CORNERS, np.array([[0, 1, 9]], np.uint32), "but there are 3"),
        (POINTS, CORNERS[:0], FACE, "but there are 0"),
        (POINTS, CORNERS * np.nan, FACE, "not finite"),
        (POINTS[:, :2], CORNERS, FACE, r"\[V, 3\]"),
        (np.full((1, 3), np.inf), CORNERS, FACE, "not finite"),
    ],
)
def test_what_cannot_be_measured_is_refused(points, positions, triangles, message):
    with pytest.raises(MeshError, match=message):
        meshes.nearest_distances(points, positions, triangles)


def test_no_points_have_no_distances():
    assert meshes.nearest_distances(POINTS[:0], CORNERS, FACE).shape == (0,)


@given(seed=st.integers(0, 2**32 - 1), height=st.floats(0, 1))
def test_a_walk_ends_no_farther_at_what_it_measured(make_grid, seed: int, height: float) -> None:
    rng, sheet = np.random.default_rng(seed), make_grid(4)
    points = sheet.positions.copy()
    points[:, 2] = height * rng.normal(size=len(points))
    triangles, walls, behind = surface_of(points, sheet.triangles)
    place, start = rng.uniform(-0.5, 1.5, 3), int(rng.integers(len(triangles)))
    found, square = walk(*place, triangles, walls, behind, start)
    ends = [meshes.nearest_distances(place[None], points, sheet.triangles[[k]])[0] for k in (found, start)]
    assert np.sqrt(square) == pytest.approx(ends[0], rel=1e-9, abs=1e-12)
    assert ends[0] <= ends[1]


def test_a_walk_finds_the_triangle_below_from_its_neighbours(make_grid) -> None:
    sheet = make_grid(4)
    triangles, walls, behind = surface_of(sheet.positions, sheet.triangles)
    for k, (x, y, z) in enumerate(sheet.positions[sheet.triangles].mean(axis=1).tolist()):
        for side in range(3):
            if behind[k, side] >= 0:
                found, square = walk(x, y, z + 0.3, triangles, walls, behind, behind[k, side] // 3)
                assert (found, square) == (k, pytest.approx(0.09))

"""Triangles over several coarse ones: neighbours against a dictionary, bounds against dense samples."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from tests.helpers.straddling_cases import bound, farthest, hills, surface_of


@given(st.integers(0, 2**32 - 1), st.integers(1, 40))
def test_what_is_behind_a_side_shares_it(seed: int, count: int) -> None:
    rng = np.random.default_rng(seed)
    points = rng.normal(size=(12, 3)).astype(np.float32)
    faces = np.array([rng.choice(12, 3, replace=False) for _ in range(count)])
    behind = surface_of(points, faces).behind
    left: dict[frozenset[int], int] = {}
    for side, edge in enumerate(np.stack([faces, np.roll(faces, -1, axis=1)], axis=2).reshape(-1, 2).tolist()):
        other = left.pop(frozenset(edge), None)
        if other is None:
            left[frozenset(edge)] = side
        else:
            assert behind.reshape(-1)[side] == other
            assert behind.reshape(-1)[other] == side
    assert (behind.reshape(-1)[list(left.values())] == -1).all()


def test_walls_stand_on_the_sides() -> None:
    points = np.array([[0, 0, 1], [2, 0, 1], [0, 3, 1]], np.float32)
    walls = surface_of(points, np.array([[0, 1, 2]])).walls
    assert np.allclose(walls[0, 0], [0, -1, 0, 0])
    assert np.allclose(walls[0, 1], np.array([3, 2, 0, 6]) / np.sqrt(13))
    assert np.allclose(walls[0, 2], [-1, 0, 0, 0])


@given(st.integers(0, 2**32 - 1), st.floats(0, 2), st.integers(0, 17))
def test_the_bound_holds_over_hills(make_grid, seed: int, height: float, start: int) -> None:
    rng, sheet = np.random.default_rng(seed), make_grid(3)
    points = hills(sheet, rng, height)
    corners = rng.uniform(-1, 1, (3, 3)) * [1, 1, height]
    true = farthest(points, sheet.triangles, corners)
    found, _ = bound(surface_of(points, sheet.triangles), corners, start, rng.uniform(0, 3 * height))
    assert found >= true * (1 - 1e-9)


def test_what_a_corner_shows_is_room_enough(make_grid) -> None:
    sheet = make_grid(2)
    points = hills(sheet, np.random.default_rng(0), 0.0)
    corners = np.array([[0, 0, 0], [0.1, 0, 0], [0, 0.1, 0.5]])
    found, room = bound(surface_of(points, sheet.triangles), corners, 0, 0.4)
    assert 0.5 <= found <= room < 0.51


def test_what_no_wall_leads_to_is_not_bounded() -> None:
    # Two sheets apart, and a triangle from one to the other: in its middle it is far from both.
    sheet = np.array([[0, 0, 0], [1, 0, 0], [0, 1, 0]], np.float32)
    points, faces = np.concatenate([sheet, sheet + np.array([0, 0, 10], np.float32)]), np.arange(6).reshape(2, 3)
    corners = np.array([[0.1, 0.1, 0], [0.2, 0.1, 0], [0.1, 0.2, 10]])
    assert bound(surface_of(points, faces), corners, 0, 0.1)[0] == np.inf


@given(st.integers(0, 2**32 - 1), st.integers(1, 30))
def test_a_part_goes_on_where_no_wall_leads(seed: int, count: int) -> None:
    # Triangles without common sides: nothing is behind any wall.
    rng = np.random.default_rng(seed)
    points = rng.normal(size=(3 * count, 3)).astype(np.float32)
    faces, corners = np.arange(3 * count).reshape(-1, 3), rng.normal(size=(3, 3))
    found, room = bound(surface_of(points, faces), corners, int(rng.integers(count)), rng.uniform(0, 2))
    assert found >= farthest(points, faces, corners) * (1 - 1e-9)
    assert room <= max(2.0, 1.01 * farthest(points, faces, corners) + 1.0)

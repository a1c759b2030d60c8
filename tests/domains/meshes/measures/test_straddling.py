"""Triangles over several coarse ones: neighbours against a dictionary, bounds against dense samples."""

from __future__ import annotations

import numpy as np
from hypothesis import assume, given
from hypothesis import strategies as st

from hra.domains import meshes
from hra.domains.meshes.measures.pieces import fill_patch, patch_memory
from hra.domains.meshes.measures.straddling import bound_by_walls, parts_memory
from hra.domains.meshes.measures.triangle_distance import fill_triangles, nearest_distances, surface_memory

SHARES = np.array([(i, j, 24 - i - j) for i in range(25) for j in range(25 - i)]) / 24


def surface_of(points: np.ndarray, faces: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The triangles, walls and what is behind them, relative to the origin of the coordinates."""
    triangles, balls, runs, _ = surface_memory(len(faces))
    walls, behind, keys, places = patch_memory(len(faces))
    indices = np.ascontiguousarray(faces, np.uint32).reshape(-1)
    fill_triangles(points, indices, 0, indices.size, np.zeros(3), triangles, balls, runs)
    fill_patch(indices, 0, indices.size, triangles, walls, behind, keys, places)
    return triangles, walls, behind


def bound(surface: tuple[np.ndarray, np.ndarray, np.ndarray], corners: np.ndarray, start: int, room: float) -> float:
    known = np.stack([np.full(3, -1.0), np.full(3, np.nan)])
    return bound_by_walls(corners, known, start, *surface, room, *parts_memory())


def farthest(points: np.ndarray, faces: np.ndarray, corners: np.ndarray) -> float:
    return float(nearest_distances(SHARES @ corners, points, faces.astype(np.uint32)).max())


def hills(sheet: meshes.TriangleMesh, rng: np.random.Generator, height: float) -> np.ndarray:
    """The vertices of a sheet in the unit square, lifted at random."""
    points = sheet.positions / np.abs(sheet.positions).max()
    points[:, 2] = height * rng.normal(size=len(points))
    return points.astype(np.float32)


@given(st.integers(0, 2**32 - 1), st.integers(1, 40))
def test_what_is_behind_a_side_shares_it(seed: int, count: int) -> None:
    rng = np.random.default_rng(seed)
    points = rng.normal(size=(12, 3)).astype(np.float32)
    faces = np.array([rng.choice(12, 3, replace=False) for _ in range(count)])
    _, _, behind = surface_of(points, faces)
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
    _, walls, _ = surface_of(points, np.array([[0, 1, 2]]))
    assert np.allclose(walls[0, 0], [0, -1, 0, 0])
    assert np.allclose(walls[0, 1], np.array([3, 2, 0, 6]) / np.sqrt(13))
    assert np.allclose(walls[0, 2], [-1, 0, 0, 0])


@given(st.integers(0, 2**32 - 1), st.floats(0, 2), st.integers(0, 17))
def test_the_bound_holds_over_hills(make_grid, seed: int, height: float, start: int) -> None:
    rng, sheet = np.random.default_rng(seed), make_grid(3)
    points = hills(sheet, rng, height)
    corners = rng.uniform(-1, 1, (3, 3)) * [1, 1, height]
    true = farthest(points, sheet.triangles, corners)
    found = bound(surface_of(points, sheet.triangles), corners, start, rng.uniform(0, 3 * height))
    assert found >= true * (1 - 1e-9)


@given(st.integers(0, 2**32 - 1))
def test_any_triangles_are_bounded(seed: int) -> None:
    rng = np.random.default_rng(seed)
    points = rng.normal(size=(8, 3)).astype(np.float32)
    faces = rng.integers(0, 8, (10, 3))
    corners = rng.normal(size=(3, 3))
    true = farthest(points, faces, corners)
    assert bound(surface_of(points, faces), corners, 0, rng.uniform(0, 4)) >= true * (1 - 1e-9)


@given(st.integers(0, 2**32 - 1), st.floats(0.001, 0.05))
def test_a_triangle_above_a_flat_sheet_is_as_far_as_it_is_high(make_grid, seed: int, height: float) -> None:
    rng, sheet = np.random.default_rng(seed), make_grid(4)
    points = hills(sheet, rng, 0.0)
    low, high = points[:, :2].min(axis=0), points[:, :2].max(axis=0)
    middle = rng.uniform(0.7 * low + 0.3 * high, 0.3 * low + 0.7 * high)
    corners = np.c_[middle + rng.uniform(-0.15, 0.15, (3, 2)), np.full(3, height)]
    inside = (corners[:, :2] >= low) & (corners[:, :2] <= high)
    assume(inside.all())
    center = points[sheet.triangles].astype(float).mean(axis=1)
    start = int(np.linalg.norm(center - corners.mean(axis=0), axis=1).argmin())
    # Although it covers several coarse triangles, none of which reaches below all of it.
    found = bound(surface_of(points, sheet.triangles), corners, start, 1.1 * height)
    assert height * (1 - 1e-9) <= found <= 1.1 * height


def test_what_is_too_far_is_not_bounded(make_grid) -> None:
    sheet = make_grid(2)
    points = hills(sheet, np.random.default_rng(0), 0.0)
    corners = np.array([[0, 0, 0], [0.1, 0, 0], [0, 0.1, 0.5]])
    assert bound(surface_of(points, sheet.triangles), corners, 0, 0.4) == np.inf

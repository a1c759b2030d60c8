"""Distances from points to single triangles, and walks over them."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hra.domains import meshes
from hra.domains.meshes.distances.settling import settle_near, settling_memory
from hra.domains.meshes.distances.triangle_distance import fill_triangles, surface_memory, walk
from tests.domains.meshes.distances.test_straddling import surface_of


@given(seed=st.integers(0, 2**32 - 1), height=st.floats(0, 1))
def test_a_walk_ends_no_farther_at_what_it_measured(make_grid, seed: int, height: float) -> None:
    rng, sheet = np.random.default_rng(seed), make_grid(4)
    points = sheet.positions.copy()
    points[:, 2] = height * rng.normal(size=len(points))
    surface = surface_of(points, sheet.triangles)
    triangles, walls, behind = surface.triangles, surface.walls, surface.behind
    place, start = rng.uniform(-0.5, 1.5, 3), int(rng.integers(len(triangles)))
    found, square = walk(*place, triangles, walls, behind, start)
    ends = [meshes.nearest_distances(place[None], points, sheet.triangles[[k]])[0] for k in (found, start)]
    assert np.sqrt(square) == pytest.approx(ends[0], rel=1e-9, abs=1e-12)
    assert ends[0] <= ends[1]


def test_a_walk_finds_the_triangle_below_from_its_neighbours(make_grid) -> None:
    sheet = make_grid(4)
    surface = surface_of(sheet.positions, sheet.triangles)
    triangles, walls, behind = surface.triangles, surface.walls, surface.behind
    for k, (x, y, z) in enumerate(sheet.positions[sheet.triangles].mean(axis=1).tolist()):
        for side in range(3):
            if behind[k, side] >= 0:
                found, square = walk(x, y, z + 0.3, triangles, walls, behind, behind[k, side] // 3)
                assert (found, square) == (k, pytest.approx(0.09))


@given(st.integers(0, 2**32 - 1), st.sampled_from([1.0, 1e-3, 1e-6, 0.0]), st.integers(1, 40))
def test_pieces_get_the_nearest_triangle_and_how_far_their_corners_are(seed: int, flat: float, count: int) -> None:
    rng = np.random.default_rng(seed)
    points = (rng.normal(size=(3 * count, 3)) * [1, flat, flat]).astype(np.float32)
    faces, pieces = np.arange(3 * count, dtype=np.uint32).reshape(-1, 3), rng.normal(size=(37, 3, 3))
    triangles, balls, runs, gaps = surface_memory(count)
    fill_triangles(points, faces.reshape(-1), 0, 3 * count, np.zeros(3), triangles, balls, runs)
    label, reached, own = np.zeros(37, np.int64), np.full(37, 0.25), (triangles, balls, runs, gaps)
    order, memory = rng.permutation(37), settling_memory(count)
    shown = settle_near(order, 37, pieces, np.zeros(3), own, count, memory, label, reached)
    middles, farthest = pieces.mean(axis=1)[order], []
    for k, piece in zip(label.tolist(), pieces[order], strict=True):
        farthest.append(exact_distances(piece, points[faces[k]]).max())
    # Never below the truth, and hardly above it.
    assert (reached >= (np.array(farthest) + 0.25) * (1 - 1e-12)).all()
    assert reached == pytest.approx(np.array(farthest) + 0.25, rel=1e-6)
    every = np.stack([exact_distances(middles, points[face]) for face in faces])
    assert every[label, np.arange(37)] == pytest.approx(every.min(axis=0), rel=1e-6)
    assert shown == pytest.approx(every.min(axis=0).max() + 0.25, rel=1e-6)


def exact_distances(points: np.ndarray, triangle: np.ndarray) -> np.ndarray:
    """From points [S, 3] to a triangle [3, 3]: to the plane where the foot is inside, else to the nearest side."""
    triangle = triangle.astype(np.longdouble)
    sides, found = np.roll(triangle, -1, axis=0) - triangle, np.full(len(points), np.inf, np.longdouble)
    for corner, side in zip(triangle, sides, strict=True):
        share = np.clip(((points - corner) @ side) / max(side @ side, np.finfo(np.longdouble).tiny), 0, 1)
        found = np.minimum(found, np.linalg.norm((points - corner - share[:, None] * side).astype(float), axis=1))
    normal = np.cross(sides[0], sides[1])
    if normal @ normal > 0:
        # Inside, where the foot is to the left of all sides.
        left = [(np.cross(side, points - corner) @ normal) >= 0 for corner, side in zip(triangle, sides, strict=True)]
        height = np.abs((points - triangle[0]) @ normal) / np.sqrt(normal @ normal)
        found = np.where(np.all(left, axis=0), np.minimum(found, height), found)
    return found.astype(np.float64)

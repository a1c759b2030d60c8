from __future__ import annotations

import numpy as np
from hypothesis import assume, given
from hypothesis import strategies as st

from tests.helpers.straddling_cases import bound, farthest, hills, surface_of


@given(st.integers(0, 2**32 - 1))
def test_any_triangles_are_bounded(seed: int) -> None:
    rng = np.random.default_rng(seed)
    points = rng.normal(size=(8, 3)).astype(np.float32)
    faces = rng.integers(0, 8, (10, 3))
    corners = rng.normal(size=(3, 3))
    true = farthest(points, faces, corners)
    found, _ = bound(surface_of(points, faces), corners, 0, rng.uniform(0, 4))
    # -1 where more triangles would have to be followed.
    assert found == -1 or found >= true * (1 - 1e-9)


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
    found, _ = bound(surface_of(points, sheet.triangles), corners, start, 1.1 * height)
    assert height * (1 - 1e-9) <= found <= 1.1 * height

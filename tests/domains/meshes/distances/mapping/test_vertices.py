from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from hra.domains.meshes.distances.mapping.vertices import nearest_place
from tests.helpers.surface_distance import distances


@given(st.integers(0, 2**32 - 1))
def test_the_nearest_place_is_the_nearest(seed: int) -> None:
    rng = np.random.default_rng(seed)
    corners, point = rng.normal(size=(1, 3, 3)), 2 * rng.normal(size=3)
    triangles = np.concatenate([corners[:, 0], corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0]], axis=1)
    square, *place, on = nearest_place(*point, triangles, 0)
    np.testing.assert_allclose(np.sqrt(square), distances(point[None], corners)[0], rtol=1e-9)
    np.testing.assert_allclose(np.linalg.norm(point - place), np.sqrt(square), rtol=1e-9)
    shares = np.linalg.solve(corners[0].T, place)
    zero = {0: [], 1: [2], 2: [0], 3: [1], 4: [1, 2], 5: [0, 2], 6: [0, 1]}[on]
    np.testing.assert_allclose(shares[zero], 0, atol=1e-6)

"""How much of each group is kept: limits, totals, and an independent solution by sorted breakpoints."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hra.domains import meshes
from hra.domains.meshes.building.level import balanced_shares
from hra_lab.inputs.mesh_sources import bumpy as displaced


def random_groups(seed: int, count: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    triangles = rng.integers(20, 600, count)
    kept = np.maximum((triangles * rng.uniform(0.45, 0.8, count)).astype(int), 1)
    return triangles, kept, np.exp(rng.normal(0, 3, count))


def by_breakpoints(triangles: np.ndarray, kept: np.ndarray, errors: np.ndarray) -> np.ndarray:
    """The shares at the scale where the sum, which is linear between breakpoints, is that of ``kept``."""
    wanted = kept / triangles * np.cbrt(errors / errors.max())
    at = np.sort(np.r_[0.3 / wanted, 0.7 / wanted])
    sums = [(triangles * np.clip(wanted * scale, 0.3, 0.7)).sum() for scale in at]
    return np.clip(wanted * np.interp(kept.sum(), sums, at), 0.3, 0.7)


@given(st.integers(0, 2**32 - 1), st.integers(1, 60))
def test_shares_are_those_of_the_breakpoints(seed: int, count: int) -> None:
    groups = random_groups(seed, count)
    shares = balanced_shares(*groups)
    np.testing.assert_allclose(shares, by_breakpoints(*groups), atol=1e-6)
    assert (shares >= 0.3).all()
    assert (shares <= 0.7).all()
    least = 0.3 * groups[0].sum()
    assert (groups[0] * shares).sum() <= max(groups[1].sum(), least) * (1 + 1e-9)


def test_equal_groups_stay_as_they_are() -> None:
    triangles = np.array([512, 512, 300])
    shares = balanced_shares(triangles, triangles // 2, np.full(3, 0.25))
    np.testing.assert_allclose(shares, 0.5, atol=1e-6)


def test_a_larger_error_keeps_more() -> None:
    triangles = np.full(6, 400)
    shares = balanced_shares(triangles, triangles // 2, np.geomspace(1, 6, 6))
    assert (np.diff(shares) > 0).all()


def test_groups_without_an_error_keep_least() -> None:
    triangles = np.full(3, 400)
    shares = balanced_shares(triangles, triangles // 2, np.array([0.0, 1.0, 0.0]))
    np.testing.assert_allclose(shares, [0.3, 0.7, 0.3])


@pytest.fixture(scope="module")
def uneven() -> meshes.TriangleMesh:
    """A bumpy ball, flat on one side: as many triangles everywhere, and half of them without any detail."""
    ball = displaced(5)
    positions = ball.positions.astype(np.float64)
    flat = positions[:, 0] < 0
    positions[flat, 0] = 0
    return meshes.from_arrays(positions.astype(np.float32), ball.triangles, warn_duplicates=False)


def test_levels_keep_triangles_where_the_detail_is(uneven: meshes.TriangleMesh) -> None:
    built = meshes.build(uneven)
    level = built.hierarchy.attribute("level")
    shares = []
    for number in (0, 1, 2):
        corners = built.positions[built.triangles(np.flatnonzero(level == number))]
        shares.append(float((corners[:, :, 0].mean(axis=1) > 0).mean()))
    assert shares[0] < shares[1] < shares[2]

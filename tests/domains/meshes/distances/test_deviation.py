"""How far groups are from each other: never below dense samples, exact where it can be, and no tighter than asked."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hra.domains import meshes
from hra.domains.meshes.distances.deviation import Patches, VertexMemory, group_deviations
from hra.domains.meshes.distances.triangle_distance import (
    fill_triangles,
    nearest_triangle,
    square_distance,
    surface_memory,
)
from tests.helpers.surface_distance import distances, samples_of, true_distances


def patches(*groups: tuple[np.ndarray, np.ndarray]) -> Patches:
    """Groups of triangles [n, 3], each a cluster with a deviation of its own [n]."""
    triangles = np.concatenate([triangles for triangles, _ in groups])
    deviation = np.concatenate([deviation for _, deviation in groups]).astype(np.float32)
    at = np.cumsum([0, *(len(triangles) for triangles, _ in groups)])
    return Patches(triangles.astype(np.uint32).reshape(-1), 3 * np.arange(len(triangles) + 1), deviation, at)


def bounds(points: np.ndarray, moved: Patches, onto: Patches, enough: float = 0.0) -> np.ndarray:
    return group_deviations(points, moved, onto, np.full(len(moved.groups) - 1, enough))


def one_group(points: np.ndarray, fine: np.ndarray, coarse: np.ndarray) -> tuple[float, float]:
    """The bound for triangles ``fine`` [F, 3] from ``coarse`` [C, 3], and the largest distance of samples."""
    bound = bounds(points, patches((fine, np.zeros(len(fine)))), patches((coarse, np.zeros(len(coarse)))))
    true = true_distances(samples_of(points, fine), meshes.TriangleMesh(points, coarse.astype(np.uint32)))
    return float(bound[0]), float(true.max())


@given(st.integers(0, 2**32 - 1), st.integers(1, 4), st.integers(1, 12))
def test_the_bound_holds_for_any_triangles(seed: int, fine: int, coarse: int) -> None:
    rng = np.random.default_rng(seed)
    points = rng.normal(size=(12, 3)).astype(np.float32)
    corners = rng.integers(0, 12, (fine + coarse, 3))
    bound, true = one_group(points, corners[:fine], corners[fine:])
    assert true <= bound * (1 + 1e-9)


@given(st.integers(0, 2**32 - 1))
def test_memory_of_earlier_groups_changes_nothing(seed: int) -> None:
    rng, memory = np.random.default_rng(seed), VertexMemory(12)
    points = rng.normal(size=(12, 3)).astype(np.float32)
    for count in (1, 3, 2):
        moved, onto = (
            patches(*((rng.integers(0, 12, (3, 3)), rng.random(3)) for _ in range(count))) for _ in ("moved", "onto")
        )
        fresh = bounds(points, moved, onto)
        assert np.array_equal(group_deviations(points, moved, onto, np.zeros(count), memory), fresh)


@given(st.integers(0, 2**32 - 1), st.integers(1, 4), st.integers(1, 12))
def test_deviations_of_both_sides_count(seed: int, moved: int, onto: int) -> None:
    """A sample may be off by its own cluster's deviation, and what it is near to by that one's."""
    rng = np.random.default_rng(seed)
    points = rng.normal(size=(12, 3)).astype(np.float32)
    first, second = rng.integers(0, 12, (moved, 3)), rng.integers(0, 12, (onto, 3))
    off, away = rng.exponential(0.5, moved), rng.exponential(0.5, onto) * (rng.random(onto) < 0.5)
    bound = bounds(points, patches((first, off)), patches((second, away)))[0]
    samples = samples_of(points, first)
    to_each = np.array(
        [distances(samples, np.repeat(points[t].astype(np.float64)[None], len(samples), 0)) for t in second]
    )
    off, away = off.astype(np.float32), away.astype(np.float32)
    least = (to_each + away[:, None]).min(axis=0) + np.repeat(off, len(samples) // len(first))
    assert least.max() <= bound * (1 + 1e-6)


@given(st.integers(0, 2**32 - 1))
def test_groups_do_not_meet(seed: int) -> None:
    rng = np.random.default_rng(seed)
    points = rng.normal(size=(12, 3)).astype(np.float32)
    moved, onto = ([(rng.integers(0, 12, (n, 3)), np.zeros(n)) for n in rng.integers(1, 6, 3)] for _ in range(2))
    together = bounds(points, patches(*moved), patches(*onto))
    alone = [bounds(points, patches(a), patches(b))[0] for a, b in zip(moved, onto, strict=True)]
    np.testing.assert_array_equal(together, alone)


def test_a_triangle_over_a_pit_is_as_far_as_its_middle() -> None:
    # Every corner is where it was, so that only the inside can tell.
    points = np.array([[0, 0, 0], [1, 0, 0], [0, 1, 0], [0.3, 0.3, -0.2]], np.float32)
    bound, true = one_group(points, np.array([[0, 1, 2]]), np.array([[0, 1, 3], [1, 2, 3], [2, 0, 3]]))
    assert 0.1 < true <= bound <= 1.5 * true


@pytest.mark.parametrize("cells", [4, 20, 60])
def test_one_large_triangle_over_many_small_ones_is_measured(make_grid, cells: int) -> None:
    """As tightly over 7,200 triangles as over 32: a bump of known height beneath one corner's half."""
    sheet = make_grid(cells)
    points = sheet.positions.copy()
    middle = np.linalg.norm(points[:, :2] - 0.3, axis=1) < 0.1
    points[middle, 2] = 0.05
    corners = [np.flatnonzero((points[:, :2] == corner).all(axis=1))[0] for corner in ([0, 0], [1, 0], [0, 1])]
    bound, true = one_group(points, np.array([corners]), sheet.triangles)
    height = 0.05 if middle.any() else 0.0
    assert true <= bound <= max(1.15 * height, 1e-4)


def test_bounds_are_no_tighter_than_enough() -> None:
    points = np.array([[0, 0, 0], [1, 0, 0], [0, 1, 0], [0.3, 0.3, -0.2]], np.float32)
    pit = patches((np.array([[0, 1, 3], [1, 2, 3], [2, 0, 3]]), np.zeros(3)))
    lid = patches((np.array([[0, 1, 2]]), np.zeros(1)))
    tight, loose = (float(bounds(points, lid, pit, enough)[0]) for enough in (0.0, 0.7))
    assert tight < loose <= 0.7 * (1 + 1e-6)


@given(st.integers(0, 2**32 - 1), st.sampled_from([0, 1, 2, 3]))
def test_distances_agree_with_the_reference(seed: int, collapsed: int) -> None:
    rng = np.random.default_rng(seed)
    points = rng.normal(size=(30, 3)).astype(np.float32)
    corners = rng.integers(0, 30, (20, 3)).astype(np.uint32)
    corners[:, 1] = np.where(np.arange(20) < collapsed, corners[:, 0], corners[:, 1])
    triangles, balls, runs, gaps = surface_memory(20)
    fill_triangles(points, corners.reshape(-1), 0, corners.size, np.zeros(3), triangles, balls, runs)
    query = rng.normal(size=3) * rng.choice([0.1, 1, 10])
    x, y, z = query
    expected = distances(np.repeat(query[None], 20, axis=0), points[corners].astype(np.float64))
    found = np.sqrt([square_distance(x, y, z, triangles, k) for k in range(20)])
    assert np.allclose(found, expected, rtol=1e-6)
    _, square = nearest_triangle(x, y, z, triangles, balls, runs, 20, 0, gaps)
    assert np.sqrt(square) == pytest.approx(expected.min(), rel=1e-6)

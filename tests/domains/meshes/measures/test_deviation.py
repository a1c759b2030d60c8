"""Deviations: never below the true distance from the source, monotone, and not much looser than that."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.spatial import KDTree

import hra
from hra.domains import meshes
from hra.domains.meshes.measures.deviation import group_deviations
from hra.domains.meshes.measures.surface import surface_points
from hra.domains.meshes.measures.triangle_distance import (
    fill_triangles,
    nearest_triangle,
    square_distance,
    surface_memory,
)
from hra.errors import MetricError

SAMPLES = 10_000


def segment_distance(point: np.ndarray, start: np.ndarray, end: np.ndarray) -> np.ndarray:
    """Distances [n] from points [n, 3] to segments [n, 3]."""
    side = end - start
    length = (side**2).sum(axis=1)
    share = np.divide(((point - start) * side).sum(axis=1), length, out=np.zeros(len(side)), where=length > 0)
    return np.linalg.norm(point - start - np.clip(share, 0, 1)[:, None] * side, axis=1)


def distances(point: np.ndarray, corners: np.ndarray) -> np.ndarray:
    """Distances [n] from points [n, 3] to triangles [n, 3, 3]: to the plane if its foot is inside, else to a side."""
    a, b, c = corners.transpose(1, 0, 2)
    result = np.min([segment_distance(point, p, q) for p, q in ((a, b), (b, c), (c, a))], axis=0)
    normal = np.cross(b - a, c - a)
    square = (normal**2).sum(axis=1)
    height = ((point - a) * normal).sum(axis=1)
    inside = square > 0
    for p, q in ((a, b), (b, c), (c, a)):
        inside &= (np.cross(q - p, point - p) * normal).sum(axis=1) >= 0
    return np.where(inside, np.abs(height) / np.sqrt(np.where(square > 0, square, 1)), result)


def true_distances(points: np.ndarray, mesh: meshes.TriangleMesh) -> np.ndarray:
    """Distance from each point [n, 3] to the surface: triangles with near centres, until no other can be nearer."""
    corners = mesh.positions[mesh.triangles].astype(np.float64)
    center = corners.mean(axis=1)
    reach = np.linalg.norm(corners - center[:, None], axis=2).max()
    tree, best = KDTree(center), np.full(len(points), np.inf)
    left, count = np.arange(len(points)), min(8, len(center))
    while len(left):
        gaps, which = (array.reshape(len(left), -1) for array in tree.query(points[left], count))
        for gap, column in zip(gaps.T, which.T, strict=True):
            open_ = gap - reach < best[left]
            rows = left[open_]
            best[rows] = np.minimum(best[rows], distances(points[rows], corners[column[open_]]))
        if count == len(center):
            break
        left, count = left[gaps[:, -1] - reach < best[left]], min(4 * count, len(center))
    return best


def level_cut(clusters: meshes.ClusterMesh, level: int) -> np.ndarray:
    """The clusters that are drawn if every group of a level above ``level`` is refined."""
    hierarchy, levels = clusters.hierarchy, clusters.hierarchy.attribute("level")
    product = hierarchy.removed_by >= 0
    group_level = np.zeros(len(hierarchy), np.int64)
    group_level[hierarchy.removed_by[product]] = levels[product]
    return np.flatnonzero(hierarchy.active_nodes(group_level > level))


def ratios(clusters: meshes.ClusterMesh, source: meshes.TriangleMesh, samples: int) -> list[float]:
    """Bound / largest sampled distance of every level; fails where the bound does not hold."""
    points, found = surface_points(source, samples, np.random.default_rng(0)), []
    for level in range(1, int(clusters.hierarchy.attribute("level").max()) + 1):
        cut = level_cut(clusters, level)
        bound = clusters.hierarchy.attribute("deviation")[cut].max()
        true = true_distances(points, clusters.mesh(cut)).max()
        assert true <= bound
        found.append(bound / true)
    return found


@pytest.fixture(scope="module")
def certified_skull(skull: meshes.TriangleMesh) -> meshes.ClusterMesh:
    return meshes.build(skull, certified=True)


@pytest.fixture(scope="module")
def certified_bumpy(bumpy: meshes.TriangleMesh) -> meshes.ClusterMesh:
    return meshes.build(bumpy, certified=True)


@pytest.mark.slow
def test_the_bound_holds_on_every_level_of_the_skull_and_is_not_loose(
    certified_skull: meshes.ClusterMesh, skull: meshes.TriangleMesh
) -> None:
    assert np.median(ratios(certified_skull, skull, SAMPLES)) <= 2.5


def test_the_bound_holds_on_every_level(certified_bumpy: meshes.ClusterMesh, bumpy: meshes.TriangleMesh) -> None:
    assert np.median(ratios(certified_bumpy, bumpy, 2000)) <= 4


@pytest.mark.parametrize("name", ["islands", "bow tie", "far away", "tiny", "flat two-sided"])
def test_the_bound_holds_on_hard_meshes(hard_meshes: dict, name: str, down_closed: Callable, rng) -> None:
    source = hard_meshes[name]
    clusters = meshes.build(source, cluster_size=16, group_size=4, certified=True)
    points = surface_points(source, 500, rng)
    for _ in range(5):
        cut = np.flatnonzero(clusters.hierarchy.active_nodes(down_closed(clusters.hierarchy, rng)))
        # The reference itself rounds: points are given in float64, differences of large coordinates are not.
        rounding = 1e-15 * np.abs(source.positions).max()
        bound = clusters.hierarchy.attribute("deviation")[cut].max()
        assert true_distances(points, clusters.mesh(cut)).max() <= bound + rounding


def one_group(points: np.ndarray, fine: np.ndarray, coarse: np.ndarray) -> tuple[float, float]:
    """The bound for triangles ``fine`` [F, 3] that became ``coarse`` [C, 3], and the largest distance of samples."""
    members = (fine.reshape(-1), np.array([0, fine.size]), np.zeros(1, np.float32))
    bound = group_deviations(points, members, np.array([0, 1]), (coarse.reshape(-1), np.array([0, coarse.size])))
    shares = np.array([(i, j, 12 - i - j) for i in range(13) for j in range(13 - i)]) / 12
    samples = np.einsum("sc,fca->fsa", shares, points[fine].astype(np.float64)).reshape(-1, 3)
    return float(bound[0]), float(true_distances(samples, meshes.TriangleMesh(points, coarse)).max())


@given(st.integers(0, 2**32 - 1), st.integers(1, 4), st.integers(1, 12))
def test_the_bound_holds_for_any_triangles(seed: int, fine: int, coarse: int) -> None:
    rng = np.random.default_rng(seed)
    points = rng.normal(size=(12, 3)).astype(np.float32)
    corners = rng.integers(0, 12, (fine + coarse, 3)).astype(np.uint32)
    bound, true = one_group(points, corners[:fine], corners[fine:])
    assert true <= bound * (1 + 1e-9)


def test_a_triangle_over_a_pit_is_as_far_as_its_middle() -> None:
    # Every corner is where it was, so that only the inside can tell.
    points = np.array([[0, 0, 0], [1, 0, 0], [0, 1, 0], [0.3, 0.3, -0.2]], np.float32)
    bound, true = one_group(
        points, np.array([[0, 1, 2]], np.uint32), np.array([[0, 1, 3], [1, 2, 3], [2, 0, 3]], np.uint32)
    )
    assert 0.1 < true <= bound <= 1.5 * true


def test_deviations_grow_from_fine_to_coarse(certified_bumpy: meshes.ClusterMesh) -> None:
    hierarchy, deviation = certified_bumpy.hierarchy, certified_bumpy.hierarchy.attribute("deviation")
    (added_at, added), (removed_at, removed) = hierarchy.added_nodes, hierarchy.removed_nodes
    for r in range(len(hierarchy)):
        coarse = deviation[removed[removed_at[r] : removed_at[r + 1]]]
        assert (coarse == coarse[0]).all()
        assert coarse[0] >= deviation[added[added_at[r] : added_at[r + 1]]].max()
    assert not deviation[hierarchy.attribute("level") == 0].any()


def test_a_flat_sheet_hardly_deviates(make_grid: Callable) -> None:
    sheet = meshes.build(make_grid(40), certified=True)
    assert sheet.hierarchy.attribute("deviation").max() < 1e-4


def test_a_threshold_by_deviation_keeps_every_point_within_it(
    certified_bumpy: meshes.ClusterMesh, bumpy: meshes.TriangleMesh
) -> None:
    camera = hra.Camera.orthographic((0, 0, 5), (0, 0, 0), height=4, far=10, viewport=(400, 400))
    metric = meshes.ScreenError("deviation")
    allocator = meshes.MeshAllocator(certified_bumpy, metric, hra.Threshold(1.0))
    surface = allocator.realize(allocator.allocate(camera, np.inf))
    assert len(surface.triangles) < len(bumpy.triangles)
    points = surface_points(bumpy, 2000, np.random.default_rng(1))
    assert true_distances(points, surface).max() * 100 <= 1


def test_an_unknown_or_missing_error_is_refused(bumpy_clusters: meshes.ClusterMesh) -> None:
    with pytest.raises(MetricError, match="no error 'true'"):
        meshes.ScreenError("true")  # pyright: ignore[reportArgumentType]
    with pytest.raises(MetricError, match="deviation"):
        meshes.ScreenError("deviation").peak(bumpy_clusters.hierarchy, hra.Camera.orbit(bumpy_clusters.bounds))


def test_files_keep_the_deviation(certified_bumpy: meshes.ClusterMesh, tmp_path: Path) -> None:
    certified_bumpy.save(tmp_path / "a.hra")
    again = meshes.load_clusters(tmp_path / "a.hra").hierarchy.attribute("deviation")
    assert np.array_equal(again, certified_bumpy.hierarchy.attribute("deviation"))


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

"""The bound that meshes carry: on both sides, for every cut, of hard surfaces too; against dense samples."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

import hra
from hra.domains import meshes
from hra_lab.inputs.mesh_sources import bumpy as displaced
from tests.helpers.hard_surfaces import HARD_SURFACES
from tests.helpers.seamed_meshes import grid
from tests.helpers.surface_distance import dense_points, distances

SAMPLES = 10_000


def farthest(points: np.ndarray, surface: meshes.TriangleMesh) -> float:
    """The largest distance of points; the largest ones and some others are measured in another way as well."""
    found = meshes.nearest_distances(points, surface.positions, surface.triangles)
    corners = surface.positions[surface.triangles].astype(np.float64)
    for i in (*np.argsort(found)[-8:], *range(0, len(points), max(1, len(points) // 8))):
        again = distances(np.repeat(points[[i]], len(corners), axis=0), corners).min()
        assert found[i] == pytest.approx(again, rel=1e-6, abs=1e-6 * np.ptp(points))
    return float(found.max())


def sides(source: meshes.TriangleMesh, cut: meshes.TriangleMesh, samples: int) -> tuple[float, float]:
    """The largest distance of points of the source from the cut, and of points of the cut from the source."""
    rng = np.random.default_rng(0)
    lost = farthest(dense_points(source, 4, samples, rng), cut)
    return lost, farthest(dense_points(cut, 12, samples, rng), source)


def level_cut(clusters: meshes.ClusterMesh, level: int) -> np.ndarray:
    """The clusters that are drawn if every group of a level above ``level`` is refined."""
    hierarchy, levels = clusters.hierarchy, clusters.hierarchy.attribute("level")
    product = hierarchy.removed_by >= 0
    group_level = np.zeros(len(hierarchy), np.int64)
    group_level[hierarchy.removed_by[product]] = levels[product]
    return np.flatnonzero(hierarchy.active_nodes(group_level > level))


def ratios(clusters: meshes.ClusterMesh, source: meshes.TriangleMesh, samples: int) -> list[float]:
    """Bound / largest sampled distance of every level; fails where the bound does not hold."""
    found = []
    for level in range(1, int(clusters.hierarchy.attribute("level").max()) + 1):
        cut = level_cut(clusters, level)
        bound = float(clusters.hierarchy.attribute("hausdorff")[cut].max())
        true = max(sides(source, clusters.mesh(cut), samples))
        assert true <= bound
        found.append(bound / true)
    return found


@pytest.mark.slow
def test_the_bound_holds_on_every_level_of_the_skull_and_is_not_loose(
    skull_clusters: meshes.ClusterMesh, skull: meshes.TriangleMesh
) -> None:
    assert np.median(ratios(skull_clusters, skull, SAMPLES)) <= 4.5


def test_the_bound_holds_on_every_level(bumpy_clusters: meshes.ClusterMesh, bumpy: meshes.TriangleMesh) -> None:
    assert np.median(ratios(bumpy_clusters, bumpy, 2000)) <= 5


def check_cuts(
    source: meshes.TriangleMesh, down_closed: Callable, rng: np.random.Generator, count: int, samples: int
) -> float:
    """The largest share of the bound that random cuts use, and the root; fails where it does not hold."""
    clusters = meshes.build(source, cluster_size=16, group_size=4)
    hierarchy, largest = clusters.hierarchy, 0.0
    # The reference itself rounds: points are given in float64, differences of large coordinates are not.
    rounding = 1e-13 * float(np.abs(source.positions).max())
    chosen = [np.zeros(len(hierarchy), bool), *(down_closed(hierarchy, rng) for _ in range(count))]
    for cut in (np.flatnonzero(hierarchy.active_nodes(selected)) for selected in chosen):
        true = max(sides(source, clusters.mesh(cut), samples))
        bound = float(hierarchy.attribute("hausdorff")[cut].max())
        assert true <= bound + rounding
        largest = max(largest, true / bound if bound else 0.0)
    return largest


@pytest.mark.parametrize("name", ["islands", "bow tie", "edge of four faces", "far away", "tiny", "flat two-sided"])
def test_the_bound_holds_on_hard_meshes(hard_meshes: dict, name: str, down_closed: Callable, rng) -> None:
    check_cuts(hard_meshes[name], down_closed, rng, 5, 500)


@pytest.mark.parametrize("name", HARD_SURFACES)
def test_the_bound_holds_on_hard_surfaces(name: str, down_closed: Callable, rng) -> None:
    assert check_cuts(HARD_SURFACES[name](), down_closed, rng, 3, 3000) <= 1


@pytest.mark.slow
@pytest.mark.parametrize("name", HARD_SURFACES)
def test_the_bound_holds_on_many_cuts_of_hard_surfaces(name: str, down_closed: Callable, rng) -> None:
    check_cuts(HARD_SURFACES[name](), down_closed, rng, 40, 20_000)


def test_the_quadric_is_no_bound() -> None:
    """Why thresholds go by another error."""
    source = HARD_SURFACES["thin sheet"]()
    clusters = meshes.build(source, cluster_size=16, group_size=4)
    root = np.flatnonzero(clusters.hierarchy.added_by < 0)
    true = max(sides(source, clusters.mesh(root), 3000))
    assert true > 2 * clusters.hierarchy.attribute("error")[root].max()


def notched() -> meshes.TriangleMesh:
    """A plane with narrow deep slots: what bridges them is far from the plane's surface, and no point of it is lost."""
    x = np.sort(np.r_[np.linspace(0, 1, 33), np.linspace(0, 1, 33)[1:-1] + 1e-4])
    y = np.linspace(0, 1, 17)
    depth = np.where(np.arange(x.size) % 2 == 0, 0.0, -0.3)
    points = np.stack([np.tile(x, y.size), np.repeat(y, x.size), np.tile(depth, y.size)], axis=1)
    return meshes.from_arrays(points, grid(x.size - 1, y.size - 1))


def test_both_sides_are_bounded() -> None:
    """Some cuts are farther from the source than the source is from them: one side would not do."""
    more = 0
    for make in (notched, HARD_SURFACES["needles"], HARD_SURFACES["torn"]):
        source = make()
        clusters = meshes.build(source, cluster_size=16, group_size=4)
        drawn = clusters.hierarchy.base_cost + np.cumsum(clusters.hierarchy.cost)
        for share in (0.1, 0.2, 0.4, 0.6, 0.8):
            cut = np.flatnonzero(clusters.hierarchy.active_nodes(drawn <= share * drawn[-1]))
            lost, added = sides(source, clusters.mesh(cut), 4000)
            assert max(lost, added) <= clusters.hierarchy.attribute("hausdorff")[cut].max()
            more += added > 1.2 * lost
    assert more >= 2


def test_bounds_grow_from_fine_to_coarse(bumpy_clusters: meshes.ClusterMesh) -> None:
    hierarchy, bound = bumpy_clusters.hierarchy, bumpy_clusters.hierarchy.attribute("hausdorff")
    (added_at, added), (removed_at, removed) = hierarchy.added_nodes, hierarchy.removed_nodes
    for r in range(len(hierarchy)):
        coarse = bound[removed[removed_at[r] : removed_at[r + 1]]]
        assert (coarse == coarse[0]).all()
        assert coarse[0] >= bound[added[added_at[r] : added_at[r + 1]]].max()
    assert not bound[hierarchy.attribute("level") == 0].any()


@pytest.mark.parametrize(("name", "most"), [("flat", 1e-5), ("block", 1e-2)])
def test_what_is_flat_hardly_deviates(name: str, most: float) -> None:
    """Also where one large triangle lies over very many; over triangles without an area it is loose (block)."""
    built = meshes.build(HARD_SURFACES[name]())
    assert built.triangle_count > 10 * built.root_triangle_count
    assert built.hierarchy.attribute("hausdorff").max() < most


def test_builds_are_certified_unless_told_otherwise(
    bumpy: meshes.TriangleMesh, bumpy_clusters: meshes.ClusterMesh
) -> None:
    assert "hausdorff" in bumpy_clusters.hierarchy.node
    assert "hausdorff" not in meshes.build(bumpy, certified=False).hierarchy.node


def test_files_keep_the_bound(bumpy_clusters: meshes.ClusterMesh, tmp_path: Path) -> None:
    bumpy_clusters.save(tmp_path / "a.hra")
    asset = meshes.open_asset(tmp_path / "a.hra")
    again = asset.hierarchy.attribute("hausdorff")
    assert asset.facts["certified"]
    assert np.array_equal(again, bumpy_clusters.hierarchy.attribute("hausdorff"))


@pytest.mark.parametrize("subdivisions", [4, 5])
def test_most_of_a_certified_tolerance_is_used(subdivisions: int) -> None:
    """Bounds of consecutive simplifications that add up left half of it unused."""
    source = displaced(subdivisions)
    clusters = meshes.build(source)
    extent, used = float(np.ptp(clusters.bounds, axis=0).max()), []
    for share in np.geomspace(0.004, 0.04, 5):
        allocator = meshes.MeshAllocator(clusters, meshes.SurfaceError("hausdorff"), hra.Threshold(share * extent))
        cut = allocator.allocate(None, np.inf).cut
        bound = float(clusters.hierarchy.attribute("hausdorff")[cut].max())
        true = max(sides(source, clusters.mesh(cut), 20_000))
        assert true <= bound <= share * extent
        used.append(true / (share * extent))
    assert np.median(used) >= 0.75

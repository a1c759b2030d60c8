"""Pages of a file as units of a byte pool, over a camera path."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import hra
from hra.domains import meshes
from hra.errors import ArrayError, HierarchyError, HraError
from hra.residency import LRU, ResidentPool, Streaming, close_upward


@pytest.fixture(scope="module")
def asset(skull_file: Path) -> meshes.MeshAsset:
    return meshes.open_asset(skull_file)


@pytest.fixture(scope="module")
def flight(asset: meshes.MeshAsset) -> list[hra.Allocation]:
    """Towards the skull and around it, within 8,000 triangles."""
    allocator, reach = meshes.MeshAllocator(asset), float(np.linalg.norm(np.ptp(asset.bounds, axis=0)))
    cameras = [hra.Camera.orbit(asset.bounds, azimuth=9 * k, distance=reach * (2 - 0.14 * k)) for k in range(10)]
    return [allocator.allocate(camera, 8000) for camera in cameras]


def test_parents_are_coarser_and_base_pages_stay(asset: meshes.MeshAsset) -> None:
    parents, hierarchy = meshes.page_parents(asset), asset.hierarchy
    base = np.unique(asset.page_of[hierarchy.added_by < 0])
    assert np.flatnonzero(parents < 0).tolist() == base.tolist()
    assert (parents < np.arange(len(parents))).all()
    for page in np.flatnonzero(parents >= 0).tolist():
        coarse = coarser_pages(asset, page)
        counts = np.bincount(coarse[coarse < page])
        assert counts[parents[page]] == counts.max()


def coarser_pages(asset: meshes.MeshAsset, page: int) -> np.ndarray:
    """Page of what each cluster of a page was simplified to."""
    hierarchy = asset.hierarchy
    groups = [g for c in np.flatnonzero(asset.page_of == page) if (g := hierarchy.added_by[c]) >= 0]
    return np.array([asset.page_of[np.flatnonzero(hierarchy.removed_by == g)[0]] for g in groups])


def test_what_an_allocation_wants_holds_every_coarser_cut(asset: meshes.MeshAsset, flight) -> None:
    parents = meshes.page_parents(asset)
    pages, gains = meshes.wanted_pages(asset, flight[-1], parents)
    selected, hierarchy = flight[-1].selected, asset.hierarchy
    reached = [c for c, g in enumerate(hierarchy.added_by) if g < 0 or selected[g]]
    assert set(asset.page_of[reached]) <= set(pages)
    assert set(parents[pages]) - {-1} <= set(pages)
    assert gains.sum() == pytest.approx(flight[-1].gain)


def test_what_can_be_drawn_is_the_largest_such_cut(asset: meshes.MeshAsset, flight, rng: np.random.Generator) -> None:
    """Against a search: groups join as long as their members are there and what they need has joined."""
    hierarchy, selected = asset.hierarchy, flight[-1].selected
    for _ in range(5):
        resident = rng.random(len(asset.page_bytes)) < 0.7
        resident[asset.page_of[hierarchy.added_by < 0]] = True
        taken: set[int] = set()
        needs = {g: set(hierarchy.edges[hierarchy.edges[:, 1] == g, 0].tolist()) for g in range(len(hierarchy))}
        there = {g for g in needs if resident[asset.page_of[hierarchy.added_by == g]].all() and selected[g]}
        while more := {g for g in there - taken if needs[g] <= taken}:
            taken |= more
        chosen = np.isin(np.arange(len(hierarchy)), list(taken))
        expected = np.flatnonzero(hierarchy.active_nodes(chosen))
        assert np.array_equal(meshes.drawable(asset, selected, resident), expected)


def test_traces_serve_the_policies(asset: meshes.MeshAsset, flight) -> None:
    trace = meshes.page_trace(asset, flight)
    assert len(trace) == len(flight) and close_upward(trace).demands.size == trace.demands.size
    pool = int(asset.page_bytes.sum()) * 3 // 4
    for policy in (Streaming(), LRU()):
        held = list(policy.run(trace, pool).residents(len(asset.page_bytes)))
        assert len(held) == len(flight)
        assert all(asset.page_bytes[there].sum() <= pool for there in held)


def test_a_pool_draws_what_is_there(asset: meshes.MeshAsset, flight) -> None:
    """Uploads of one page per frame: cuts are whole surfaces at once, and become those that were asked for."""
    parents = meshes.page_parents(asset)
    pool = ResidentPool(
        asset.page_bytes, parents, pool_bytes=int(asset.page_bytes.sum()), upload_bytes=int(asset.page_bytes.max())
    )
    drawn, cut = [], np.empty(0, np.int64)
    for allocation in [flight[-1]] * 12:
        changes = pool.advance(*meshes.wanted_pages(asset, allocation, parents))
        assert len(changes.loaded) <= 1 + (pool.frame == 0) * int((parents < 0).sum())
        cut = meshes.drawable(asset, allocation.selected, pool.resident)
        assert pool.resident[asset.pages_of(cut)].all()
        mesh = asset.mesh(cut)
        # Each source triangle is drawn once at some level: areas of the source add up.
        area = asset.hierarchy.attribute("area")
        assert area[cut].sum() == pytest.approx(area[asset.hierarchy.removed_by < 0].sum())
        drawn.append(len(mesh.triangles))
    assert drawn == sorted(drawn) and drawn[0] < drawn[-1]
    assert np.array_equal(cut, flight[-1].cut)


def test_what_is_of_another_asset_is_refused(asset: meshes.MeshAsset, flight) -> None:
    of_pages = meshes.PageAllocator(asset)
    allocation = of_pages.allocate(hra.Camera.orbit(asset.bounds), of_pages.least_bytes)
    with pytest.raises(HierarchyError, match="not over the clusters"):
        meshes.page_trace(asset, [allocation])
    parents, own = meshes.page_parents(asset), meshes.MeshAllocator(asset).allocate(allocation.context, 10**6)
    for other in (parents[1:], parents + len(parents), None):
        with pytest.raises(ArrayError):
            meshes.wanted_pages(asset, own, other)  # pyright: ignore
    for wrong in (None, 5, [], asset):
        for call in (of_pages.pages, of_pages.realize, lambda wrong: meshes.wanted_pages(asset, wrong, parents)):
            with pytest.raises(HraError, match="must be a Allocation"):
                call(wrong)  # pyright: ignore
    for rows in ([-1], [10**6], [0.5]):
        with pytest.raises(ArrayError, match="rows"):
            asset.read_page(0).take(rows)  # pyright: ignore


@pytest.mark.case(3)
def test_a_mesh_of_one_triangle_is_one_page(tmp_path: Path, assert_same) -> None:
    points, corners = np.eye(3, dtype=np.float32), np.array([[0, 1, 2]], np.uint32)
    mesh = meshes.build(meshes.TriangleMesh(points, corners))
    mesh.save(tmp_path / "a.hra")
    asset = meshes.open_asset(tmp_path / "a.hra")
    assert_same(mesh, asset.read())
    parents = meshes.page_parents(asset)
    allocation = meshes.MeshAllocator(asset).allocate(hra.Camera.orbit(asset.bounds), 1)
    assert parents.tolist() == [-1]
    assert meshes.wanted_pages(asset, allocation, parents)[0].tolist() == [0]
    assert meshes.drawable(asset, allocation.selected, np.array([True])).tolist() == [0]


def test_a_base_of_many_pages_stays_resident(skull_clusters: meshes.ClusterMesh, tmp_path: Path) -> None:
    """Clusters without any refinement: all of them are the base."""
    source = skull_clusters.hierarchy.removed_by < 0
    flat = np.full(int(source.sum()), -1)
    attributes = {name: values[source] for name, values in skull_clusters.hierarchy.node.items()}
    hierarchy = hra.Hierarchy.groups(skull_clusters.triangles_per_cluster[source], flat, flat, attributes=attributes)
    indices = skull_clusters.triangles(np.flatnonzero(source)).reshape(-1)
    offsets = np.concatenate([[0], np.cumsum(3 * skull_clusters.triangles_per_cluster[source])])
    meshes.ClusterMesh(skull_clusters.positions, indices, offsets, hierarchy).save(tmp_path / "a.hra")
    asset = meshes.open_asset(tmp_path / "a.hra")
    assert len(asset.page_bytes) >= 4
    assert (meshes.page_parents(asset) == -1).all()
    assert len(asset.mesh(np.arange(len(flat))).triangles) == skull_clusters.triangle_count

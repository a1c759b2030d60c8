"""Streaming the pages of a mesh: budgets are what is held, frames go on, and cuts are whole surfaces."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import hra
from hra.domains import meshes
from hra.errors import BudgetTooSmall, FileError, HierarchyError, HraError
from hra.residency import Reading
from tests.helpers.virtual_reads import Flaky, VirtualReads


@pytest.fixture(scope="module")
def asset(skull_file: Path) -> meshes.MeshAsset:
    return meshes.open_asset(skull_file)


@pytest.fixture(scope="module")
def allocator(asset: meshes.MeshAsset) -> meshes.PageAllocator:
    return meshes.PageAllocator(asset)


def views(asset: meshes.MeshAsset, count: int, seed: int = 0) -> list[hra.Camera]:
    """Cameras near and far, some of which see nothing."""
    random, bounds = np.random.default_rng(seed), asset.bounds
    reach, found = float(np.linalg.norm(np.ptp(bounds, axis=0))), []
    for _ in range(count):
        direction = random.normal(size=3)
        direction *= reach * 2 ** random.uniform(-2, 1) / np.linalg.norm(direction)
        target = bounds.mean(axis=0) + random.uniform(-0.4, 0.4, 3) * np.ptp(bounds, axis=0)
        found.append(hra.Camera.perspective(eye=target + direction, target=target, up=(0, 0, 1)))
    return found


def assert_whole(asset: meshes.MeshAsset, cut: np.ndarray, resident: np.ndarray) -> None:
    """Every source triangle is drawn once at some level, from pages that are there."""
    area = asset.hierarchy.attribute("area")
    assert area[cut].sum() == pytest.approx(area[asset.hierarchy.removed_by < 0].sum())
    assert resident[asset.pages_of(cut)].all()


def test_what_an_allocation_costs_is_what_it_holds(allocator: meshes.PageAllocator) -> None:
    asset = allocator.asset
    for camera in views(asset, 5):
        for share in (0.1, 0.25, 0.5, 0.75, 1.0):
            pool = share * asset.slot_bytes * len(asset.page_bytes)
            allocation = allocator.allocate(camera, pool)
            pages = allocator.pages(allocation)
            assert len(pages) * asset.slot_bytes == allocation.cost <= pool
            held = np.isin(np.arange(len(asset.page_bytes)), pages)
            cut = allocator.drawn(allocation, held)
            assert_whole(asset, cut, held)
            assert allocator.residual(allocation, held) == pytest.approx(allocation.residual, rel=1e-6, abs=1e-12)
            assert allocation.gap < 0.3
        assert len(allocator.realize(allocation).triangles) > 0


def test_a_held_page_that_is_not_wanted_is_drawn_as_well(allocator: meshes.PageAllocator) -> None:
    camera = hra.Camera.orbit(allocator.asset.bounds, azimuth=30, up=(0, 0, 1))
    allocation = allocator.allocate(camera, allocator.least_bytes)
    held = np.isin(np.arange(len(allocator.asset.page_bytes)), allocator.pages(allocation))
    everything = np.ones_like(held)
    assert allocator.residual(allocation, everything) < allocation.residual
    triangles = allocator.asset.triangles_per_cluster
    more, fewer = (triangles[allocator.drawn(allocation, there)].sum() for there in (everything, held))
    assert more > fewer


class _OnlyPeaks(hra.ErrorMetric):
    """Thresholds see displacements, budgets see nothing: no refinement gains."""

    def evaluate(self, hierarchy: hra.Hierarchy, context: hra.Camera) -> np.ndarray:
        return np.zeros(hierarchy.node_cost.size)

    def peak(self, hierarchy: hra.Hierarchy, context: hra.Camera) -> np.ndarray:
        return meshes.ScreenError().peak(hierarchy, context)


@pytest.mark.parametrize("metric", [meshes.ScreenError(), _OnlyPeaks()], ids=["displacement", "no gains"])
def test_a_streamed_cut_keeps_its_threshold(asset: meshes.MeshAsset, metric: hra.ErrorMetric) -> None:
    for tolerance in (0.2, 1.0, 4.0):
        allocator = meshes.PageAllocator(asset, metric, hra.Threshold(tolerance))
        streamer = meshes.MeshStreamer(allocator, pool_bytes=asset.slot_bytes * len(asset.page_bytes))
        for camera in views(asset, 3):
            update = streamer.step(camera)
            assert not update.queued.size
            assert metric.peak(asset.hierarchy, camera)[update.cut].max() <= tolerance


@pytest.mark.parametrize("share", [0.1, 0.25, 0.5, 0.75])
def test_teleports_with_failing_readers_stay_within_the_pool(allocator: meshes.PageAllocator, share: float) -> None:
    asset, machine = allocator.asset, VirtualReads(int(100 * share), slowest=0.15)
    limit = int(2 * asset.read_bytes.max())
    pool = max(share * asset.slot_bytes * len(asset.page_bytes), allocator.least_bytes) + limit
    flaky = Flaky(asset.read_page, 0.0, seed=1)
    reading = Reading(flaky, asset.read_bytes, limit, executor=machine, clock=machine.clock)
    streamer = meshes.MeshStreamer(allocator, pool, upload_bytes=2 * asset.slot_bytes, reading=reading)
    failed = 0
    for camera in views(asset, 20, seed=2):
        for _ in range(2):
            update = streamer.step(camera, upcoming=[camera])
            flaky.share = 0.4
            assert update.held_bytes <= pool
            assert int(update.resident.sum()) * asset.slot_bytes <= pool - limit
            assert sorted(update.pages) == sorted(update.loads.tolist())
            assert all(np.array_equal(p.clusters, asset.read_page(n).clusters) for n, p in update.pages.items())
            assert_whole(asset, update.cut, update.resident)
            failed += len(update.failures)
            machine.now += 1 / 60
    assert streamer.peak_bytes <= pool and (share > 0.1) <= failed <= flaky.failed
    streamer.close()


def test_a_truncating_reader_is_a_fault_and_no_picture(skull_clusters, tmp_path: Path) -> None:
    """The file is damaged beyond its first page: frames draw what is there and say what is wrong once."""
    skull_clusters.save(tmp_path / "a.hra")
    content = bytearray((tmp_path / "a.hra").read_bytes())
    damaged = meshes.open_asset(tmp_path / "a.hra")
    at = int(damaged._tables.page_offsets[3])
    content[at : at + 100] = bytes(100)
    (tmp_path / "b.hra").write_bytes(content)
    allocator, machine = meshes.PageAllocator(meshes.open_asset(tmp_path / "b.hra")), VirtualReads(0)
    asset = allocator.asset
    reading = Reading(asset.read_page, asset.read_bytes, 10**6, executor=machine, clock=machine.clock)
    streamer = meshes.MeshStreamer(allocator, 10**7, reading=reading)
    update = streamer.step(views(asset, 1)[0])
    failures = list(update.failures)
    for _ in range(39):
        machine.now += 0.5
        update = streamer.step(views(asset, 1)[0])
        failures += update.failures
        assert_whole(asset, update.cut, update.resident)
    assert [failure.item for failure in failures] == [3] and isinstance(failures[0].error, FileError)
    assert update.queued.tolist() == [3] and "damaged" in str(failures[0])


def test_threads_bring_all_pages(allocator: meshes.PageAllocator) -> None:
    pool = 4 * 10**6
    streamer = meshes.MeshStreamer(allocator, pool, reading=meshes.read_ahead(allocator, 10**6))
    camera = hra.Camera.orbit(allocator.asset.bounds, azimuth=30, distance=0.05)
    update = streamer.step(camera)
    for _ in range(10**6):
        assert update.held_bytes <= pool
        if not len(update.queued):
            break
        update = streamer.step(camera)
    assert update.resident[update.wanted].all()
    streamer.close()


def test_uploads_are_limited_and_every_page_says_why(allocator: meshes.PageAllocator) -> None:
    asset = allocator.asset
    streamer = meshes.MeshStreamer(allocator, 10**6, upload_bytes=asset.slot_bytes)
    update = streamer.step(views(asset, 1)[0])
    assert len(update.loads) <= 2
    shown = [allocator.residual(update.allocation, update.resident)]
    for _ in range(7):
        update = streamer.step(views(asset, 1)[0])
        assert len(update.loads) <= 1
        shown.append(allocator.residual(update.allocation, update.resident))
    assert shown == sorted(shown, reverse=True) and not len(update.queued)
    for page in range(len(asset.page_bytes)):
        assert f"item {page} is {'resident' if update.resident[page] else 'not resident'}" in str(
            streamer.explain(page)
        )


def test_what_cannot_work_says_what_would(allocator: meshes.PageAllocator, skull_clusters, tiny_file: Path) -> None:
    asset = allocator.asset
    with pytest.raises(BudgetTooSmall, match=f"{allocator.least_bytes}"):
        meshes.MeshStreamer(allocator, allocator.least_bytes - 1)
    with pytest.raises(BudgetTooSmall, match=f"{asset.slot_bytes}"):
        meshes.MeshStreamer(allocator, 10**6, upload_bytes=asset.slot_bytes - 1)
    with pytest.raises(BudgetTooSmall, match=f"{allocator.least_bytes + 10**6}"):
        meshes.MeshStreamer(allocator, 10**6, reading=meshes.read_ahead(allocator, 10**6))
    with pytest.raises(HraError, match="open_asset"):
        meshes.PageAllocator(skull_clusters)
    other = meshes.PageAllocator(meshes.open_asset(tiny_file))
    foreign = other.allocate(hra.Camera.orbit(other.asset.bounds), np.inf)
    with pytest.raises(HierarchyError):
        allocator.pages(foreign)
    with pytest.raises(HierarchyError):
        meshes.MeshStreamer(allocator, 10**6).follow(foreign)


@pytest.mark.parametrize(("slowest", "share"), [(0.02, 0.0), (0.5, 0.3), (5.0, 0.9)])
def test_a_thousand_frames_of_late_and_failing_reads(
    skull_clusters: meshes.ClusterMesh, tmp_path: Path, slowest: float, share: float
) -> None:
    """A walk with a jump every fifty frames: memory stays bounded, frames are whole, and the end is what was wanted."""
    skull_clusters.save(tmp_path / "a.hra", grid_bits=16)
    allocator, machine = meshes.PageAllocator(meshes.open_asset(tmp_path / "a.hra")), VirtualReads(3, slowest)
    asset = allocator.asset
    limit = int(4 * asset.read_bytes.max())
    pool = 12 * asset.slot_bytes + limit
    flaky = Flaky(asset.read_page, 0.0, seed=5)
    reading = Reading(flaky, asset.read_bytes, limit, executor=machine, clock=machine.clock)
    streamer = meshes.MeshStreamer(allocator, pool, upload_bytes=2 * asset.slot_bytes, reading=reading)
    jumps, reported = [allocator.allocate(camera, pool - limit) for camera in views(asset, 20, seed=9)], 0
    for frame in range(1000):
        update = streamer.follow(jumps[frame // 50])
        flaky.share = share
        assert update.held_bytes <= pool
        assert_whole(asset, update.cut, update.resident)
        reported += len(update.failures)
        machine.now += 1 / 60
    assert reported <= flaky.failed and bool(reported) == bool(share)
    flaky.share = 0.0
    for _ in range(2000):
        machine.now += 0.1
        streamer.follow(jumps[-1])
    update = streamer.follow(jumps[-1])
    assert update.resident[update.wanted].all() and streamer.peak_bytes <= pool

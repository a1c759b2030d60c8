from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hra.camera import Camera
from hra.domains.textures import (
    AnalyticFeedback,
    PlaneScene,
    ResidentTextures,
    TextureAllocator,
    TiledTexture,
    flyover,
    replay,
)
from hra.errors import BudgetTooSmall, InvalidBudget


@pytest.fixture(scope="module")
def allocator(scene: PlaneScene) -> TextureAllocator:
    return TextureAllocator(scene.textures, AnalyticFeedback(scene))


@given(seeds=st.lists(st.integers(0, 10**6), max_size=8), extra=st.integers(0, 60_000))
def test_no_frame_exceeds_the_pool_whatever_the_jumps(
    allocator: TextureAllocator, camera_of: Callable[..., Camera], seeds: list[int], extra: int
) -> None:
    hierarchy = allocator.textures.hierarchy
    pool = int(hierarchy.base_cost) + extra
    trace = replay(allocator, [camera_of(seed) for seed in seeds], pool)
    assert len(trace) == len(seeds)
    tails = set(np.flatnonzero(hierarchy.added_by < 0).tolist())
    before: set[int] = set()
    for frame, pages in enumerate(trace.resident):
        now = set(pages.tolist())
        assert tails <= now
        assert trace.resident_bytes[frame] == sum(int(hierarchy.node_cost[page]) for page in now) <= pool
        assert trace.uploads[frame] == len(now - before)
        assert trace.evictions[frame] == len(before - now)
        assert trace.uploaded_bytes[frame] == sum(int(hierarchy.node_cost[page]) for page in now - before)
        assert trace.evicted_bytes[frame] == sum(int(hierarchy.node_cost[page]) for page in before - now)
        before = now
    held = list(trace.log.residents(hierarchy.node_cost.size))
    assert [np.flatnonzero(now).tolist() for now in held] == [pages.tolist() for pages in trace.resident]
    assert (trace.least_residual <= trace.residual + 1e-9).all()


@pytest.mark.case(83)
@pytest.mark.parametrize("size", [(1, 1), (1, 300), (75, 117)])
def test_a_teleport_stays_in_the_pool_and_shows_coarse_levels_at_once(
    noise: Callable[..., np.ndarray], size: tuple[int, int]
) -> None:
    # Cases 82 and 83: textures of any size, and a camera that jumps to the other end.
    scene = PlaneScene.ground(TiledTexture.from_image(noise(*size), tile=8), width=10.0)
    depth = 10.0 * size[0] / size[1]
    here, there = (Camera.perspective((x, 1.0, depth), (x, 0.0, 0.0), viewport=(96, 54)) for x in (-4.0, 4.0))
    hierarchy = scene.textures.hierarchy
    pool, upload = int(hierarchy.base_cost) + 8 * 256, 2 * 256
    allocator = TextureAllocator(scene.textures, AnalyticFeedback(scene))
    trace = replay(allocator, [here] * 20 + [there] * 20, pool, upload_bytes=upload)
    assert (trace.resident_bytes <= pool).all() and (trace.uploaded_bytes[1:] <= upload).all()
    assert trace.queued[[19, 39]].tolist() == [0, 0]
    # Without gaps in any frame: the mip tail and what is above the resident pages are there, or this would raise.
    shown = [ResidentTextures(scene.textures, held) for held in trace.log.residents(hierarchy.node_cost.size)]
    assert all(resident.bytes <= pool for resident in shown)
    after = trace.log.events[trace.log.frames[20] :]
    loaded = hierarchy.attribute("level")[after[after >= 0]]
    assert (loaded[:1] == loaded.max(initial=0)).all()


def test_a_still_camera_uploads_once(allocator: TextureAllocator, camera_of: Callable[..., Camera]) -> None:
    trace = replay(allocator, [camera_of(4)] * 3, 30_000)
    assert trace.uploads[0] == trace.resident[0].size
    assert not trace.uploads[1:].any()
    assert not trace.evictions.any()


def test_a_flight_moves_pages_and_states_its_gap(allocator: TextureAllocator, scene: PlaneScene) -> None:
    trace = replay(allocator, flyover(scene.planes[0], 20, viewport=(96, 54)), 12_000)
    assert trace.uploads[1:].any()
    assert trace.evictions.any()
    assert ((trace.gap >= 0) & (trace.gap < 1)).all()
    assert (trace.residual >= 0).all()
    assert "20 frames" in repr(trace)


def test_a_pool_below_the_tails_is_refused(allocator: TextureAllocator, camera_of: Callable[..., Camera]) -> None:
    with pytest.raises(BudgetTooSmall):
        replay(allocator, [camera_of(0)], allocator.textures.hierarchy.base_cost - 1)


def test_no_frames_no_trace(allocator: TextureAllocator) -> None:
    trace = replay(allocator, [], 30_000)
    assert len(trace) == 0
    assert "0 frames" in repr(trace)


@given(seeds=st.lists(st.integers(0, 10**6), min_size=1, max_size=6), look_ahead=st.integers(0, 2))
def test_uploads_stay_within_their_limit_and_pages_come_after_their_parents(
    allocator: TextureAllocator, camera_of: Callable[..., Camera], seeds: list[int], look_ahead: int
) -> None:
    hierarchy = allocator.textures.hierarchy
    pool, limit = int(hierarchy.base_cost) + 20_000, 1000
    cameras = [camera_of(seed) for seed in seeds]
    trace = replay(allocator, cameras, pool, upload_bytes=limit, look_ahead=look_ahead)
    assert trace.uploaded_bytes[0] <= hierarchy.base_cost + limit
    assert (trace.uploaded_bytes[1:] <= limit).all()
    assert (trace.resident_bytes <= pool).all()
    parent = hierarchy.node_parent
    assert parent is not None
    for pages in trace.resident:
        above = parent[pages]
        assert np.isin(above[above >= 0], pages).all()


def test_what_does_not_fit_this_frame_is_queued_and_comes(allocator: TextureAllocator, scene: PlaneScene) -> None:
    camera = flyover(scene.planes[0], 2, viewport=(96, 54))[0]
    trace = replay(allocator, [camera] * 80, 30_000, upload_bytes=600)
    whole = replay(allocator, [camera], 30_000)
    assert trace.queued[0] > 0
    assert (np.diff(trace.queued) <= 0).all()
    assert trace.queued[-1] == 0
    assert (np.diff(trace.residual) <= 0).all()
    assert trace.residual[-1] == pytest.approx(whole.residual[0], abs=1e-12)
    assert np.array_equal(trace.resident[-1], whole.resident[0])


def test_looking_ahead_prefetches(allocator: TextureAllocator, scene: PlaneScene) -> None:
    near, far = flyover(scene.planes[0], 2, viewport=(96, 54))
    cameras = [far] * 30 + [near] * 2
    without, ahead = (replay(allocator, cameras, np.inf, upload_bytes=2000, look_ahead=count) for count in (0, 20))
    assert ahead.queued[30] < without.queued[30]
    assert ahead.residual[30] < without.residual[30]
    assert ahead.residual[29] <= without.residual[29]


@pytest.mark.parametrize("pool", [-1, float("nan")])
def test_a_pool_that_is_no_number_of_bytes_is_refused(
    allocator: TextureAllocator, camera_of: Callable[..., Camera], pool: float
) -> None:
    with pytest.raises(InvalidBudget):
        replay(allocator, [camera_of(0)], pool)

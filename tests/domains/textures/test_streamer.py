from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import hra
from hra.camera import Camera
from hra.domains.textures import (
    AnalyticFeedback,
    Feedback,
    MippedTexture,
    PlaneScene,
    ResidentTextures,
    TextureAllocator,
    TextureSet,
    TextureStreamer,
    TiledTexture,
    flyover,
    replay,
)
from hra.domains.textures.pages import page_parents
from hra.errors import ArrayError, BudgetTooSmall, HierarchyError, HraError, InvalidBudget, MetricError
from tests.helpers.streamer import PlainStreamer, carry_out

SEEDS = st.lists(st.integers(0, 10**6), min_size=1, max_size=8)
LARGEST = 256


@pytest.fixture(scope="module")
def allocator(scene: PlaneScene) -> TextureAllocator:
    return TextureAllocator(scene.textures, AnalyticFeedback(scene))


def demand_of(textures: TextureSet, seed: int) -> Feedback:
    """Feedback of random pages at random levels, as nobody's view has it."""
    random = np.random.default_rng(seed)
    count = int(random.integers(0, 12))
    page = random.integers(0, textures.hierarchy.node_cost.size, count)
    return Feedback(page, 2.0 ** random.uniform(0, 3, count), random.uniform(0, 9, count), 100.0)


@given(seeds=SEEDS, extra=st.integers(0, 8000), upload=st.none() | st.integers(LARGEST, 2000), ahead=st.integers(0, 2))
def test_no_moment_exceeds_the_pool_and_no_page_lacks_its_parent(
    allocator: TextureAllocator, seeds: list[int], extra: int, upload: int | None, ahead: int
) -> None:
    hierarchy = allocator.textures.hierarchy
    cost, parent = hierarchy.node_cost, page_parents(hierarchy)
    pool = int(hierarchy.base_cost) + extra
    stream = TextureStreamer(allocator, pool, upload_bytes=upload)
    demands = [demand_of(allocator.textures, seed) for seed in seeds]
    there: set[int] = set()
    for frame, demand in enumerate(demands):
        update = stream.step(demand, upcoming=demands[frame + 1 : frame + 1 + ahead])
        assert carry_out(update.loads, update.evictions, there, cost, parent) <= pool
        assert there == set(update.resident.pages.tolist())
        assert not set(update.loads.tolist()) & set(update.evictions.tolist())
        assert not set(update.evictions.tolist()) & set(update.wanted.tolist())
        assert sorted(update.queued.tolist()) == sorted(set(update.wanted.tolist()) - there)
        assert update.resident.active[parent < 0].all()
        assert cost[update.wanted].sum() <= pool
        uploaded = update.loaded_bytes - (int(hierarchy.base_cost) if frame == 0 else 0)
        assert upload is None or uploaded <= upload
        assert upload is not None or update.queued.size == 0


@given(seeds=SEEDS, extra=st.integers(0, 8000), upload=st.integers(LARGEST, 2000))
def test_it_does_what_its_plain_twin_does(
    allocator: TextureAllocator, seeds: list[int], extra: int, upload: int
) -> None:
    hierarchy = allocator.textures.hierarchy
    pool = int(hierarchy.base_cost) + extra
    plain = PlainStreamer(hierarchy.node_cost.astype(int).tolist(), page_parents(hierarchy).tolist(), pool, upload)
    stream = TextureStreamer(allocator, pool, upload_bytes=upload)
    for seed in seeds:
        update = stream.step(demand_of(allocator.textures, seed))
        loads, evictions, there = plain.step(update.allocation)
        assert update.loads.tolist() == loads
        assert update.evictions.tolist() == evictions
        assert set(update.resident.pages.tolist()) == there


@given(before=SEEDS, seed=st.integers(0, 10**6), extra=st.integers(0, 8000), upload=st.integers(LARGEST, 2000))
def test_it_never_gets_stuck(
    allocator: TextureAllocator, before: list[int], seed: int, extra: int, upload: int
) -> None:
    # Whatever was shown before: every step brings the next wanted page, until all are there and nothing moves.
    pool = int(allocator.textures.hierarchy.base_cost) + extra
    stream = TextureStreamer(allocator, pool, upload_bytes=upload)
    for one in before:
        stream.step(demand_of(allocator.textures, one))
    demand = demand_of(allocator.textures, seed)
    update = stream.step(demand)
    for _ in range(update.wanted.size):
        first, update = update.queued[:1], stream.step(demand)
        assert update.resident.active[first].all()
    assert update.queued.size == 0
    still = stream.step(demand)
    assert still.loads.size == still.evictions.size == 0


def test_a_flight_step_by_step_is_its_replay(allocator: TextureAllocator, scene: PlaneScene) -> None:
    cameras, pool = flyover(scene.planes[0], 12, viewport=(96, 54)), 6000
    trace = replay(allocator, cameras, pool, upload_bytes=900)
    stream = TextureStreamer(allocator, pool, upload_bytes=900)
    for frame, camera in enumerate(cameras):
        update = stream.step(camera)
        assert np.array_equal(update.resident.pages, trace.resident[frame])
        assert update.loaded_bytes == trace.uploaded_bytes[frame]
    assert trace.evictions.any() and trace.queued.any()


def test_prefetching_uses_what_is_left_and_shortens_the_queue(allocator: TextureAllocator, scene: PlaneScene) -> None:
    near, far = flyover(scene.planes[0], 2, viewport=(96, 54))
    queued = []
    for upcoming in ([], [near]):
        stream = TextureStreamer(allocator, np.inf, upload_bytes=2000)
        for _ in range(20):
            stream.step(far, upcoming)
        queued.append(stream.step(near).queued.size)
    assert queued[1] < queued[0]


def test_an_engine_needs_no_scene_and_may_name_the_pages_that_it_wants(noise: Callable[..., np.ndarray]) -> None:
    textures = TextureSet([TiledTexture.from_image(noise(64, 64), tile=8), MippedTexture.from_image(noise(40, 40), 8)])
    level, parent = textures.hierarchy.attribute("level"), page_parents(textures.hierarchy)
    finest = textures.finest_pages[0].reshape(-1)[:5]
    wanted = parent[finest]
    by_texel = Feedback(finest, np.full(5, 2.0), np.full(5, 9.0), 45.0)
    by_page = Feedback(wanted.astype(np.int64), 2.0 ** level[wanted], np.full(5, 9), 45)
    updates = [TextureStreamer(TextureAllocator(textures), 6000).step(demand) for demand in (by_texel, by_page)]
    assert np.array_equal(updates[0].wanted, updates[1].wanted)
    assert np.isin(wanted, updates[0].wanted).all()
    shown = updates[0].resident
    assert isinstance(shown, ResidentTextures) and shown.level_map(0).min() == 1


def test_a_chosen_allocation_is_followed_if_it_is_of_these_textures(
    allocator: TextureAllocator, camera_of: Callable[..., Camera], noise: Callable[..., np.ndarray]
) -> None:
    whole = allocator.allocate(camera_of(4), np.inf)
    stream = TextureStreamer(allocator, whole.cost - 1)
    allocation = allocator.allocate(camera_of(4), whole.cost - 500)
    assert np.array_equal(stream.follow(allocation).wanted, allocation.cut)
    other = PlaneScene.ground(TiledTexture.from_image(noise(32, 32), tile=8), width=1.0)
    foreign = TextureAllocator(other.textures, AnalyticFeedback(other)).allocate(camera_of(0), np.inf)
    with pytest.raises(HierarchyError, match="other textures"):
        stream.follow(foreign)
    with pytest.raises(InvalidBudget, match="the pool has"):
        stream.follow(whole)


def test_a_refused_frame_changes_nothing(allocator: TextureAllocator, camera_of: Callable[..., Camera]) -> None:
    stream, twin = (TextureStreamer(TextureAllocator(allocator.textures), 9000, upload_bytes=600) for _ in range(2))
    demands = [allocator.source.observe(camera_of(seed)) for seed in (1, 2)]
    for demand in demands:
        with pytest.raises(MetricError, match="no source"):
            stream.step(camera_of(3))
        with pytest.raises(MetricError, match="pages"):
            stream.step(Feedback(np.array([10**6]), np.ones(1), np.ones(1), 1))
        update, same = stream.step(demand), twin.step(demand)
        assert np.array_equal(update.loads, same.loads)
        assert np.array_equal(update.resident.active, same.resident.active)


def test_it_says_why(allocator: TextureAllocator, camera_of: Callable[..., Camera]) -> None:
    stream = TextureStreamer(allocator, 9000, upload_bytes=LARGEST)
    update = stream.step(camera_of(4))
    assert f"{update.loads.size} loads" in repr(update)
    assert "items are loaded before it" in str(stream.explain(int(update.queued[-1])))
    assert "always are" in str(stream.explain(0))


def test_pages_stay_wanted_with_a_coherent_traversal(allocator: TextureAllocator, scene: PlaneScene) -> None:
    cameras = flyover(scene.planes[0], 30, viewport=(96, 54))
    moved = []
    for traversal in (hra.Hull(), hra.Coherent(hysteresis=1.0)):
        stream = TextureStreamer(TextureAllocator(scene.textures, allocator.source, traversal=traversal), 9000)
        moved.append(sum(stream.step(camera).loads.size for camera in cameras))
    assert moved[1] < moved[0]


BAD: dict[str, tuple[dict[str, Any], type[HraError]]] = {
    "pool below the tails": ({"pool_bytes": 10}, BudgetTooSmall),
    "upload below a page": ({"upload_bytes": 100}, BudgetTooSmall),
    "pool that is not a number": ({"pool_bytes": float("nan")}, InvalidBudget),
    "negative upload": ({"upload_bytes": -1}, InvalidBudget),
}


@pytest.mark.parametrize(("change", "error"), BAD.values(), ids=BAD.keys())
def test_impossible_pools_are_refused(
    allocator: TextureAllocator, change: dict[str, Any], error: type[HraError]
) -> None:
    good: dict[str, Any] = {"pool_bytes": 9000, "upload_bytes": None}
    with pytest.raises(error):
        TextureStreamer(allocator, **(good | change))


BAD_FEEDBACK: dict[str, dict[str, Any]] = {
    "fewer footprints than pages": {"footprint": [1.0]},
    "fewer areas than pages": {"pixels": [1.0]},
    "texel of no size": {"footprint": [1.0, 0.0]},
    "footprint that is not a number": {"footprint": [1.0, np.nan]},
    "negative area": {"pixels": [1.0, -1.0]},
    "half a page": {"page": [0, 0.5]},
    "page beyond 32 bits": {"page": [0, 2**32]},
    "pages in rows": {"page": [[0, 1]]},
    "no viewport": {"viewport_pixels": 0},
    "a viewport in words": {"viewport_pixels": "8"},
    "position in one dimension": {"position": [1.0, 2.0]},
    "infinite weight": {"weight": [1.0, np.inf]},
}


@pytest.mark.parametrize("change", BAD_FEEDBACK.values(), ids=BAD_FEEDBACK.keys())
def test_feedback_that_is_none_is_refused(change: dict[str, Any]) -> None:
    good: dict[str, Any] = {"page": [0, 1], "footprint": [1, 2], "pixels": [4, 4], "viewport_pixels": 8}
    Feedback(**good)
    with pytest.raises(MetricError):
        Feedback(**(good | change))


def test_there_is_no_such_page(allocator: TextureAllocator) -> None:
    with pytest.raises(ArrayError):
        TextureStreamer(allocator, np.inf).explain(10**6)

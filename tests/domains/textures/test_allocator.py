from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import hra
from hra.camera import Camera
from hra.domains.textures import (
    BC7,
    AnalyticFeedback,
    PlaneScene,
    TexelError,
    TextureAllocator,
    TextureSet,
    TiledTexture,
)
from hra.errors import BudgetTooSmall, HierarchyError, HraError


@pytest.fixture(scope="module")
def allocator(scene: PlaneScene) -> TextureAllocator:
    return TextureAllocator(scene.textures, AnalyticFeedback(scene, stride=1))


@given(seed=st.integers(0, 10**6), share=st.floats(0, 1))
def test_the_pool_holds_to_the_byte(
    allocator: TextureAllocator, camera_of: Callable[..., Camera], seed: int, share: float
) -> None:
    hierarchy = allocator.textures.hierarchy
    pool = int(hierarchy.base_cost + share * (hierarchy.total_cost - hierarchy.base_cost))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        allocation = allocator.allocate(camera_of(seed), pool)
    resident = allocator.realize(allocation)
    assert resident.bytes == allocation.cost <= pool
    assert allocation.gain <= allocation.upper_bound


@given(seed=st.integers(0, 10**6))
def test_a_pool_for_everything_holds_what_every_pixel_wants(
    allocator: TextureAllocator, camera_of: Callable[..., Camera], seed: int
) -> None:
    camera = camera_of(seed)
    allocation = allocator.allocate(camera, float("inf"))
    feedback = allocator.source.observe(camera)
    resident = allocator.realize(allocation)
    node, parent = allocation.hierarchy.node, allocation.hierarchy.node_parent
    assert parent is not None
    for page, wanted in zip(feedback.page.tolist(), feedback.wanted_level.tolist(), strict=True):
        while parent[page] >= 0 and node["level"][page] < int(wanted):
            page = int(parent[page])
        assert resident.active[page]
    assert allocation.residual <= 1e-12 * allocation.base_error


@pytest.mark.parametrize("traversal", [hra.Hull(), hra.BestFirst(), hra.Threshold()], ids=repr)
def test_every_traversal_serves_the_base_and_refuses_less(
    scene: PlaneScene, camera_of: Callable[..., Camera], traversal: hra.Traversal
) -> None:
    allocator = TextureAllocator(scene.textures, AnalyticFeedback(scene), traversal=traversal)
    base = int(allocator.textures.hierarchy.base_cost)
    allocation = allocator.allocate(camera_of(1), base)
    assert allocation.cost == base
    assert not allocation.selected.any()
    with pytest.raises(BudgetTooSmall):
        allocator.allocate(camera_of(1), base - 1)


@pytest.mark.parametrize("source", [3, "cast", AnalyticFeedback, object()])
def test_what_observes_no_camera_is_refused(scene: PlaneScene, source: Any) -> None:
    with pytest.raises(HraError, match="observe"):
        TextureAllocator(scene.textures, source)


def test_looking_away_gains_nothing(allocator: TextureAllocator) -> None:
    allocation = allocator.allocate(Camera.perspective((0, 3, 0), (0, 9, 1)), float("inf"))
    assert not allocation.problem.gain.any()
    assert allocation.base_error == 0
    np.testing.assert_array_equal(allocation.cut, np.flatnonzero(allocation.hierarchy.added_by < 0))


def test_recorded_feedback_stands_for_its_camera(allocator: TextureAllocator, camera_of: Callable[..., Camera]) -> None:
    camera = camera_of(5)
    seen = allocator.allocate(camera, 20_000)
    recorded = allocator.allocate(allocator.source.observe(camera), 20_000)
    np.testing.assert_array_equal(seen.selected, recorded.selected)


def test_more_memory_never_leaves_more_error(allocator: TextureAllocator, camera_of: Callable[..., Camera]) -> None:
    camera, base = camera_of(2), allocator.textures.hierarchy.base_cost
    exact = TextureAllocator(allocator.textures, allocator.source, traversal=hra.Hull(finish="none"))
    residuals = [exact.allocate(camera, base + extra).residual for extra in range(0, 20_000, 500)]
    assert (np.diff(residuals) <= 1e-12).all()
    assert residuals[-1] < residuals[0]


def test_metrics_combine(scene: PlaneScene, camera_of: Callable[..., Camera]) -> None:
    source, camera = AnalyticFeedback(scene), camera_of(2)
    plain = TextureAllocator(scene.textures, source).allocate(camera, 20_000)
    doubled = TextureAllocator(scene.textures, source, metric=TexelError() + TexelError()).allocate(camera, 20_000)
    np.testing.assert_array_equal(doubled.selected, plain.selected)
    assert doubled.gain == pytest.approx(2 * plain.gain)


def test_two_allocators_share_one_pool(scene: PlaneScene, camera_of: Callable[..., Camera]) -> None:
    # One plane per allocator: together they must get what one set with both textures gets.
    parts = [PlaneScene([plane]) for plane in scene.planes]
    allocators = [TextureAllocator(part.textures, AnalyticFeedback(part)) for part in parts]
    camera = Camera.perspective((4, 4, -6), (4, 0, 0), viewport=(64, 48))
    pooled = hra.pool(*allocators).allocate((camera, camera), 20_000)
    assert sum(member.cost for member in pooled.members) <= 20_000
    for allocator, member in zip(allocators, pooled.members, strict=True):
        assert allocator.realize(member).bytes == member.cost


def test_an_allocation_of_other_textures_is_not_realized() -> None:
    image = np.zeros((512, 512, 3), np.uint8)
    packed = PlaneScene.ground(TiledTexture.from_image(image, texels=BC7), width=10.0)
    camera = Camera.perspective((0, 2, 3), (0, 0, 0), viewport=(64, 48))
    allocation = TextureAllocator(packed.textures, AnalyticFeedback(packed)).allocate(camera, 2**17)
    plain = TextureAllocator(TextureSet([TiledTexture.from_image(image)]))
    with pytest.raises(HierarchyError):  # as many pages, of four times the bytes
        plain.realize(allocation)

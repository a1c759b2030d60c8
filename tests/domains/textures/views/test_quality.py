"""Views of a residency, judged against full residency."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from hra.camera import Camera
from hra.domains.textures import (
    AnalyticFeedback,
    PlaneScene,
    ResidentTextures,
    TextureAllocator,
    replay,
    view_quality,
)
from hra.domains.textures.views import quality, rendering
from hra.errors import ArrayError


def test_full_residency_is_perfect_and_mip_tails_are_not(scene: PlaneScene, camera_of: Callable[..., Camera]) -> None:
    hierarchy, cameras = scene.textures.hierarchy, [camera_of(seed) for seed in range(4)]
    everything, tails = np.arange(hierarchy.node_cost.size), np.flatnonzero(hierarchy.added_by < 0)
    full = view_quality(scene, cameras, [everything] * 4, every=3)
    assert full.frames.tolist() == [0, 3]
    assert (full.psnr == np.inf).all() and (full.flip == 0).all()
    coarse = view_quality(scene, cameras, [tails] * 4, every=3)
    assert (coarse.psnr < 40).all() and (coarse.flip > 0.02).all()
    assert repr(coarse).startswith("2 frames, PSNR >= ")


def test_views_of_equal_pages_are_drawn_once(
    scene: PlaneScene, camera_of: Callable[..., Camera], monkeypatch: pytest.MonkeyPatch
) -> None:
    drawn, pages = [], scene.textures.hierarchy
    monkeypatch.setattr(quality, "shade", lambda *arguments: drawn.append(0) or rendering.shade(*arguments))
    judge = quality.ViewJudge(scene, [camera_of(seed) for seed in range(3)], flip=False)
    tails = [ResidentTextures.drawable(scene.textures, np.zeros(pages.node_cost.size, np.bool_))] * 2
    first, again = judge.quality([0, 2], tails), judge.quality([0, 2], tails)
    assert first.psnr.tolist() == again.psnr.tolist() and not first.flip.size and "FLIP" not in repr(first)
    assert len(drawn) == 4, "two views, each with all pages and with the tails"


def test_a_larger_pool_shows_more_of_a_replay(scene: PlaneScene, camera_of: Callable[..., Camera]) -> None:
    cameras = [camera_of(seed) for seed in range(4)]
    allocator, hierarchy = TextureAllocator(scene.textures, AnalyticFeedback(scene, 1)), scene.textures.hierarchy
    pools = [hierarchy.base_cost + share * hierarchy.total_cost for share in (0.02, 0.3)]
    small, large = (view_quality(scene, cameras, replay(allocator, cameras, pool).resident, 1) for pool in pools)
    assert (large.flip <= small.flip).all() and large.flip.mean() < small.flip.mean()


@pytest.mark.parametrize(("frames", "every"), [(3, 1), (4, 0)])
def test_frames_must_agree(scene: PlaneScene, camera_of: Callable[..., Camera], frames: int, every: int) -> None:
    with pytest.raises(ArrayError):
        view_quality(scene, [camera_of(0)] * 4, [np.arange(3)] * frames, every)

from __future__ import annotations

import numpy as np
import pytest

from hra.camera import Camera
from hra.camera.occlusion import Occlusion
from hra.domains.textures import AnalyticFeedback, BoundsFeedback, PlaneScene


@pytest.mark.parametrize("reversed_depth", [False, True])
@pytest.mark.parametrize("source", [AnalyticFeedback, BoundsFeedback])
def test_behind_what_is_drawn_near_the_eye_nothing_is_wanted(
    scene: PlaneScene, source: type, reversed_depth: bool
) -> None:
    camera = Camera.perspective((0, 4, 9), (0, 0, 0), viewport=(96, 70), reversed_depth=reversed_depth)
    depth = np.full((70, 96), float(reversed_depth), np.float32)
    depth[:, 48:] = 1 - depth[:, 48:]  # nothing in the right half
    feedback = source(scene, occlusion=Occlusion.of(depth, camera)).observe(camera)
    whole = source(scene).observe(camera)
    left = whole.position[:, 0] < 40
    assert feedback.page.size < whole.page.size
    assert not set(feedback.page) & (set(whole.page[left]) - set(whole.page[~left]))
    assert set(whole.page[whole.position[:, 0] > 50]) <= set(feedback.page)

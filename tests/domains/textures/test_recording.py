"""Flights as traces, against a walk from every sample to its page."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hra.camera import Camera
from hra.domains.textures import AnalyticFeedback, Feedback, PlaneScene, record
from hra.errors import MetricError
from hra.residency import close_upward


@given(seeds=st.lists(st.integers(0, 10**6), max_size=3))
def test_every_sample_demands_the_page_of_its_level_and_those_above(
    scene: PlaneScene, camera_of: Callable[..., Camera], seeds: list[int]
) -> None:
    source, hierarchy = AnalyticFeedback(scene, 1), scene.textures.hierarchy
    feedbacks = [source.observe(camera_of(seed)) for seed in seeds]
    trace = record(scene.textures, feedbacks)
    parent, level = hierarchy.node_parent, hierarchy.attribute("level")
    assert parent is not None and trace.weights is not None and len(trace) == len(seeds)
    for frame, feedback in enumerate(feedbacks):
        expected: dict[int, float] = defaultdict(float)
        for page, footprint, pixels in zip(feedback.page, feedback.footprint, feedback.pixels, strict=True):
            while 2.0 ** (level[page] + 1) <= footprint and parent[page] >= 0:
                page = parent[page]
            expected[int(page)] += float(pixels)
            while (page := parent[page]) >= 0:
                expected[int(page)] += 0.0
        weights = trace.weights[trace.frames[frame] : trace.frames[frame + 1]]
        assert dict(zip(trace.frame(frame).tolist(), weights.tolist(), strict=True)) == pytest.approx(expected)
    assert [set(trace.frame(f)) for f in range(len(trace))] == [
        set(close_upward(trace).frame(f)) for f in range(len(trace))
    ]
    np.testing.assert_array_equal(trace.cost, hierarchy.node_cost)


def test_feedback_of_other_textures_is_refused(scene: PlaneScene) -> None:
    one = np.ones(1, np.float32)
    with pytest.raises(MetricError):
        record(scene.textures, [Feedback(np.array([10**6], np.int32), one, one, 1.0)])

"""Weights of pixels: gaze and saliency, in budgets and in thresholds."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hra.camera import Camera
from hra.camera.eccentricity import Eccentricity
from hra.domains.textures import AnalyticFeedback, Feedback, PlaneScene, SaliencyMap, TexelError, WeightedFeedback
from hra.errors import MetricError


@given(seed=st.integers(0, 10**6))
def test_weights_multiply_squared_errors_and_their_roots_displacements(
    seed: int, scene: PlaneScene, camera_of: Callable[..., Camera]
) -> None:
    hierarchy, camera, metric = scene.textures.hierarchy, camera_of(seed), TexelError()
    source, gaze = AnalyticFeedback(scene, stride=2), Eccentricity((5, 8), pixels_per_degree=4)
    seen, plain = WeightedFeedback(source, gaze.areal_weight).observe(camera), source.observe(camera)
    each = [Feedback(plain.page[[i]], plain.footprint[[i]], plain.pixels[[i]], plain.viewport_pixels)
            for i in range(plain.page.size)]  # fmt: skip
    assert plain.position is not None
    linear = gaze.linear_weight(plain.position)
    squares = sum((metric.evaluate(hierarchy, s) * w**2 for s, w in zip(each, linear, strict=True)), np.zeros(1))
    np.testing.assert_allclose(
        metric.evaluate(hierarchy, seen), np.broadcast_to(squares, (len(hierarchy.node_cost),)), rtol=1e-5, atol=1e-12
    )
    worst = np.max([metric.peak(hierarchy, s) * w for s, w in zip(each, linear, strict=True)] or [[0.0]], axis=0)
    np.testing.assert_allclose(
        metric.peak(hierarchy, seen), np.broadcast_to(worst, hierarchy.node_cost.shape), rtol=1e-5, atol=1e-12
    )


def test_positions_are_the_middles_of_the_cells(scene: PlaneScene, camera_of: Callable[..., Camera]) -> None:
    feedback = AnalyticFeedback(scene, stride=4).observe(camera_of(1, (10, 7)))
    assert feedback.position is not None and feedback.position.dtype == np.float32
    assert set(feedback.position[:, 0]) <= {2, 6, 9} and set(feedback.position[:, 1]) <= {2, 5.5}


def test_a_saliency_map_is_stretched_over_the_viewport() -> None:
    weight = SaliencyMap(np.array([[1, 2, 3], [4, 5, 6.0]]), viewport=(30, 20))
    positions = np.array([[0.5, 0.5], [9.9, 9.9], [10.1, 0], [29.5, 19.5], [15, 10], [30, 20]])
    assert weight(positions).tolist() == [1, 1, 2, 6, 5, 6]


def test_what_is_not_salient_wants_nothing_and_weights_multiply(
    scene: PlaneScene, camera_of: Callable[..., Camera]
) -> None:
    camera, source = camera_of(0), AnalyticFeedback(scene)
    nothing = WeightedFeedback(source, SaliencyMap(np.zeros((1, 1)), camera.viewport))
    assert not TexelError().evaluate(scene.textures.hierarchy, nothing.observe(camera)).any()
    assert not TexelError().peak(scene.textures.hierarchy, nothing.observe(camera)).any()
    half = SaliencyMap(np.full((1, 1), 0.5), camera.viewport)
    twice = WeightedFeedback(WeightedFeedback(source, half), half).observe(camera)
    assert twice.weight is not None and (twice.weight == 0.25).all()


@pytest.mark.parametrize(
    "weight", [lambda p: np.full(len(p), -1.0), lambda p: np.full(len(p), np.nan), lambda p: np.ones(len(p) + 1)]
)
def test_other_weights_are_refused(scene: PlaneScene, camera_of: Callable[..., Camera], weight: Callable) -> None:
    with pytest.raises(MetricError, match="weights must be finite"):
        WeightedFeedback(AnalyticFeedback(scene), weight).observe(camera_of(0))


def test_positions_are_needed(scene: PlaneScene, camera_of: Callable[..., Camera]) -> None:
    class Recorded:
        def observe(self, camera: Camera) -> Feedback:
            return replace(AnalyticFeedback(scene).observe(camera), position=None)

    with pytest.raises(MetricError, match="no positions"):
        WeightedFeedback(Recorded(), lambda p: np.ones(len(p))).observe(camera_of(0))


@pytest.mark.parametrize("values", [np.zeros(3), np.zeros((0, 2)), np.full((2, 2), -1.0), np.full((2, 2), np.inf)])
def test_other_maps_are_refused(values: np.ndarray) -> None:
    with pytest.raises(MetricError):
        SaliencyMap(values, (10, 10))

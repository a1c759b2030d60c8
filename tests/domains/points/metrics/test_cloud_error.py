from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

import hra.testing
from hra.camera import ImportanceMap, View
from hra.domains.points import CloudDisplacement, CloudError, PointCloud, build


@given(st.integers(1, 80), st.integers(0, 10), st.sampled_from([1e-6, 1.0, 1e6]))
def test_any_cloud_becomes_a_sound_hierarchy(count: int, seed: int, scale: float):
    rng = np.random.default_rng(seed)
    places = rng.integers(-3, 4, (count, 3)) * scale
    tree = build(PointCloud(places, rng.random((count, 3))))
    hra.testing.check_hierarchy(tree.hierarchy)
    camera = hra.Camera.orbit(tree.bounds + np.array([[-scale], [scale]]), viewport=(64, 48))
    views = [camera, [camera, camera]]
    for metric in (CloudError(), CloudDisplacement()):
        hra.testing.check_metric(metric, tree.hierarchy, views)


def test_the_weight_and_the_map_of_a_view_scale_squared_errors():
    rng = np.random.default_rng(0)
    tree = build(PointCloud(rng.random((60, 3)), rng.random((60, 3))))
    camera = hra.Camera.orbit(tree.bounds, viewport=(64, 48))
    fours = View(camera, importance=ImportanceMap(np.full((3, 4), 4.0)))
    for metric in (CloudError(), CloudDisplacement()):
        plain = metric.evaluate(tree.hierarchy, camera)
        for view in (View(camera, weight=4.0), fours):
            np.testing.assert_allclose(metric.evaluate(tree.hierarchy, view), 4 * plain)

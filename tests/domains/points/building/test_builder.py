"""Trees over clouds: what is merged keeps its moments, and errors never grow with detail."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import hra.testing
from hra.camera import ImportanceMap, View
from hra.domains.points import CloudDisplacement, CloudError, PointCloud, SplatCloud, build
from hra.errors import ArrayError, HraError


def below(parent: np.ndarray, root: int, leaves: np.ndarray) -> list[int]:
    found = []
    for leaf in leaves:
        node = leaf
        while node not in (-1, root):
            node = parent[node]
        found += [leaf] * int(node == root)
    return found


def full(six: np.ndarray) -> np.ndarray:
    return np.asarray(six, float)[..., [0, 1, 2, 1, 3, 4, 2, 4, 5]].reshape(*np.shape(six)[:-1], 3, 3)


def area(covariance: np.ndarray) -> float:
    minors = sum(np.linalg.det(np.delete(np.delete(covariance, k, 0), k, 1)) for k in range(3))
    return 2 * np.pi * np.sqrt(max(minors, 0) / 3)


def test_a_merged_splat_has_the_mean_and_covariance_of_the_mixture(splats: SplatCloud):
    tree = build(splats)
    node = tree.hierarchy.node
    for root in (0, 1, len(tree.parent) // 4):
        part = below(tree.parent, root, tree.leaves)
        covariances = full(node["covariance"][part])
        mass = np.array([a * area(c) for a, c in zip(node["opacity"][part], covariances, strict=True)])
        mass /= mass.sum()
        mean = mass @ node["position"][part]
        apart = node["position"][part] - mean
        mixture = np.einsum("i,ijk->jk", mass, covariances + apart[:, :, None] * apart[:, None, :])
        assert np.allclose(node["position"][root], mean, atol=1e-5)
        assert np.allclose(full(node["covariance"][root]), mixture, atol=1e-5)


def test_a_merged_splat_keeps_what_it_covers_unless_it_would_be_more_than_opaque(splats: SplatCloud):
    tree = build(splats)
    node = tree.hierarchy.node
    mass = node["opacity"] * np.array([area(c) for c in full(node["covariance"])])
    total = mass[tree.leaves].sum()
    assert mass[0] == pytest.approx(total, rel=1e-3) or node["opacity"][0] == 1


def test_leaves_are_the_cloud(cloud: PointCloud, splats: SplatCloud):
    for given_cloud in (cloud, splats):
        tree = build(given_cloud)
        found = tree.take(tree.leaves)
        for name in ("positions", "colors"):
            first, second = (np.sort(getattr(c, name), axis=0) for c in (found, given_cloud))
            assert np.array_equal(first, second)
        assert not tree.hierarchy.node["color_loss"][tree.leaves].any()


def test_spheres_contain_those_of_what_is_below(cloud: PointCloud):
    tree = build(cloud)
    node, parent = tree.hierarchy.node, tree.parent
    apart = np.linalg.norm(node["position"][1:].astype(float) - node["position"][parent[1:]], axis=1)
    assert (apart + node["reach"][1:] <= node["reach"][parent[1:]]).all()


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


def test_bad_clouds_are_refused_with_what_where_and_fix():
    with pytest.raises(ArrayError, match="no points"):
        PointCloud(np.empty((0, 3)))
    with pytest.raises(ArrayError, match=r"positions\[1\] is"):
        PointCloud([[0, 0, 0], [np.nan, 0, 0]])
    with pytest.raises(ArrayError, match="colors"):
        PointCloud([[0, 0, 0]], [[2, 0, 0]])
    with pytest.raises(ArrayError, match="opacities"):
        SplatCloud([[0, 0, 0]], [[1, 0, 0, 1, 0, 1]], [[0, 0, 0]], [1.5])
    with pytest.raises(HraError, match="not a cloud"):
        build([[0, 0, 0]])  # pyright: ignore[reportArgumentType]

"""Saliency on the screen: where triangles go, and what it does not change."""

from __future__ import annotations

import numpy as np
import pytest

import hra
from hra.domains import meshes
from hra.domains.textures import SaliencyMap
from hra.domains.tokens import CueRelevance, TokenContext
from hra.errors import MetricError

VIEWPORT = (640, 480)


@pytest.fixture
def camera(skull_clusters) -> hra.Camera:
    return hra.Camera.orbit(skull_clusters.bounds, azimuth=30, up=(0, 0, 1), viewport=VIEWPORT)


def share_left(clusters: meshes.ClusterMesh, camera: hra.Camera, metric: meshes.ScreenError, budget: int) -> float:
    """Share of the visible triangles of a cut that lie in the left half of the picture."""
    allocator = meshes.MeshAllocator(clusters, metric=metric)
    mesh = allocator.realize(allocator.allocate(camera, budget))
    middle = mesh.positions[mesh.triangles].mean(axis=1).astype(np.float64)
    clip = np.c_[middle, np.ones(len(middle))] @ (camera.projection @ camera.view).T
    return float((clip[:, 0] / clip[:, 3] < 0).mean())


def test_a_map_moves_triangles_to_what_it_marks(skull_clusters, camera):
    left, right = (SaliencyMap(np.array([pair]), VIEWPORT) for pair in ([1.0, 0.01], [0.01, 1.0]))
    plain, more, less = (
        share_left(skull_clusters, camera, meshes.ScreenError(weight=weight), 3000) for weight in (None, left, right)
    )
    assert less < plain <= more and less < more - 0.05


def test_a_map_of_ones_changes_nothing_and_a_constant_scales(skull_clusters, camera):
    hierarchy = skull_clusters.hierarchy
    plain = meshes.ScreenError().evaluate(hierarchy, camera)
    for value in (1.0, 3.0):
        weighted = meshes.ScreenError(weight=lambda places, value=value: np.full(len(places), value))
        np.testing.assert_allclose(weighted.evaluate(hierarchy, camera), value * plain, rtol=1e-9)
        assert np.array_equal(weighted.peak(hierarchy, camera), meshes.ScreenError().peak(hierarchy, camera))


def test_the_relevance_map_of_the_tokens_serves_as_it_is(skull_clusters, camera):
    """The same map for a picture of the view and for the mesh in it."""
    picture = np.full((480, 640, 3), 0.5, np.float32)
    picture[:, 360:440] = np.random.default_rng(0).random((480, 80, 3))
    salience = SaliencyMap(CueRelevance()(TokenContext.of(picture, "")), VIEWPORT)
    seen = share_left(skull_clusters, camera, meshes.ScreenError(weight=salience), 3000)
    assert seen < share_left(skull_clusters, camera, meshes.ScreenError(), 3000)


@pytest.mark.parametrize("bad", [lambda places: -np.ones(len(places)), lambda places: np.ones(3)])
def test_bad_weights_are_refused(skull_clusters, camera, bad):
    with pytest.raises(MetricError, match="weights"):
        meshes.ScreenError(weight=bad).evaluate(skull_clusters.hierarchy, camera)

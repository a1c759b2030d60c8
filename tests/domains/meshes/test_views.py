"""Several views, gazes and weights."""

from __future__ import annotations

import warnings
from typing import get_args

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import hra
from hra.domains import meshes
from hra.domains.meshes.metrics.screen_error import ErrorName
from hra.errors import MetricError, RepairWarning
from tests.helpers.cameras import inside_clip_volume

METRIC = meshes.ScreenError("quadric")
VIEWPORT = (800, 600)


def orbit(clusters: meshes.ClusterMesh, azimuth: float, distance: float | None = None) -> hra.Camera:
    return hra.Camera.orbit(clusters.bounds, azimuth=azimuth, elevation=10, distance=distance, viewport=VIEWPORT)


def cut_by_pixels(clusters: meshes.ClusterMesh, context, tau: float, error: ErrorName = "quadric") -> hra.Allocation:
    return meshes.MeshAllocator(clusters, meshes.ScreenError(error), hra.Threshold(tau)).allocate(context, np.inf)


@pytest.fixture(scope="module")
def certified(make_closed) -> meshes.ClusterMesh:
    return meshes.build(make_closed(4, bumps=0.3), cluster_size=32, group_size=4, appearance=True)


class TestSeveralViews:
    def test_displacements_are_the_largest_and_squares_the_sum(self, bumpy_clusters: meshes.ClusterMesh) -> None:
        hierarchy = bumpy_clusters.hierarchy
        eye, light = orbit(bumpy_clusters, 0, 2.5), orbit(bumpy_clusters, 150, 8.0)
        both = [eye, meshes.View(light, weight=0.25)]
        peaks = METRIC.peak(hierarchy, eye), METRIC.peak(hierarchy, light) / 2
        assert np.allclose(METRIC.peak(hierarchy, both), np.maximum(*peaks))
        squares = METRIC.evaluate(hierarchy, eye) + METRIC.evaluate(hierarchy, light) / 4
        assert np.allclose(METRIC.evaluate(hierarchy, both), squares)

    @given(st.lists(st.tuples(st.floats(-180, 180), st.floats(0.5, 20)), min_size=1, max_size=4), st.floats(0.5, 50))
    def test_a_threshold_holds_in_every_view(
        self, bumpy_clusters: meshes.ClusterMesh, places: list[tuple[float, float]], tau: float
    ) -> None:
        hierarchy, cameras = bumpy_clusters.hierarchy, [orbit(bumpy_clusters, *place) for place in places]
        together = cut_by_pixels(bumpy_clusters, cameras, tau)
        needed = np.zeros(len(hierarchy), bool)
        for camera in cameras:
            assert METRIC.peak(hierarchy, camera)[together.cut].max() <= tau
            needed |= cut_by_pixels(bumpy_clusters, camera, tau).selected
        assert np.array_equal(together.selected, needed)

    def test_a_budget_goes_where_any_view_looks(self, certified: meshes.ClusterMesh) -> None:
        ahead, behind = (
            hra.Camera.perspective((0, 0, 0), (0, 0, z), near=0.1, viewport=(600, 600)) for z in (1.0, -1.0)
        )
        allocator = meshes.MeshAllocator(certified)

        def seen_behind(context) -> int:
            mesh = allocator.realize(allocator.allocate(context, 2500))
            return int(inside_clip_volume(behind, mesh.positions).sum())

        assert seen_behind([ahead, behind]) > 1.3 * seen_behind(ahead)


class TestGaze:
    def test_acuity_is_that_of_the_nearest_visible_point(self, bumpy_clusters: meshes.ClusterMesh) -> None:
        boxes = bumpy_clusters.hierarchy.attribute("box").astype(np.float64)
        gaze = hra.Eccentricity((200, 350), pixels_per_degree=100)
        camera = orbit(bumpy_clusters, 40, 1.6)
        acuity = meshes.View(camera, gaze).acuity(boxes.astype(np.float32))
        share = np.random.default_rng(0).random((60, 1, 3))
        points = (boxes[:, 0] * (1 - share) + boxes[:, 1] * share).reshape(-1, 3)
        seen = inside_clip_volume(camera, points).reshape(60, -1)
        weight = gaze.linear_weight(camera.project(points).pixels).reshape(60, -1)
        best = np.where(seen, weight, 0).max(axis=0)
        assert (acuity >= best).all()
        sources = (bumpy_clusters.hierarchy.removed_by < 0) & seen.all(axis=0)
        assert np.count_nonzero(sources) > 20
        assert np.mean(acuity[sources] / best[sources]) < 1.25

    @given(
        st.tuples(st.floats(-500, 1500), st.floats(-500, 1500)),
        st.floats(-180, 180),
        st.floats(0.2, 20),
        st.floats(5, 60),
    )
    def test_errors_never_fall_from_fine_to_coarse(
        self, bumpy_clusters: meshes.ClusterMesh, gaze: tuple[float, float], azimuth: float, distance: float, ppd: float
    ) -> None:
        hierarchy = bumpy_clusters.hierarchy
        view = meshes.View(orbit(bumpy_clusters, azimuth, distance), hra.Eccentricity(gaze, pixels_per_degree=ppd))
        peak, even = METRIC.peak(hierarchy, view), METRIC.peak(hierarchy, view.camera)
        members = np.flatnonzero(hierarchy.added_by >= 0)
        group = np.zeros(len(hierarchy))
        group[hierarchy.removed_by[hierarchy.removed_by >= 0]] = peak[hierarchy.removed_by >= 0]
        assert (group[hierarchy.added_by[members]] >= peak[members]).all()
        assert (peak <= even).all()
        with warnings.catch_warnings():
            warnings.simplefilter("error", RepairWarning)
            assert meshes.MeshAllocator(bumpy_clusters).allocate(view, 1000).cost <= 1000

    def test_detail_is_where_the_eye_rests(self, certified: meshes.ClusterMesh) -> None:
        camera = hra.Camera.orbit(certified.bounds, distance=2.2, viewport=VIEWPORT)
        allocator = meshes.MeshAllocator(certified)
        shares = []
        for x in (200.0, 600.0):
            view = meshes.View(camera, hra.Eccentricity((x, 300), pixels_per_degree=20))
            mesh = allocator.realize(allocator.allocate(view, 1500))
            front = mesh.positions[mesh.positions[:, 2] > 0.3]
            shares.append(float((camera.project(front).pixels[:, 0] < 400).mean()))
            assert cut_by_pixels(certified, view, 2.0).cost < cut_by_pixels(certified, camera, 2.0).cost
        assert shares[0] > shares[1] + 0.08


def test_an_allocation_names_its_error(certified: meshes.ClusterMesh) -> None:
    for error in get_args(ErrorName):
        metric = cut_by_pixels(certified, orbit(certified, 0), 1.0, error).metric
        assert isinstance(metric, meshes.ScreenError) and metric.error == error


@pytest.mark.parametrize("weight", [0, -1.0, np.inf, np.nan])
def test_bad_weights_are_refused(bumpy_clusters: meshes.ClusterMesh, weight: float) -> None:
    with pytest.raises(MetricError, match="weight"):
        meshes.View(orbit(bumpy_clusters, 0), weight=weight)


def test_bad_contexts_are_refused(bumpy_clusters: meshes.ClusterMesh) -> None:
    hierarchy, camera = bumpy_clusters.hierarchy, orbit(bumpy_clusters, 0)
    with pytest.raises(MetricError, match=r"context\[1\]"):
        METRIC.peak(hierarchy, [camera, "light"])
    with pytest.raises(MetricError, match="empty"):
        METRIC.evaluate(hierarchy, [])

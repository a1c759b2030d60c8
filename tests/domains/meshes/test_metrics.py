"""ScreenError: Nanite's rule for thresholds, a monotone sum for budgets, nothing for what is out of view."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import hra
from hra.domains import meshes
from hra.errors import MetricError, RepairWarning

METRIC = meshes.ScreenError()


def orbit(clusters: meshes.ClusterMesh, azimuth: float, distance: float | None = None) -> hra.Camera:
    return hra.Camera.orbit(clusters.bounds, azimuth=azimuth, distance=distance)


def test_peak_is_the_error_in_pixels(bumpy_clusters: meshes.ClusterMesh) -> None:
    camera = orbit(bumpy_clusters, 10)
    node = bumpy_clusters.hierarchy.node
    expected = [
        e * camera.pixels_per_unit(c[None], r[None])[0]
        for e, c, r in zip(node["error"], node["center"], node["radius"], strict=True)
    ]
    assert np.allclose(METRIC.peak(bumpy_clusters.hierarchy, camera), expected)


@given(st.floats(-180, 180), st.floats(0.05, 20), st.floats(1e-3, 1e3))
def test_a_threshold_draws_what_the_cluster_rule_draws(
    bumpy_clusters: meshes.ClusterMesh, azimuth: float, distance: float, tau: float
) -> None:
    hierarchy, camera = bumpy_clusters.hierarchy, orbit(bumpy_clusters, azimuth, distance)
    allocation = meshes.MeshAllocator(bumpy_clusters, traversal=hra.Threshold(tau)).allocate(camera, np.inf)
    own = METRIC.peak(hierarchy, camera)
    coarser = np.full(len(own), np.inf)
    products = hierarchy.removed_by >= 0
    group_error = np.zeros(len(hierarchy))
    group_error[hierarchy.removed_by[products]] = own[products]
    members = hierarchy.added_by >= 0
    coarser[members] = group_error[hierarchy.added_by[members]]
    assert np.array_equal(allocation.cut, np.flatnonzero((coarser > tau) & (own <= tau)))


@given(st.floats(-180, 180), st.floats(0.02, 20))
def test_the_error_never_falls_from_fine_to_coarse(
    bumpy_clusters: meshes.ClusterMesh, azimuth: float, distance: float
) -> None:
    hierarchy, camera = bumpy_clusters.hierarchy, orbit(bumpy_clusters, azimuth, distance)
    error = METRIC.evaluate(hierarchy, camera)
    added = np.bincount(hierarchy.added_by[hierarchy.added_by >= 0], error[hierarchy.added_by >= 0], len(hierarchy))
    gone = hierarchy.removed_by >= 0
    removed = np.bincount(hierarchy.removed_by[gone], error[gone], len(hierarchy))
    assert (removed >= added * (1 - 1e-9)).all()
    with warnings.catch_warnings():
        warnings.simplefilter("error", RepairWarning)
        meshes.MeshAllocator(bumpy_clusters).allocate(camera, 1000)


def test_the_sum_agrees_with_adding_up_source_clusters(bumpy_clusters: meshes.ClusterMesh) -> None:
    hierarchy, camera = bumpy_clusters.hierarchy, orbit(bumpy_clusters, 45)
    node, members = hierarchy.node, hierarchy.added_nodes

    def weight(cluster: int) -> float:
        """Recursively, from the definition: the share of the group's weight by area."""
        group = hierarchy.removed_by[cluster]
        if group < 0:
            scale = camera.pixels_per_unit(node["center"][[cluster]], node["radius"][[cluster]])[0]
            visible = camera.spheres_visible(node["center"][[cluster]], node["radius"][[cluster]])[0]
            covered = min(1.0, node["area"][cluster] / 2 * scale**2 / (1920 * 1080))
            return scale**2 * covered * visible
        fine = members[1][members[0][group] : members[0][group + 1]]
        siblings = np.flatnonzero(hierarchy.removed_by == group)
        share = node["area"][cluster] / node["area"][siblings].sum()
        return share * sum(weights[f] for f in fine)

    weights: dict[int, float] = {}
    for cluster in range(len(hierarchy.node_cost) - 1, -1, -1):
        weights[cluster] = weight(cluster)
    expected = [node["error"][c].astype(float) ** 2 * weights[c] for c in range(len(weights))]
    assert np.allclose(METRIC.evaluate(hierarchy, camera), expected, rtol=1e-9)


def test_what_is_out_of_view_has_no_error(bumpy_clusters: meshes.ClusterMesh) -> None:
    away = hra.Camera.perspective(eye=(0, 0, 20), target=(0, 0, 40))
    assert not METRIC.peak(bumpy_clusters.hierarchy, away).any()
    assert not METRIC.evaluate(bumpy_clusters.hierarchy, away).any()


@pytest.mark.parametrize(
    "eye", [(0, 0, 0), (0, 0, 1.0), (0.2, 0, 0.95)], ids=["inside", "on the surface", "near plane"]
)
def test_a_camera_inside_the_bounds_gets_finite_errors(bumpy_clusters: meshes.ClusterMesh, eye: tuple) -> None:
    camera = hra.Camera.perspective(eye=eye, target=(1, 0.1, 0), near=1e-3)
    allocation = meshes.MeshAllocator(bumpy_clusters).allocate(camera, 2000)
    assert np.isfinite(allocation.residual)
    assert allocation.cost <= 2000


def test_another_context_or_hierarchy_is_refused(bumpy_clusters: meshes.ClusterMesh) -> None:
    with pytest.raises(MetricError, match="Camera"):
        METRIC.evaluate(bumpy_clusters.hierarchy, "camera")
    with pytest.raises(MetricError, match="center"):
        METRIC.peak(hra.Hierarchy.flat([1.0]), orbit(bumpy_clusters, 0))

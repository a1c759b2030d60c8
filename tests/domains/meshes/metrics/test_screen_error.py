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

METRIC = meshes.ScreenError("quadric")


def orbit(clusters: meshes.ClusterMesh, azimuth: float, distance: float | None = None) -> hra.Camera:
    return hra.Camera.orbit(clusters.bounds, azimuth=azimuth, distance=distance)


def beneath(hierarchy: hra.Hierarchy) -> list[set[int]]:
    """The source clusters that each cluster stands for, group by group from the definition."""
    offsets, added = hierarchy.added_nodes
    result: list[set[int]] = [set() for _ in hierarchy.node_cost]
    for cluster in range(len(result) - 1, -1, -1):
        group = hierarchy.removed_by[cluster]
        members = added[offsets[group] : offsets[group + 1]] if group >= 0 else []
        result[cluster] = set().union(*(result[member] for member in members)) if group >= 0 else {cluster}
    return result


def in_pixels(hierarchy: hra.Hierarchy, camera: hra.Camera) -> np.ndarray:
    """What `ScreenError.peak` promises, cluster by cluster."""
    node, focal = hierarchy.node, camera.focal_pixels if camera.is_perspective else np.inf
    scale = camera.visible_pixels_per_unit_in_boxes(node["box"])
    nested = np.minimum(scale, camera.visible_pixels_per_unit(node["center"], node["radius"]))
    result = np.zeros(len(scale))
    for cluster, sources in enumerate(beneath(hierarchy)):
        moved = float(node["error"][cluster]) * max(scale[source] for source in sources)
        share = moved / focal
        nearer = (1 + share) / (1 - share) ** 2 if share < 1 else np.inf
        result[cluster] = min(moved * nearer, node["error"][cluster] * nested[cluster]) if moved else 0
    return result


@pytest.mark.parametrize("distance", [None, 1.3, 0.9, 0.2])
def test_peak_is_the_error_in_pixels(bumpy_clusters: meshes.ClusterMesh, distance: float | None) -> None:
    camera = orbit(bumpy_clusters, 10, distance)
    expected = in_pixels(bumpy_clusters.hierarchy, camera)
    assert np.allclose(METRIC.peak(bumpy_clusters.hierarchy, camera), expected, rtol=1e-6)


def test_peak_of_a_parallel_projection(bumpy_clusters: meshes.ClusterMesh) -> None:
    camera = hra.Camera.orthographic((0.5, 0, 5), (0.5, 0, 0), height=1.0, near=-9, far=20, viewport=(800, 800))
    peak = METRIC.peak(bumpy_clusters.hierarchy, camera)
    assert np.allclose(peak, in_pixels(bumpy_clusters.hierarchy, camera), rtol=1e-6)
    seen = peak > 0
    assert 0 < seen.sum() < len(seen)
    assert np.allclose(peak[seen], 800 * bumpy_clusters.hierarchy.attribute("error")[seen])


class BySpheres(hra.ErrorMetric):
    """The error in pixels by the nested sphere of each cluster alone."""

    def evaluate(self, hierarchy: hra.Hierarchy, context: hra.Camera) -> np.ndarray:
        return METRIC.evaluate(hierarchy, context)

    def peak(self, hierarchy: hra.Hierarchy, context: hra.Camera) -> np.ndarray:
        scale = context.visible_pixels_per_unit(hierarchy.attribute("center"), hierarchy.attribute("radius"))
        return hierarchy.attribute("error") * scale


@given(st.floats(-180, 180), st.floats(0.3, 20), st.floats(0.5, 30))
def test_never_more_triangles_than_by_spheres(
    skull_clusters: meshes.ClusterMesh, azimuth: float, share: float, tau: float
) -> None:
    extent = float(np.linalg.norm(np.ptp(skull_clusters.bounds, axis=0)))
    camera = orbit(skull_clusters, azimuth, share * extent)
    tight, loose = (
        meshes.MeshAllocator(skull_clusters, metric, hra.Threshold(tau)).allocate(camera, np.inf)
        for metric in (METRIC, BySpheres())
    )
    assert tight.cost <= loose.cost
    assert not (tight.selected & ~loose.selected).any()


def test_fewer_triangles_than_by_spheres(skull_clusters: meshes.ClusterMesh) -> None:
    extent = float(np.linalg.norm(np.ptp(skull_clusters.bounds, axis=0)))
    saved = []
    for azimuth in range(0, 360, 45):
        camera = orbit(skull_clusters, azimuth, 0.7 * extent)
        tight, loose = (
            meshes.MeshAllocator(skull_clusters, metric, hra.Threshold(4.0)).allocate(camera, np.inf).cost
            for metric in (METRIC, BySpheres())
        )
        saved.append(1 - tight / loose)
    assert np.mean(saved) >= 0.1


@given(st.floats(-180, 180), st.floats(0.05, 20), st.floats(1e-3, 1e3))
def test_a_threshold_draws_what_the_cluster_rule_draws(
    bumpy_clusters: meshes.ClusterMesh, azimuth: float, distance: float, tau: float
) -> None:
    hierarchy, camera = bumpy_clusters.hierarchy, orbit(bumpy_clusters, azimuth, distance)
    metric = meshes.ScreenError()
    allocation = meshes.MeshAllocator(bumpy_clusters, metric, hra.Threshold(tau)).allocate(camera, np.inf)
    own = metric.peak(hierarchy, camera)
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
            scale = camera.visible_pixels_per_unit_in_boxes(node["box"][[cluster]])[0]
            return scale**2 * min(1.0, node["area"][cluster] / 2 * scale**2 / (1920 * 1080))
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


PLAIN = hra.Camera.perspective((0, 0.3, 1.8), (0, 0, 0), near=0.01, viewport=(640, 480))
HARD_CAMERAS = {
    "inside": hra.Camera.perspective((0, 0, 0), (1, 0, 0), near=0.01),
    "near plane through the surface": hra.Camera.perspective((0, 0, 1.2), (0, 0, 0), near=0.3),
    "beyond the near plane": hra.Camera.perspective((0, 0, 1.2), (0, 0, 0), near=50, far=60),
    "behind": hra.Camera.perspective((0, 0, 3), (0, 0, 9)),
    "infinite far": PLAIN,
    "reversed": hra.Camera.perspective((0, 0.3, 1.8), (0, 0, 0), near=0.01, viewport=(640, 480), reversed_depth=True),
    "mirrored": PLAIN.seen_from(np.diag([-1.0, 1, 1, 1])),
    "uneven scale": PLAIN.seen_from(np.diag([2.0, 0.5, 1, 1])),
    "a pixel": hra.Camera.perspective((0, 0, 3), (0, 0, 0), viewport=(1, 1)),
    "narrow": hra.Camera.perspective((0, 0, 3), (0, 0, 0), vertical_fov_degrees=1e-3),
    "wide": hra.Camera.perspective((0, 0, 3), (0, 0, 0), vertical_fov_degrees=179.9),
}


@pytest.mark.case(74, 75, 76, 78, 81)
@pytest.mark.parametrize("kind", HARD_CAMERAS)
def test_hard_cameras_cut_as_any_other(bumpy_clusters: meshes.ClusterMesh, kind: str) -> None:
    """Cases 74 to 76, 78 and 81 of the list of bad inputs; the refused ones make no camera at all."""
    camera, hierarchy = HARD_CAMERAS[kind], bumpy_clusters.hierarchy
    for view in (camera, meshes.View(camera, hra.Eccentricity((300, 200)))):
        for traversal, budget in ((hra.Hull(), 2000), (hra.Threshold(1.0), np.inf)):
            allocator = meshes.MeshAllocator(bumpy_clusters, traversal=traversal)
            allocation = allocator.allocate(view, budget)
            assert allocation.cost <= budget
            assert np.isfinite(allocation.residual)
            assert meshes.is_closed(allocator.realize(allocation))
        peak = METRIC.peak(hierarchy, view)
        assert np.isfinite(peak).all() and peak.any() == (kind not in ("behind", "beyond the near plane"))


def test_depth_conventions_do_not_matter(bumpy_clusters: meshes.ClusterMesh) -> None:
    plain, reversed_depth = (
        METRIC.peak(bumpy_clusters.hierarchy, HARD_CAMERAS[k]) for k in ("infinite far", "reversed")
    )
    assert np.allclose(plain, reversed_depth)


def test_another_context_or_hierarchy_is_refused(bumpy_clusters: meshes.ClusterMesh) -> None:
    with pytest.raises(MetricError, match="Camera"):
        METRIC.evaluate(bumpy_clusters.hierarchy, "camera")
    with pytest.raises(MetricError, match="box"):
        METRIC.evaluate(hra.Hierarchy.flat([1.0]), orbit(bumpy_clusters, 0))

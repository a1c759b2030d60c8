"""The error "appearance": never looser than "certified", monotone, and a mean change of the picture that it keeps."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import hra
from hra.camera.occlusion import Occlusion
from hra.domains import meshes
from hra.errors import HraError, MetricError

VIEWPORT = (320, 240)
LOOKS, CERTIFIED = meshes.ScreenError("appearance"), meshes.ScreenError("certified")
NEAR, LEAST_FACING, OF_NORMALS = 1.0, 0.02, 6.0


@pytest.fixture(scope="module")
def looks(make_closed) -> meshes.ClusterMesh:
    return meshes.build(make_closed(5, bumps=0.6), cluster_size=32, group_size=4, appearance=True)


@pytest.fixture(scope="module")
def open_looks(make_grid) -> meshes.ClusterMesh:
    return meshes.build(make_grid(40, 0.2), cluster_size=32, group_size=4, appearance=True)


def camera_of(clusters: meshes.ClusterMesh, azimuth: float = 20, sizes: float = 1.5, elevation: float = 20):
    longest = float(np.ptp(clusters.bounds, axis=0).max())
    distance = sizes * longest
    return hra.Camera.orbit(clusters.bounds, azimuth=azimuth, elevation=elevation, distance=distance, viewport=VIEWPORT)


def changes(clusters: meshes.ClusterMesh, camera: hra.Camera) -> tuple[np.ndarray, np.ndarray]:
    """The share of each cluster in the picture [N], and what it changes there [N], by loops over the groups."""
    hierarchy, facing = clusters.hierarchy, clusters.hierarchy.attribute("facing").astype(float)
    share = np.zeros(len(facing))
    for c in np.flatnonzero(hierarchy.removed_by < 0):
        box = hierarchy.attribute("box")[c]
        pixels = camera.visible_pixels_per_unit_in_boxes(box[None])[0]
        if not camera.boxes_near_view(box[None], np.ones(1, np.bool_))[1][0]:
            way = camera.position - box.astype(float).mean(axis=0)
            ahead = facing[c, :3] @ way / np.linalg.norm(way)
            turned = max(ahead, -ahead * facing[c, 3], 0.0) + LEAST_FACING
            share[c] = turned * hierarchy.attribute("area")[c] * pixels**2
    share /= share.sum()
    for r in reversed(range(len(hierarchy))):
        added, removed = hierarchy.added_by == r, hierarchy.removed_by == r
        area = hierarchy.attribute("area")[removed]
        share[removed] = share[added].sum() * area / area.sum()
    change = CERTIFIED.peak(hierarchy, camera) + OF_NORMALS * np.sqrt(
        hierarchy.attribute("normal_change").astype(float)
    )
    return share, np.where(hierarchy.removed_by < 0, 0.0, change)


def cut_at(clusters: meshes.ClusterMesh, context, tau: float) -> hra.Allocation:
    return meshes.MeshAllocator(clusters, LOOKS, hra.Threshold(tau)).allocate(context, np.inf)


@given(azimuth=st.floats(0, 360), sizes=st.floats(0.6, 8), tau=st.floats(0.2, 4))
def test_both_limits_are_kept(looks: meshes.ClusterMesh, azimuth: float, sizes: float, tau: float) -> None:
    camera = camera_of(looks, azimuth, sizes)
    cut = cut_at(looks, camera, tau).cut
    share, change = changes(looks, camera)
    assert share[cut].sum() == pytest.approx(1)
    assert share[cut] @ change[cut] <= tau * (1 + 1e-9)
    assert CERTIFIED.peak(looks.hierarchy, camera)[cut].max(initial=0.0) <= tau


@given(azimuth=st.floats(0, 360), sizes=st.floats(0.3, 8))
def test_errors_are_no_looser_than_certified_and_never_fall(
    looks: meshes.ClusterMesh, azimuth: float, sizes: float
) -> None:
    hierarchy, camera = looks.hierarchy, camera_of(looks, azimuth, sizes)
    peak, bound = LOOKS.peak(hierarchy, camera), CERTIFIED.peak(hierarchy, camera)
    assert (peak >= bound).all()
    removed, added = np.flatnonzero(hierarchy.removed_by >= 0), np.flatnonzero(hierarchy.added_by >= 0)
    group = np.full(len(hierarchy), -1.0)
    group[hierarchy.removed_by[removed]] = peak[removed]
    # One error for all of a group: both sides of a border are decided alike.
    assert (peak[removed] == group[hierarchy.removed_by[removed]]).all()
    assert (peak[added] <= group[hierarchy.added_by[added]]).all()


@given(st.lists(st.floats(0.1, 6), min_size=2, max_size=4))
def test_finer_tolerances_refine(looks: meshes.ClusterMesh, tolerances: list[float]) -> None:
    camera = camera_of(looks)
    opened = [cut_at(looks, camera, tau).selected for tau in sorted(tolerances)]
    for finer, coarser in pairwise(opened):
        assert not (coarser & ~finer).any()


def test_a_tolerance_of_one_spends_what_it_may(looks: meshes.ClusterMesh) -> None:
    """The next group would be too much: errors are not only small, they are near the limit."""
    camera = camera_of(looks, sizes=4)
    share, change = changes(looks, camera)
    cut = cut_at(looks, camera, 1.0).cut
    assert 0.9 < share[cut] @ change[cut] <= 1.0
    # A cut by the same normals everywhere draws more for the same mean.
    hierarchy = looks.hierarchy
    rough = hierarchy.attribute("normal_change")
    group = np.array([rough[hierarchy.removed_by == r][0] for r in range(len(hierarchy))])
    even = cut
    for level in np.sort(group)[::-1]:
        taken = group > level
        there = (hierarchy.added_by < 0) | taken[hierarchy.added_by]
        even = np.flatnonzero(there & ~((hierarchy.removed_by >= 0) & taken[hierarchy.removed_by]))
        if share[even] @ change[even] <= 1.0:
            break
    triangles = looks.triangles_per_cluster
    assert triangles[cut].sum() < triangles[even].sum()


def test_what_faces_away_is_drawn_with_fewer_triangles(looks: meshes.ClusterMesh) -> None:
    camera = camera_of(looks, sizes=4, elevation=0)
    both = [
        looks.mesh(cut.cut)
        for cut in (
            cut_at(looks, camera, 1.0),
            meshes.MeshAllocator(looks, CERTIFIED, hra.Threshold(1.0)).allocate(camera, np.inf),
        )
    ]
    # Towards the eye and away from it.
    shares = []
    for mesh in both:
        centers = mesh.positions[mesh.triangles].mean(axis=1)
        shares.append(float((centers @ (camera.position / np.linalg.norm(camera.position)) > 0).mean()))
    assert len(both[0].triangles) > len(both[1].triangles) and shares[0] > shares[1] + 0.05


def test_backs_of_open_surfaces_count(open_looks: meshes.ClusterMesh) -> None:
    above, below = (cut_at(open_looks, camera_of(open_looks, 30, 2, angle), 1.0).cost for angle in (60, -60))
    assert 0.8 < above / below < 1.25


def test_out_of_view_nothing_has_an_error(looks: meshes.ClusterMesh) -> None:
    away = hra.Camera.perspective((0, 0, 50), (0, 0, 100), viewport=VIEWPORT)
    assert (LOOKS.peak(looks.hierarchy, away) == 0).all()


def test_views_gaze_and_buffers(looks: meshes.ClusterMesh) -> None:
    hierarchy, first, second = looks.hierarchy, camera_of(looks), camera_of(looks, 200, 4)
    alone = [LOOKS.peak(hierarchy, camera) for camera in (first, second)]
    np.testing.assert_array_equal(LOOKS.peak(hierarchy, [first, second]), np.maximum(*alone))
    gaze = meshes.View(first, hra.Eccentricity((160, 120), pixels_per_degree=20))
    assert cut_at(looks, gaze, 1.0).cost < cut_at(looks, first, 1.0).cost
    nothing, wall = (Occlusion.of(np.full((240, 320), depth, np.float32), first) for depth in (1.0, 0.0))
    seen, hidden = (meshes.VisibleScreenError(buffer, "appearance") for buffer in (nothing, wall))
    np.testing.assert_allclose(seen.peak(hierarchy, first), alone[0])
    assert (hidden.peak(hierarchy, first) <= alone[0]).all() and hidden.peak(hierarchy, first).max() == 0


@pytest.mark.parametrize("turned", [np.diag([-2.0, 2.0, 2.0, 1.0]), np.diag([0.5, 0.5, 0.5, 1.0])])
def test_parallel_and_placed_cameras(looks: meshes.ClusterMesh, turned: np.ndarray) -> None:
    plain = hra.Camera.orthographic((0, 6, 0), (0, 0, 0), up=(0, 0, 1), height=4, far=20, viewport=VIEWPORT)
    for camera in (plain, plain.seen_from(turned)):
        cut = cut_at(looks, camera, 1.0)
        assert cut.max_error <= 1.0
        mesh = looks.mesh(cut.cut)
        ahead = mesh.positions[mesh.triangles].mean(axis=1)[:, 1] > 0
        assert ahead.mean() > 0.5


class TestBuilding:
    def test_a_pass_after_the_build_is_the_same(self, looks: meshes.ClusterMesh, make_closed) -> None:
        plain = meshes.build(make_closed(5, bumps=0.6), cluster_size=32, group_size=4)
        after = [meshes.with_appearance(plain) for _ in range(2)]
        for name, column in looks.hierarchy.node.items():
            for mesh in after:
                np.testing.assert_array_equal(mesh.hierarchy.attribute(name), column)
        assert set(looks.hierarchy.node) - set(plain.hierarchy.node) == {"normal_change", "facing"}
        assert after[0].report is not None and after[0].report.settings["appearance"] is True
        assert plain.report is not None and "appearance" not in plain.report.settings

    @pytest.mark.parametrize("grid_bits", [None, 16])
    def test_files_keep_it(self, looks: meshes.ClusterMesh, tmp_path: Path, grid_bits: int | None) -> None:
        looks.save(tmp_path / "looks.hra", grid_bits)
        asset = meshes.open_asset(tmp_path / "looks.hra")
        for name in ("normal_change", "facing"):
            np.testing.assert_array_equal(asset.hierarchy.attribute(name), looks.hierarchy.attribute(name))
        allocator = meshes.MeshAllocator(asset, LOOKS, hra.Threshold(1.0))
        assert allocator.allocate(camera_of(looks), np.inf).max_error <= 1.0

    def test_costs_in_bytes_keep_both_limits(self, looks: meshes.ClusterMesh) -> None:
        camera, priced = camera_of(looks), looks.with_cost("bytes")
        share, change = changes(looks, camera)
        cut = cut_at(priced, camera, 1.0).cut
        assert share[cut] @ change[cut] <= 1.0 and CERTIFIED.peak(looks.hierarchy, camera)[cut].max() <= 1.0


def refusals(looks: meshes.ClusterMesh) -> dict[str, Callable[[], object]]:
    plain = replace(looks, hierarchy=replace(looks.hierarchy, node=_without(looks, "normal_change", "facing")))
    unbounded = replace(looks, hierarchy=replace(looks.hierarchy, node=_without(looks, "hausdorff")))
    camera = camera_of(looks)
    return {
        "appearance=True": lambda: LOOKS.peak(plain.hierarchy, camera),
        "without the bounds": lambda: LOOKS.peak(unbounded.hierarchy, camera),
        "needs? a camera|what a camera sees": lambda: meshes.SurfaceError("appearance"),
    }


def _without(clusters: meshes.ClusterMesh, *names: str) -> dict[str, np.ndarray]:
    return {name: column for name, column in clusters.hierarchy.node.items() if name not in names}


def test_meshes_that_lack_it_are_refused(looks: meshes.ClusterMesh) -> None:
    for message, call in refusals(looks).items():
        with pytest.raises(MetricError, match=message):
            call()
    with pytest.raises(HraError, match=r"with_appearance"):
        refusals(looks)["appearance=True"]()


def test_budgets_see_the_estimate(looks: meshes.ClusterMesh) -> None:
    camera, quadric = camera_of(looks), meshes.ScreenError("quadric")
    np.testing.assert_array_equal(LOOKS.evaluate(looks.hierarchy, camera), quadric.evaluate(looks.hierarchy, camera))

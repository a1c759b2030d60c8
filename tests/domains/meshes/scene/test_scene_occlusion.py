"""Instances behind and beside an occluder: what a buffer of the world hides, against a rasteriser."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import hra
from hra.camera.occlusion import Occlusion, window_matrix
from hra.domains import meshes
from hra.domains.meshes.scene.scene import placed_metric
from hra.errors import MetricError
from tests.helpers.rasterizer import Target

VIEWPORT = (320, 240)
CENTER = np.array([100.0, -40.0, 7.0])


def camera(reversed_depth: bool = False) -> hra.Camera:
    """At the origin of the scene, far from that of the world, along +Y."""
    eye = CENTER + np.array([0, -12, 0])
    return hra.Camera.perspective(eye, CENTER, (0, 0, 1), near=0.1, viewport=VIEWPORT, reversed_depth=reversed_depth)


def wall() -> np.ndarray:
    """Two triangles in front of the centre of the view."""
    corners = CENTER + np.array([[-3, -4, -3], [3, -4, -3], [3, -4, 3], [-3, -4, 3]], float)
    return corners[[[0, 1, 2], [0, 2, 3]]]


def placed(matrix: np.ndarray, place: Any) -> np.ndarray:
    result = np.eye(4)
    result[:3, :3], result[:3, 3] = matrix, CENTER + place
    return result


def occlusion(view: hra.Camera) -> Occlusion:
    """The buffer of the wall alone."""
    target = Target(VIEWPORT[1], VIEWPORT[0], view.reversed_depth)
    target.draw(wall(), np.zeros(2), window_matrix(view))
    return Occlusion.of(target.depth, view)


def owners(view: hra.Camera, mesh: meshes.ClusterMesh, placements: np.ndarray) -> np.ndarray:
    """Which instances own a pixel of a picture of the wall and all of them at full detail, bool [B]."""
    target = Target(VIEWPORT[1], VIEWPORT[0], view.reversed_depth)
    target.draw(wall(), np.full(2, len(placements)), window_matrix(view))
    corners = mesh.positions[mesh.triangles(np.flatnonzero(mesh.hierarchy.removed_by < 0))].astype(np.float64)
    for number, matrix in enumerate(placements):
        world = corners @ matrix[:3, :3].T + matrix[:3, 3]
        target.draw(world, np.full(len(world), number), window_matrix(view))
    return target.seen(len(placements) + 1)[:-1]


SHAPES = {
    "as it is": np.eye(3),
    "mirrored": np.diag([-1.0, 1.0, 1.0]),
    "uneven": np.diag([0.3, 1.4, 0.8]),
    "uneven and mirrored": np.diag([0.6, -0.4, 1.2]),
    "turned": np.linalg.qr(np.random.default_rng(1).normal(size=(3, 3)))[0] * 0.7,
    "sheared": np.array([[0.7, 0.4, 0.0], [0.0, 0.5, -0.3], [0.1, 0.0, 0.9]]),
}


@pytest.mark.parametrize("reversed_depth", [False, True])
@pytest.mark.parametrize("shape", SHAPES)
def test_what_is_behind_stays_coarse_and_what_is_beside_does_not(
    small: meshes.ClusterMesh, shape: str, reversed_depth: bool
) -> None:
    view = camera(reversed_depth)
    behind, beside, before = (0.0, 2.0, 0.0), (5.5, 0.0, 0.0), (0.0, -6.0, 0.0)
    placements = np.stack([placed(SHAPES[shape], place) for place in (behind, beside, before)])
    assert owners(view, small, placements[:2]).tolist() == [False, True]
    assert owners(view, small, placements[2:]).tolist() == [True]
    scene = meshes.Scene([(small, placements)], meshes.VisibleScreenError(occlusion(view)))
    allocation = scene.allocate(view, np.inf)
    hidden, seen, nearer = (member.cost for member in allocation.members)
    assert hidden == small.root_triangle_count
    assert min(seen, nearer) > 3 * small.root_triangle_count


def test_an_instance_in_full_view_far_from_the_origin_is_refined(small: meshes.ClusterMesh) -> None:
    """With an empty buffer nothing is hidden, wherever it stands."""
    view = camera()
    empty = Occlusion.of(np.ones(VIEWPORT[::-1], np.float32), view)
    placements = placed(np.eye(3), (0, 0, 0))[None]
    plain, free = (meshes.Scene([(small, placements)], metric) for metric in (None, meshes.VisibleScreenError(empty)))
    for budget in (600, np.inf):
        first, second = plain.allocate(view, budget), free.allocate(view, budget)
        np.testing.assert_array_equal(first.members[0].selected, second.members[0].selected)
    assert second.whole.cost > 0.9 * small.triangle_count / 2


@given(st.integers(0, 2**32 - 1))
def test_no_instance_that_owns_a_pixel_is_hidden(small: meshes.ClusterMesh, seed: int) -> None:
    rng, view = np.random.default_rng(seed), camera(bool(seed % 2))
    count = 12
    matrices = rng.normal(size=(count, 3, 3)) * rng.choice([0.2, 0.5], (count, 1, 1))
    matrices += 0.2 * np.eye(3)
    places = rng.uniform([-6, -3, -5], [6, 6, 5], (count, 3))
    placements = np.stack([placed(m, p) for m, p in zip(matrices, places, strict=True)])
    metric = meshes.VisibleScreenError(occlusion(view))
    scene = meshes.Scene([(small, placements)], metric)
    allocation = scene.allocate(view, np.inf)
    refined = np.zeros(count, bool)
    refined[allocation.drawn] = [member.selected.any() for member in allocation.members]
    alone = np.array([owners(view, small, placements[[k]])[0] for k in range(count)])
    assert not (alone & ~refined).any()


def test_most_hidden_instances_are_found_hidden(small: meshes.ClusterMesh) -> None:
    rng, view, count = np.random.default_rng(0), camera(), 150
    matrices = rng.normal(size=(count, 3, 3)) * 0.3
    places = rng.uniform([-6, -2, -5], [6, 6, 5], (count, 3))
    placements = np.stack([placed(m, p) for m, p in zip(matrices, places, strict=True)])
    allocation = meshes.Scene([(small, placements)], meshes.VisibleScreenError(occlusion(view))).allocate(view, np.inf)
    refined = np.zeros(count, bool)
    refined[allocation.drawn] = [member.selected.any() for member in allocation.members]
    alone = np.array([owners(view, small, placements[[k]])[0] for k in range(count)])
    assert 40 < np.count_nonzero(~alone & allocation.drawn) < 130
    assert np.count_nonzero(~alone & allocation.drawn & ~refined) > 0.7 * np.count_nonzero(~alone & allocation.drawn)


def test_sums_and_multiples_are_placed_as_well(small: meshes.ClusterMesh) -> None:
    view, plain = camera(), meshes.ScreenError()
    metric = meshes.VisibleScreenError(occlusion(view))
    placements = np.stack([placed(np.eye(3), place) for place in ((0.0, 2.0, 0.0), (5.5, 0.0, 0.0))])
    costs = [
        [member.cost for member in meshes.Scene([(small, placements)], own).allocate(view, np.inf).members]
        for own in (metric, 2.0 * metric, metric + 0.5 * metric, metric.maximum(metric))
    ]
    assert costs[1:] == costs[:1] * 3
    assert placed_metric(plain, placements[0]) is plain


def test_a_scene_follows_its_depth_buffers(small: meshes.ClusterMesh) -> None:
    """A new buffer for every frame, and still one sequence."""
    view = camera()
    placements = placed(np.eye(3), (0.0, 2.0, 0.0))[None]
    hiding = meshes.Scene([(small, placements)], meshes.VisibleScreenError(occlusion(view)))
    first = hiding.allocate(view, np.inf)
    empty = Occlusion.of(np.ones(VIEWPORT[::-1], np.float32), view)
    showing = hiding.with_metric(meshes.VisibleScreenError(empty))
    second = showing.allocate(view, np.inf, previous=first)
    assert not first.members[0].selected.any()
    assert second.whole.churn == second.members[0].selected.sum() > 0
    assert len(showing.realize(second)) == 1 and len(hiding) == len(showing) == 1


def test_clusters_of_an_instance_are_culled_where_it_stands(small: meshes.ClusterMesh) -> None:
    view, placement = camera(), placed(SHAPES["uneven and mirrored"], (5.2, 2.0, 0.0))
    cut = np.flatnonzero(small.hierarchy.removed_by < 0)
    kept = meshes.visible_clusters(small, cut, occlusion(view).seen_from(placement))
    target = Target(VIEWPORT[1], VIEWPORT[0])
    target.draw(wall(), np.full(2, len(small.offsets)), window_matrix(view))
    world = small.positions[small.triangles(cut)].astype(np.float64) @ placement[:3, :3].T + placement[:3, 3]
    target.draw(world, np.repeat(cut, small.triangles_per_cluster[cut]), window_matrix(view))
    owning = np.flatnonzero(target.seen(len(small.offsets) + 1)[:-1])
    assert set(owning) <= set(kept.tolist()) < set(cut.tolist())
    assert len(owning) > 5


@pytest.mark.parametrize("shape", ["as it is", "uneven and mirrored"])
def test_each_of_several_views_has_its_own_buffer(small: meshes.ClusterMesh, shape: str) -> None:
    """What is behind the wall for one eye is seen by another one beside it, and by a light without a buffer."""
    behind = CENTER + np.array([0, 12, 0])
    front, light = camera(), hra.Camera.perspective(behind, CENTER, (0, 0, 1), near=0.1, viewport=VIEWPORT)
    placements = np.stack([placed(SHAPES[shape], place) for place in ((0.0, 2.0, 0.0), (5.5, 0.0, 0.0))])
    one = meshes.Scene([(small, placements)], meshes.VisibleScreenError(occlusion(front)), hra.Threshold(1.0))
    other = meshes.Scene([(small, placements)], meshes.ScreenError(), hra.Threshold(1.0))
    buffers = occlusion(front), None
    both = meshes.Scene([(small, placements)], meshes.VisibleScreenError(buffers), hra.Threshold(1.0))
    hidden, lit = one.allocate(front, np.inf), other.allocate(light, np.inf)
    together = both.allocate([front, light], np.inf)
    assert hidden.members[0].cost == small.root_triangle_count < lit.members[0].cost
    for first, second, union in zip(hidden.members, lit.members, together.members, strict=True):
        assert np.array_equal(union.selected, first.selected | second.selected)
    twice = meshes.VisibleScreenError((occlusion(front), occlusion(front)))
    assert (
        meshes.Scene([(small, placements)], twice).allocate([front] * 2, np.inf).members[0].cost
        == hidden.members[0].cost
    )


def test_buffers_are_of_as_many_views_as_there_are(small: meshes.ClusterMesh) -> None:
    view = camera()
    for buffers, context in ((occlusion(view), [view, view]), ((None, None), view), ((), view)):
        with pytest.raises(MetricError, match="each view needs a depth buffer"):
            meshes.VisibleScreenError(buffers).evaluate(small.hierarchy, context)

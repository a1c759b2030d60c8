"""Instances out of view: they are not drawn and cost nothing; those that may be seen are never left out."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import hra
from hra.domains import meshes
from hra.errors import BudgetTooSmall, HierarchyError, InvalidBudget, UnitMismatch
from tests.helpers.cameras import inside_clip_volume, random_camera
from tests.helpers.surface_distance import dense_points


def rows(count: int, pitch: float) -> np.ndarray:
    """Copies side by side along +X [count, 4, 4]."""
    result = np.tile(np.eye(4), (count, 1, 1))
    result[:, 0, 3] = np.arange(count) * pitch
    return result


def at(x: float, width: float = 60) -> hra.Camera:
    """Above the copy at ``x``, looking down at a few of them."""
    return hra.Camera.perspective(
        (x, 0, 10), (x, 0, 0), up=(0, 1, 0), vertical_fov_degrees=width, viewport=(600, 600), near=0.1
    )


AWAY = hra.Camera.perspective((0, 0, 10), (0, 0, 20), up=(0, 1, 0))


def test_a_thousand_skulls_out_of_view_cost_nothing(skull_clusters: meshes.ClusterMesh) -> None:
    scene = meshes.Scene([(skull_clusters, rows(1000, 0.3))])
    for budget in (0, 100, np.inf):
        allocation = scene.allocate(AWAY, budget)
        assert allocation.whole.cost == 0
        assert allocation.whole.status == "optimal"
        assert not allocation.drawn.any() and len(allocation.drawn) == 1000
        assert scene.realize(allocation) == () == allocation.members
        assert "0 of 1000 instances" in repr(allocation)


def test_the_base_is_that_of_what_is_drawn(small: meshes.ClusterMesh) -> None:
    scene = meshes.Scene([(small, rows(50, 3.0))])
    camera = at(60.0)
    allocation = scene.allocate(camera, np.inf)
    number = int(allocation.drawn.sum())
    assert 2 <= number <= 8
    least = number * small.root_triangle_count
    exact = scene.allocate(camera, least)
    assert exact.whole.cost == exact.whole.budget == least
    with pytest.raises(BudgetTooSmall, match=str(least)):
        scene.allocate(camera, least - 1)
    instances = scene.realize(allocation)
    assert [instance.number for instance in instances] == np.flatnonzero(allocation.drawn).tolist()
    drawn = sum(len(instance.mesh.mesh(instance.cut).triangles) for instance in instances)
    assert drawn == allocation.whole.cost == sum(member.cost for member in allocation.members)
    for instance in instances:
        assert np.array_equal(instance.placement, scene.placements[instance.number])


def test_budgets_in_bytes_and_several_views(small: meshes.ClusterMesh) -> None:
    scene = meshes.Scene([(small.with_cost("bytes"), rows(50, 3.0))])
    one, other = scene.allocate(at(30.0), np.inf), scene.allocate(at(90.0), np.inf)
    both = scene.allocate([at(30.0), meshes.View(at(90.0), weight=0.1)], np.inf)
    assert np.array_equal(both.drawn, one.drawn | other.drawn)
    assert both.whole.cost == one.whole.cost + other.whole.cost
    assert not (one.drawn & other.drawn).any()


def test_what_is_in_view_gets_what_the_rest_would_have(small: meshes.ClusterMesh) -> None:
    """As if the others were not there: the same refinements, gain and bound."""
    placements = rows(50, 3.0)
    whole, budget = meshes.Scene([(small, placements)]), 4 * 900
    allocation = whole.allocate(at(60.0), budget)
    alone = meshes.Scene([(small, placements[allocation.drawn])]).allocate(at(60.0), budget)
    assert alone.drawn.all()
    for one, other in zip(allocation.members, alone.members, strict=True):
        assert np.array_equal(one.selected, other.selected)
    assert allocation.whole.upper_bound == alone.whole.upper_bound
    assert allocation.price == alone.price


def shaped(rng: np.random.Generator, count: int) -> np.ndarray:
    """Placements [count, 4, 4] of any shape: turned, mirrored, sheared, scaled unevenly, large and small."""
    result = np.tile(np.eye(4), (count, 1, 1))
    result[:, :3, :3] = rng.normal(size=(count, 3, 3)) * rng.choice([0.05, 0.5, 2.0], (count, 1, 1))
    result[:, :3, :3] += 0.02 * np.eye(3)
    result[:, :3, 3] = rng.normal(size=(count, 3)) * 6
    return result


@given(st.integers(0, 2**32 - 1))
def test_nothing_that_may_be_seen_is_left_out(small: meshes.ClusterMesh, seed: int) -> None:
    """Against points of the surface in the view's clip volume, for every kind of camera and placement."""
    rng = np.random.default_rng(seed)
    camera, placements = random_camera(rng), shaped(rng, 20)
    scene = meshes.Scene([(small, placements)])
    drawn = scene.allocate(camera, np.inf).drawn
    source = small.mesh(np.flatnonzero(small.hierarchy.removed_by < 0))
    points = dense_points(source, 3, 6000, rng)
    for number, matrix in enumerate(placements):
        seen = inside_clip_volume(camera, points @ matrix[:3, :3].T + matrix[:3, 3]).any()
        assert drawn[number] or not seen


def test_hardly_anything_is_kept_in_vain(small: meshes.ClusterMesh) -> None:
    rng, camera = np.random.default_rng(0), at(0.0)
    placements = shaped(rng, 1000)
    drawn = meshes.Scene([(small, placements)]).allocate(camera, np.inf).drawn
    points = dense_points(small.mesh(np.flatnonzero(small.hierarchy.removed_by < 0)), 3, 6000, rng)
    seen = np.array([inside_clip_volume(camera, points @ m[:3, :3].T + m[:3, 3]).any() for m in placements])
    assert 100 < seen.sum() < 900
    assert np.count_nonzero(drawn & ~seen) < 0.06 * np.count_nonzero(~seen)


class TestSequences:
    def test_changes_are_counted_among_what_is_drawn(self, small: meshes.ClusterMesh) -> None:
        """Who comes into view starts at the coarsest level; who leaves it counts no changes."""
        scene, previous = meshes.Scene([(small, rows(40, 3.0))]), None
        for x in np.arange(0.0, 60.0, 4.0):
            step = scene.allocate(at(x), 3000, previous=previous)
            assert step.whole.cost <= 3000
            assert (step.whole.churn is None) == (previous is None)
            if previous is not None:
                before = dict(zip(np.flatnonzero(previous.drawn).tolist(), previous.members, strict=True))
                after = dict(zip(np.flatnonzero(step.drawn).tolist(), step.members, strict=True))
                none = np.zeros(len(small.hierarchy), bool)
                changed = [
                    np.count_nonzero(member.selected != (before[n].selected if n in before else none))
                    for n, member in after.items()
                ]
                assert step.whole.churn == sum(changed)
            previous = step
        assert previous is not None and not previous.drawn[0]

    def test_limits_on_changes_hold(self, small: meshes.ClusterMesh) -> None:
        scene, previous = meshes.Scene([(small, rows(40, 3.0))], traversal=hra.Coherent(max_churn=5)), None
        for x in np.arange(0.0, 30.0, 1.5):
            previous = scene.allocate(at(x), 9000, previous=previous)
            assert previous.whole.churn is None or previous.whole.churn <= 5

    def test_views_of_nothing_in_between(self, small: meshes.ClusterMesh) -> None:
        scene = meshes.Scene([(small, rows(10, 3.0))])
        first = scene.allocate(at(0.0), 2000)
        nothing = scene.allocate(AWAY, 2000, previous=first)
        again = scene.allocate(at(0.0), 2000, previous=nothing)
        assert not nothing.drawn.any() and nothing.whole.cost == 0
        assert np.array_equal(again.whole.selected, first.whole.selected)
        assert again.whole.churn == first.whole.selected.sum()

    def test_steps_of_another_scene_are_refused(self, small: meshes.ClusterMesh) -> None:
        one, other = (meshes.Scene([(small, rows(count, 3.0))]) for count in (3, 4))
        with pytest.raises(HierarchyError, match="another scene"):
            other.allocate(at(0.0), 5000, previous=one.allocate(at(0.0), 5000))
        with pytest.raises(HierarchyError, match="another scene"):
            other.realize(one.allocate(AWAY, 0))


def test_bad_input_is_refused_when_nothing_is_in_view(small: meshes.ClusterMesh) -> None:
    scene = meshes.Scene([(small, rows(3, 3.0))])
    for budget in (-1, float("nan"), "many", None, True):
        with pytest.raises(InvalidBudget):
            scene.allocate(AWAY, budget)  # pyright: ignore[reportArgumentType]
    with pytest.raises(UnitMismatch, match="bytes, triangles"):
        meshes.Scene([(small, rows(3, 3.0)), (small.with_cost("bytes"), rows(3, 3.0))])


def test_thresholds_draw_every_instance_in_view_as_finely_as_alone(small: meshes.ClusterMesh) -> None:
    placements = rows(20, 3.0)
    scene, camera = meshes.Scene([(small, placements)], traversal=hra.Threshold(2.0)), at(20.0)
    alone = meshes.MeshAllocator(small, traversal=hra.Threshold(2.0))
    instances = scene.realize(scene.allocate(camera, np.inf))
    assert 0 < len(instances) < 20
    for instance in instances:
        expected = alone.allocate(camera.seen_from(instance.placement), np.inf).cut
        assert np.array_equal(instance.cut, expected)

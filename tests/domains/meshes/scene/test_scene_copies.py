"""Scenes of many instances, which are shared out without joining them: beside the pool of them all."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest

import hra
from hra.domains import meshes
from hra.domains.meshes.scene import scene as scene_module
from hra.domains.meshes.scene.placed_errors import PlacedViews
from hra.errors import BudgetTooSmall, HierarchyError, HraError
from hra.model.problem import Problem
from hra.pooling.copies import gains_each
from hra.pooling.copies_allocation import CopiesAllocation
from tests.domains.meshes.scene.test_scene import random_placements
from tests.domains.meshes.scene.test_scene_culling import shaped
from tests.helpers.cameras import random_camera


@pytest.fixture
def always_shared(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Few instances, too, are treated as many are."""
    monkeypatch.setattr(scene_module, "_MANY", 0)
    yield


def over(side: float, x: float = 0.0) -> hra.Camera:
    """Above a corner of a field, looking along it."""
    return hra.Camera.perspective(
        (x - 2, -2, 4), (side / 2 + x, side / 2, 0), up=(0, 0, 1), vertical_fov_degrees=40, viewport=(1280, 720)
    )


class TestAgainstThePool:
    def test_a_thousand_skulls(self, skull_clusters: meshes.ClusterMesh, monkeypatch: pytest.MonkeyPatch) -> None:
        """Residuals within 1 % of what the union of all finds, and a bound that it does not exceed."""
        extent = float(np.linalg.norm(np.ptp(skull_clusters.bounds, axis=0)))
        placements = random_placements(np.random.default_rng(0), 1000, extent)
        scene = meshes.Scene([(skull_clusters, placements)])
        camera = hra.Camera.perspective(
            (-extent, -extent, 2 * extent), (16 * extent, 16 * extent, 0), up=(0, 0, 1), near=extent / 50
        )
        for budget in (150_000, 2_000_000):
            shared = scene.allocate(camera, budget)
            monkeypatch.setattr(scene_module, "_MANY", np.inf)
            full = scene.allocate(camera, budget)
            monkeypatch.undo()
            assert isinstance(shared.pooled, CopiesAllocation) and not isinstance(full.pooled, CopiesAllocation)
            assert np.array_equal(shared.drawn, full.drawn) and shared.drawn.sum() > 900
            assert shared.whole.residual <= 1.01 * full.whole.residual
            assert full.whole.gain <= shared.whole.upper_bound
            assert shared.whole.residual_gap < 0.015
            assert 0.999 * budget < shared.cost == shared.whole.cost <= budget

    def test_gains_are_those_of_each_instance_alone(self, small: meshes.ClusterMesh) -> None:
        """For cameras and placements of every kind, several views, and weights."""
        for seed in range(20):
            rng = np.random.default_rng(seed)
            views = (meshes.View(random_camera(rng)), meshes.View(random_camera(rng), weight=rng.uniform(0.1, 3)))
            hierarchy, metric = small.hierarchy, meshes.ScreenError("certified")
            seen = PlacedViews(views[: 1 + seed % 2], shaped(rng, 70))
            gain, least = np.empty((len(hierarchy), 70)), np.empty(70)
            gains_each(hierarchy, metric, seen, gain, least)
            for i, context in enumerate(seen):
                alone = Problem.of(hierarchy, metric, context, np.inf)
                np.testing.assert_allclose(gain[:, i], alone.gain, rtol=1e-6, atol=1e-9 * alone.base_error)
                assert least[i] == alone.least_error

    @pytest.mark.usefixtures("always_shared")
    def test_a_gaze_is_seen_one_by_one(self, small: meshes.ClusterMesh) -> None:
        placements = random_placements(np.random.default_rng(1), 20, 3.0)
        view = meshes.View(over(12.0), gaze=hra.Eccentricity((300, 300)))
        shared = meshes.Scene([(small, placements)]).allocate(view, 12_000)
        alone = meshes.MeshAllocator(small)
        for number, member in zip(np.flatnonzero(shared.drawn).tolist(), shared.members, strict=True):
            expected = alone.allocate(view.seen_from(placements[number]), np.inf)
            np.testing.assert_allclose(member.problem.gain, expected.problem.gain, rtol=1e-12)


@pytest.mark.usefixtures("always_shared")
class TestShared:
    def test_cuts_are_valid_and_cost_what_is_said(
        self, small: meshes.ClusterMesh, bumpy_clusters: meshes.ClusterMesh
    ) -> None:
        """Two meshes whose instances are mixed; every cut is closed, and all together cost the budget or less."""
        rng = np.random.default_rng(2)
        places = random_placements(rng, 60, 3.0)
        scene = meshes.Scene([(small, places[:25]), (bumpy_clusters, places[25:40]), (small, places[40:])])
        for budget in (7_000, 15_000, 40_000, np.inf):
            allocation = scene.allocate(over(24.0), budget)
            instances = scene.realize(allocation)
            assert [instance.number for instance in instances] == np.flatnonzero(allocation.drawn).tolist()
            drawn = [instance.mesh.mesh(instance.cut) for instance in instances]
            assert all(meshes.is_closed(mesh) for mesh in drawn)
            assert sum(len(mesh.triangles) for mesh in drawn) == allocation.cost <= budget
            kinds = [instance.mesh for instance in instances]
            assert kinds == [bumpy_clusters if 25 <= instance.number < 40 else small for instance in instances]
            for instance, member in zip(instances, allocation.members, strict=True):
                assert np.array_equal(member.cut, instance.cut)
                assert np.array_equal(instance.placement, places[instance.number])

    def test_what_is_proven_is(self, small: meshes.ClusterMesh) -> None:
        scene = meshes.Scene([(small, random_placements(np.random.default_rng(3), 30, 3.0))])
        for budget in (4_000, 9_000, 30_000):
            whole = scene.allocate(over(15.0), budget).whole
            checked = hra.verify(whole)
            assert checked.ok and not checked.unproven
            # Where nearly everything is taken, little is left to be missed.
            assert whole.residual_gap < 0.1 or whole.gap < 1e-3

    def test_what_is_out_of_view_costs_nothing(self, small: meshes.ClusterMesh) -> None:
        placements = random_placements(np.random.default_rng(4), 100, 3.0)
        scene = meshes.Scene([(small, placements)])
        allocation = scene.allocate(over(30.0), np.inf)
        count = int(allocation.drawn.sum())
        assert 10 < count < 90
        least = count * small.root_triangle_count
        assert scene.allocate(over(30.0), least).cost == least
        with pytest.raises(BudgetTooSmall, match=str(least)):
            scene.allocate(over(30.0), least - 1)
        alone = meshes.Scene([(small, placements[allocation.drawn])]).allocate(over(30.0), 3 * least)
        assert np.array_equal(alone.whole.selected, scene.allocate(over(30.0), 3 * least).whole.selected)

    def test_equal_frames_are_equal(self, small: meshes.ClusterMesh) -> None:
        placements = random_placements(np.random.default_rng(5), 50, 3.0)
        for _ in range(2):
            path = []
            for _ in range(2):
                scene, last = meshes.Scene([(small, placements)]), None
                for x in (0.0, 0.5, 1.0):
                    last = scene.allocate(over(20.0, x), 12_000, previous=last)
                path.append(last)
            assert all(np.array_equal(a, b) for a, b in zip(path[0].cuts, path[1].cuts, strict=True))
            assert path[0].price == path[1].price

    def test_a_warm_frame_is_as_good_as_a_cold_one(self, small: meshes.ClusterMesh) -> None:
        scene = meshes.Scene([(small, random_placements(np.random.default_rng(6), 100, 3.0))])
        last = None
        for x in np.linspace(0, 4, 8):
            last = scene.allocate(over(30.0, x), 20_000, previous=last)
            cold = scene.allocate(over(30.0, x), 20_000)
            assert last.whole.residual <= 1.02 * cold.whole.residual
            assert 19_900 < last.cost <= 20_000


@pytest.mark.usefixtures("always_shared")
class TestHistory:
    """Instances come, go and move between frames; each is known by its key."""

    def test_who_stays_keeps_what_it_had(self, small: meshes.ClusterMesh) -> None:
        rng = np.random.default_rng(7)
        places, keys = random_placements(rng, 40, 3.0), rng.permutation(1000)[:40]
        camera, held = over(20.0), hra.Coherent(hysteresis=1e9)
        first = meshes.Scene([(small, places)], traversal=held, keys=keys).allocate(camera, 10_000)
        stays = rng.permutation(40)[:30]
        new = np.concatenate([stays, np.setdiff1d(np.arange(40), stays)[:5]])
        names = np.concatenate([keys[stays], np.arange(2000, 2005)])
        scene = meshes.Scene([(small, places[new])], traversal=held, keys=names)
        second = scene.allocate(camera, 10_000, previous=first)
        before = dict(zip(keys[first.drawn].tolist(), first.members, strict=True))
        none, changed = np.zeros(len(small.hierarchy), bool), 0
        for name, member in zip(names[second.drawn].tolist(), second.members, strict=True):
            had = before[name].selected if name in before else none
            assert member.problem.previous is not None and np.array_equal(member.problem.previous, had)
            assert (member.selected >= had).all()
            changed += np.count_nonzero(member.selected != had)
        assert second.churn == second.whole.churn == changed > 0

    def test_moving_instances(self, small: meshes.ClusterMesh) -> None:
        places, last = random_placements(np.random.default_rng(8), 30, 3.0), None
        for step in range(5):
            moved = places.copy()
            moved[:, 0, 3] += 0.02 * step
            last = meshes.Scene([(small, moved)], keys=range(30)).allocate(over(18.0), 8_000, previous=last)
            assert last.cost <= 8_000 and (last.churn is None) == (step == 0)
            assert last.churn is None or last.churn < 60

    def test_from_few_to_many_and_back(self, small: meshes.ClusterMesh, monkeypatch: pytest.MonkeyPatch) -> None:
        """Frames that were joined follow frames that were not, and the other way round."""
        scene, last = meshes.Scene([(small, random_placements(np.random.default_rng(9), 20, 3.0))]), None
        for many in (0, 10**9, 0):
            monkeypatch.setattr(scene_module, "_MANY", many)
            found = scene.allocate(over(12.0), 5_000, previous=last)
            if last is not None:
                changed = [
                    np.count_nonzero(a.selected != b.selected) for a, b in zip(found.members, last.members, strict=True)
                ]
                assert found.churn == sum(changed)
            last = found

    def test_bad_keys(self, small: meshes.ClusterMesh, bumpy_clusters: meshes.ClusterMesh) -> None:
        places = random_placements(np.random.default_rng(10), 3, 3.0)
        for keys in ([1, 2], [1, 2, 2], [1, 2, -1], [0.5, 1, 2], "abc"):
            with pytest.raises(HraError):
                meshes.Scene([(small, places)], keys=keys)
        assert meshes.Scene([(small, places)], keys=[1, 2**31, 2**32 + 1]).allocate(over(5.0), 5_000).drawn.size
        first = meshes.Scene([(small, places)], keys=[1, 2, 3]).allocate(over(5.0), 5_000)
        with pytest.raises(HierarchyError, match="another mesh"):
            meshes.Scene([(bumpy_clusters, places)], keys=[3, 2, 1]).allocate(over(5.0), 5_000, previous=first)
        with pytest.raises(HierarchyError, match="another scene"):
            meshes.Scene([(small, places[:2])]).allocate(over(5.0), 5_000, previous=first)
        with pytest.raises(HierarchyError, match="another scene"):
            meshes.Scene([(small, places)], keys=[1, 2, 4]).realize(first)

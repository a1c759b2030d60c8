"""Every cut of a closed mesh is closed: random sets of refinements, thresholds and budgets."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest

import hra
from hra.domains import meshes
from hra.domains.meshes.distances.surface import boundary_chain

HARD = ["one ball", "islands", "bow tie", "edge of four faces", "far away", "tiny", "flat two-sided"]


def is_crack_free(clusters: meshes.ClusterMesh, selected: np.ndarray) -> bool:
    cut = np.flatnonzero(clusters.hierarchy.active_nodes(selected))
    return len(boundary_chain(clusters.triangles(cut))[0]) == 0


@pytest.mark.case(10, 11, 15)
@pytest.mark.parametrize("name", HARD)
@pytest.mark.parametrize("group_size", [3, 8])
def test_random_cuts_of_closed_meshes_are_closed(
    hard_meshes: dict, name: str, group_size: int, down_closed: Callable, rng: np.random.Generator
) -> None:
    mesh = hard_meshes[name]
    assert meshes.is_closed(mesh)
    clusters = meshes.build(mesh, cluster_size=16, group_size=group_size)
    assert len(clusters.hierarchy) > 10
    for _ in range(30):
        assert is_crack_free(clusters, down_closed(clusters.hierarchy, rng))


def test_a_set_that_is_not_down_closed_cracks(bumpy_clusters: meshes.ClusterMesh) -> None:
    # The check must be able to fail: the last refinement alone removes clusters that are not there.
    hierarchy = bumpy_clusters.hierarchy
    cut = np.flatnonzero(hierarchy.added_by < 0)
    finest = np.flatnonzero(hierarchy.added_by == len(hierarchy) - 1)
    assert len(boundary_chain(bumpy_clusters.triangles(np.concatenate([cut, finest])))[0])


@pytest.mark.case(12)
def test_random_cuts_of_an_open_mesh_keep_their_inner_borders_closed(
    make_grid: Callable, down_closed: Callable, rng: np.random.Generator
) -> None:
    clusters = meshes.build(make_grid(24, height=0.1), cluster_size=32)
    outline = clusters.positions[:, :2]
    on_border = ((outline == 0) | (outline == 1)).any(axis=1)
    for _ in range(30):
        cut = np.flatnonzero(clusters.hierarchy.active_nodes(down_closed(clusters.hierarchy, rng)))
        edges, _ = boundary_chain(clusters.triangles(cut))
        assert on_border[edges].all()


@pytest.mark.parametrize("traversal", [hra.Threshold(), hra.Hull()], ids=["threshold", "hull"])
def test_skull_cuts_at_fifty_budgets_are_closed_and_within_budget(
    skull_clusters: meshes.ClusterMesh, traversal: hra.Traversal
) -> None:
    allocator = meshes.MeshAllocator(skull_clusters, traversal=traversal)
    camera = hra.Camera.orbit(skull_clusters.bounds, azimuth=30)
    for budget in np.geomspace(skull_clusters.root_triangle_count, skull_clusters.triangle_count, 50).round():
        allocation = allocator.allocate(camera, budget)
        assert is_crack_free(skull_clusters, allocation.selected)
        assert len(skull_clusters.triangles(allocation.cut)) == allocation.cost <= budget


def test_skull_cuts_at_fifty_thresholds_are_closed(skull_clusters: meshes.ClusterMesh) -> None:
    camera = hra.Camera.orbit(skull_clusters.bounds, azimuth=200, elevation=20)
    counts = []
    for tau in np.geomspace(0.01, 300, 50):
        allocator = meshes.MeshAllocator(skull_clusters, traversal=hra.Threshold(tau))
        allocation = allocator.allocate(camera, np.inf)
        assert is_crack_free(skull_clusters, allocation.selected)
        counts.append(allocation.cost)
    assert counts == sorted(counts, reverse=True)
    assert counts[0] > 10 * counts[-1]


def test_arrays_of_the_caller_stay_writable(bumpy_clusters: meshes.ClusterMesh) -> None:
    given = {name: getattr(bumpy_clusters, name).copy() for name in ("positions", "indices", "offsets")}
    made = replace(bumpy_clusters, **given)
    for name, array in given.items():
        held = getattr(made, name)
        assert array.flags.writeable and not held.flags.writeable and np.shares_memory(array, held)

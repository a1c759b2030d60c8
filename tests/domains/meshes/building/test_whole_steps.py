"""Near the root: small steps of the whole mesh."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest

import hra
from hra.domains import meshes
from hra.lab.inputs.mesh_sources import bumpy as displaced


@pytest.fixture(scope="module")
def built() -> meshes.ClusterMesh:
    return meshes.build(displaced(5))


def steps_of(clusters: meshes.ClusterMesh) -> list[np.ndarray]:
    """The clusters of each whole mesh, coarse to fine: groups of which each adds what the next one removes."""
    hierarchy = clusters.hierarchy
    (added_at, added), (removed_at, removed) = hierarchy.added_nodes, hierarchy.removed_nodes
    found, cut = [], np.flatnonzero(hierarchy.added_by < 0)
    for r in range(len(hierarchy)):
        if not np.array_equal(np.sort(removed[removed_at[r] : removed_at[r + 1]]), np.sort(cut)):
            break
        found.append(cut)
        cut = added[added_at[r] : added_at[r + 1]]
    return found


def test_every_budget_near_the_root_is_spent(built: meshes.ClusterMesh) -> None:
    allocator, camera = meshes.MeshAllocator(built), hra.Camera.orbit(built.bounds)
    whole = [int(built.triangles_per_cluster[cut].sum()) for cut in steps_of(built)]
    assert len(whole) > 15
    assert whole[0] == built.root_triangle_count <= 128
    assert whole[-1] > built.triangle_count / 40
    for fewer, more in pairwise(whole):
        assert 0.88 * more < fewer < more
    for budget in range(whole[0], whole[-1], 37):
        assert 0.88 * budget < allocator.allocate(camera, budget).cost <= budget


def test_meshes_are_closed_and_get_coarser(built: meshes.ClusterMesh) -> None:
    node, steps = built.hierarchy.node, steps_of(built)
    for cut in steps:
        assert meshes.is_closed(built.mesh(cut))
        assert len(np.unique(node["error"][cut])) == len(np.unique(node["hausdorff"][cut])) == 1
    for name in ("error", "hausdorff", "level", "radius"):
        values = np.array([node[name][cut[0]] for cut in steps])
        assert (np.diff(values) <= 0).all()


def test_levels_are_halves_and_none_is_left_out(built: meshes.ClusterMesh) -> None:
    level = built.hierarchy.attribute("level")
    assert np.array_equal(np.unique(level), np.arange(level.max() + 1))
    assert level.max() <= np.log2(built.triangle_count / built.root_triangle_count) + 2
    of_steps = np.array([level[cut[0]] for cut in steps_of(built)])
    _, counts = np.unique(of_steps, return_counts=True)
    assert counts.max() <= 10


def test_errors_go_on_as_those_of_the_levels_before(built: meshes.ClusterMesh) -> None:
    """Errors fall about as one over the triangles, without a jump where whole steps begin."""
    steps, node = steps_of(built), built.hierarchy.node
    top = node["level"] == node["level"][steps[-1]].min() - 1
    area, error = node["area"][top], node["error"][top].astype(np.float64)
    before = np.sqrt((area * error**2).sum() / area.sum()) * built.triangles_per_cluster[top].sum()
    products = [float(node["error"][cut[0]]) * built.triangles_per_cluster[cut].sum() for cut in steps]
    assert before / 2 < np.median(products) < before * 2


def test_small_meshes_are_simplified_in_groups_to_the_end(bumpy: meshes.TriangleMesh) -> None:
    small = meshes.build(meshes.build_discrete(bumpy, (1.0, 0.3)).levels[-1])
    assert len(steps_of(small)) <= 3

"""Gains of copies by groups: beside those by clusters, and left to these where groups have no distance of their own."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from hra.camera.view import views_of
from hra.domains import meshes
from hra.domains.meshes.scene.placed_errors import PlacedViews, links_of
from hra.model.hierarchy import Hierarchy
from hra.model.problem import Problem
from hra.pooling.copies import gains_each
from tests.domains.meshes.scene.test_scene_culling import shaped
from tests.helpers.cameras import random_camera


def changed(hierarchy: Hierarchy, error: np.ndarray) -> Hierarchy:
    node = {**hierarchy.node, "error": error.astype(np.float32)}
    links = hierarchy.added_by, hierarchy.removed_by
    return Hierarchy.groups(hierarchy.node_cost, *links, attributes=node, cost_unit=hierarchy.cost_unit)


def test_weights_pass_by_groups_as_by_clusters(bumpy_clusters: meshes.ClusterMesh) -> None:
    hierarchy = bumpy_clusters.hierarchy
    square = np.square(hierarchy.attribute("error").astype(np.float64))
    links = links_of(hierarchy, square)
    assert links is not None and (links.drop >= 0).all() and (links.source_drop >= 0).all()
    # What a finer group stands for is shared out among those that add its clusters, and nothing is lost.
    total = np.bincount(links.finer, links.part, len(hierarchy))
    has_coarser = np.unique(hierarchy.removed_by[(hierarchy.added_by >= 0) & (hierarchy.removed_by >= 0)])
    bases = np.bincount(hierarchy.removed_by[hierarchy.added_by < 0], minlength=len(hierarchy))
    np.testing.assert_allclose(total[has_coarser][bases[has_coarser] == 0], 1.0)
    assert len(links.finer) < len(hierarchy.node_cost)


@pytest.mark.parametrize("what", ["source errors", "uneven", "not monotone"])
@pytest.mark.filterwarnings("ignore::hra.errors.RepairWarning")
def test_errors_of_any_kind(bumpy_clusters: meshes.ClusterMesh, what: str) -> None:
    """Where groups do not decide, clusters do."""
    rng, hierarchy = np.random.default_rng(3), bumpy_clusters.hierarchy
    error = hierarchy.attribute("error").astype(np.float64).copy()
    several = np.bincount(hierarchy.removed_by[hierarchy.removed_by >= 0]) > 1
    inner = np.flatnonzero((hierarchy.removed_by >= 0) & several[hierarchy.removed_by])
    if what == "source errors":
        error += 0.3 * error[error > 0].min()
    elif what == "uneven":
        error[inner[0]] *= 2.0
    else:
        error[hierarchy.removed_by == hierarchy.removed_by.max()] = 2.0 * error.max()
    mesh = replace(bumpy_clusters, hierarchy=changed(hierarchy, error))
    by_groups = links_of(mesh.hierarchy, np.square(mesh.hierarchy.attribute("error").astype(np.float64)))
    assert (by_groups is not None) == (what == "source errors")
    seen = PlacedViews(views_of(random_camera(rng)), shaped(rng, 5))
    metric, gain, least = meshes.ScreenError("certified"), np.empty((len(hierarchy), 5)), np.empty(5)
    gains_each(mesh.hierarchy, metric, seen, gain, least)
    for i, context in enumerate(seen):
        alone = Problem.of(mesh.hierarchy, metric, context, np.inf)
        np.testing.assert_allclose(gain[:, i], alone.gain, rtol=1e-6, atol=1e-9 * alone.base_error)
        np.testing.assert_allclose(least[i], alone.least_error, rtol=1e-6)

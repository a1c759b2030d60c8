from __future__ import annotations

import numpy as np
import pytest

import hra
from hra.domains import meshes
from hra.pages.explore.meshes import mesh_view
from tests.helpers.explorers import cuts, unpacked


def test_every_step_is_what_python_allocates_for_the_mesh(ball, camera, of_mesh):
    track, offsets = of_mesh["tracks"][0], unpacked(of_mesh["offsets"]).astype(int)
    sizes = np.diff(offsets) // 3
    for budget, cost, nodes in zip(unpacked(track["budgets"]), unpacked(track["cost"]), cuts(track), strict=True):
        allocation = meshes.MeshAllocator(ball).allocate(camera, budget)
        assert sum(sizes[node] for node in nodes) == cost == allocation.cost
        assert len(nodes) == allocation.cut.size


def test_the_page_s_triangles_are_those_of_the_cut_on_a_fine_grid(ball, camera, of_mesh):
    positions, corners = unpacked(of_mesh["positions"]).reshape(-1, 3), unpacked(of_mesh["corners"])
    low, high = ball.bounds
    drawn = low + (high - low) * positions / 65535.0
    offsets, nodes = unpacked(of_mesh["offsets"]), cuts(of_mesh["tracks"][0])[-1]
    used = np.concatenate([corners[offsets[node] : offsets[node + 1]] for node in sorted(nodes)])
    whole = ball.mesh(meshes.MeshAllocator(ball).allocate(camera, np.inf).cut)
    area = np.linalg.norm(np.cross(*(drawn[used[i::3]] - drawn[used[2::3]] for i in (0, 1))), axis=1).sum() / 2
    corner = whole.positions[whole.triangles]
    expected = np.linalg.norm(np.cross(corner[:, 1] - corner[:, 0], corner[:, 2] - corner[:, 0]), axis=1).sum() / 2
    assert area == pytest.approx(expected, rel=1e-3)


def test_a_mesh_whose_root_no_page_holds_is_refused(ball, camera, monkeypatch):
    monkeypatch.setattr("hra.pages.explore.meshes.MOST_TRIANGLES", 3)
    with pytest.raises(hra.errors.BudgetTooSmall, match="a page holds 3"):
        mesh_view(ball, camera, 10)

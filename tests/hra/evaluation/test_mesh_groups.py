"""The comparison of group sizes on a small mesh."""

from __future__ import annotations

import numpy as np

import hra.samples
from hra.domains import meshes
from hra.evaluation.mesh_groups import compare_group_sizes


def test_larger_groups_take_larger_steps() -> None:
    small, large = compare_group_sizes(meshes.load(hra.samples.path("skull.ply")), sizes=(4, 16), shares=(0.1, 0.5))
    assert (small.group_size, large.group_size) == (4, 16)
    assert small.step < large.step
    assert small.groups > large.groups
    for row in (small, large):
        assert row.root_triangles <= 128
        assert np.all(np.diff(row.error_px) < 0)
        assert row.cpu_s > 0
        assert 0 <= row.gap < 0.1

from __future__ import annotations

import numpy as np
import pytest

from hra.domains.meshes.building.borders import Borders
from hra.domains.meshes.building.geometry import Geometry
from hra.domains.meshes.building.level import Groups, simplify_groups
from hra.domains.meshes.building.part import Kept
from hra.domains.meshes.building.settings import Countdown, Workers
from hra.domains.meshes.building.simplify import CoarseStep, simplify_group
from hra.domains.meshes.building.source_clusters import source_clusters
from hra.domains.meshes.distances.surface import boundary_chain
from tests.helpers.borders_cases import patched_ball


def ends_of(triangles: np.ndarray) -> set[int]:
    return set(boundary_chain(triangles.reshape(-1, 3))[0].ravel().tolist())


@pytest.mark.parametrize("patches", [2, 20])
def test_a_group_that_leaves_the_border_is_simplified_again(patches: int) -> None:
    mesh = patched_ball(patches)
    positions, triangles = mesh.positions, mesh.triangles
    geometry, shared = Geometry.of(positions), np.zeros(len(positions), np.uint8)
    # As if the repeated edges had only come up during simplification.
    borders = Borders(Borders.of(geometry, triangles).ends, np.zeros(len(positions), bool))
    with Workers(1) as workers:
        table = source_clusters(geometry, triangles, 64, workers)
        groups = Groups(table, np.array([0, len(table)]))
        free = simplify_group(groups.indices(0), geometry, shared, 10**6, CoarseStep(64))
        assert free is not None
        assert not ends_of(free.indices) <= ends_of(triangles)
        (result,) = simplify_groups(
            groups, geometry, Kept.of(shared, borders), CoarseStep(64), workers, Countdown(1, None)
        )
    assert result is not None
    assert ends_of(result.indices) <= ends_of(triangles)

from __future__ import annotations

import numpy as np

from hra.domains.meshes.distances.mapping.memory import group_memory
from hra.domains.meshes.distances.mapping.surfaces import link_sides, number_edges


def test_four_triangles_at_an_edge_are_told_from_two() -> None:
    """Only where two are beside an edge do they speak for all that is mapped across it."""
    fine = np.array([[0, 1, 2], [0, 2, 3], [0, 2, 4], [2, 0, 4]])
    memory = group_memory(fine.size, 6)
    memory.fine[:], memory.coarse[:] = fine.ravel(), [0, 1, 2, 0, 2, 3]
    assert link_sides(memory.coarse, 6, memory.keys, memory.values, memory.behind, np.full(5, -1))
    count = number_edges(fine.size, 6, memory)
    beside = {tuple(sorted(ends[:2])): tuple(ends[2:]) for ends in memory.ends[:count].tolist()}
    assert beside == {
        (0, 1): (0, 0),
        (1, 2): (1, 1),
        (0, 2): (2, -1),
        (2, 3): (4, 4),
        (0, 3): (5, 5),
        (2, 4): (7, 11),
        (0, 4): (8, 10),
    }

from __future__ import annotations

from dataclasses import fields
from itertools import pairwise

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from hra.domains.meshes.mesh.cluster_table import ClusterTable, concatenate
from hra.domains.meshes.mesh.ragged import run_offsets


def table(rng: np.random.Generator, count: int) -> ClusterTable:
    sizes = 3 * rng.integers(1, 4, count)
    shapes = {"center": (3,), "box": (2, 3), "deviation": (2,)}
    columns = {f.name: rng.random((count, *shapes.get(f.name, ()))) for f in fields(ClusterTable)}
    indices = rng.integers(0, 99, sizes.sum()).astype(np.uint32)
    return ClusterTable(**{**columns, "indices": indices, "offsets": run_offsets(sizes)})


def clusters(made: ClusterTable) -> list:
    return [
        (made.indices[a:b].tolist(), made.box[i].tolist(), float(made.error[i]))
        for i, (a, b) in enumerate(pairwise(made.offsets))
    ]


@given(st.integers(1, 6), st.integers(1, 6), st.integers(0, 10**6))
def test_tables_are_joined_and_taken_from_cluster_by_cluster(first: int, second: int, seed: int):
    rng = np.random.default_rng(seed)
    one, two = table(rng, first), table(rng, second)
    joined = concatenate([one, two])
    assert clusters(joined) == clusters(one) + clusters(two)
    rows = rng.permutation(len(joined))[: max(1, len(joined) // 2)]
    assert clusters(joined.take(rows)) == [clusters(joined)[row] for row in rows]
    assert joined.renumber(np.arange(len(joined))).made_by.tolist() == list(range(len(joined)))

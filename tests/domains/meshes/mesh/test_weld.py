"""The small array parts against plain references: welding, ragged runs, local vertices, areas, boundary chains."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from hra.domains.meshes.mesh.ragged import distinct_vertices, local_vertices, run_offsets, take_runs
from hra.domains.meshes.mesh.weld import weld, without_degenerate


def test_weld_agrees_with_numpy_unique(rng: np.random.Generator) -> None:
    positions = rng.integers(-1, 2, (300, 3)).astype(np.float32)
    positions[rng.random((300, 3)) < 0.1] = -0.0
    faces = rng.integers(0, 300, (200, 3))
    welded, corners = weld(positions, faces)
    assert len(welded) == len(np.unique(positions + 0.0, axis=0))
    assert np.array_equal(welded[corners], positions[faces])
    assert not np.signbit(welded[welded == 0]).any()
    again, same = weld(welded, corners)
    assert np.array_equal(again, welded)
    assert np.array_equal(same, corners)


def test_weld_numbers_vertices_by_first_occurrence() -> None:
    positions = np.array([[2, 0, 0], [1, 0, 0], [2, 0, 0], [0, 0, 0]], np.float32)
    welded, corners = weld(positions, np.array([[0, 1, 2], [2, 3, 1]]))
    assert np.array_equal(welded, positions[[0, 1, 3]])
    assert corners.tolist() == [[0, 1, 0], [0, 2, 1]]
    assert without_degenerate(corners).tolist() == [[0, 2, 1]]


@given(
    st.lists(st.integers(0, 5), min_size=1, max_size=20),
    st.sampled_from([np.int64, np.uint32]),
    st.randoms(use_true_random=False),
)
def test_take_runs_agrees_with_slicing(sizes: list[int], kind: type, random) -> None:
    offsets = run_offsets(np.array(sizes))
    values = np.arange(offsets[-1], dtype=kind)
    rows = np.array([random.randrange(len(sizes)) for _ in range(7)])
    taken, taken_offsets = take_runs(values, offsets, rows)
    assert taken.dtype == kind
    assert taken.tolist() == [v for r in rows for v in values[offsets[r] : offsets[r + 1]].tolist()]
    assert np.diff(taken_offsets).tolist() == [sizes[r] for r in rows]


@given(arrays(np.uint32, st.integers(1, 80), elements=st.integers(0, 2**32 - 1) | st.integers(0, 9)))
def test_local_vertices_are_distinct_and_lead_back(indices: np.ndarray) -> None:
    vertices, local = local_vertices(indices)
    assert np.array_equal(vertices[local], indices)
    assert vertices.tolist() == list(dict.fromkeys(indices.tolist()))


@given(st.lists(st.lists(st.integers(0, 9), max_size=12), min_size=1, max_size=8))
def test_distinct_vertices_are_those_of_each_cluster(clusters: list[list[int]]) -> None:
    indices = np.array([v for cluster in clusters for v in cluster], np.uint32)
    vertices, begins = distinct_vertices(indices, run_offsets(np.array([len(cluster) for cluster in clusters])), 10)
    found = [run.tolist() for run in np.split(vertices, begins[1:-1])]
    assert found == [list(dict.fromkeys(cluster)) for cluster in clusters]

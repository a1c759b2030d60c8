"""Threshold cuts against a loop over nodes, compaction against a list; all backends alike."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from hra import Hierarchy
from hra.errors import ArrayError, BackendUnavailable
from hra.kernels.compaction import compact, threshold_cut
from hra.kernels.trees import build_tree, reduce_up

BACKENDS = ("reference", "numba", "warp")
seeds = st.integers(0, 2**32 - 1)


@pytest.mark.parametrize("backend", BACKENDS)
@given(seed=seeds, dtype=st.sampled_from([np.float32, np.float64]))
def test_a_node_is_drawn_if_it_is_good_enough_and_its_parent_is_not(backend, seed, dtype):
    rng = np.random.default_rng(seed)
    count, members = int(rng.integers(0, 40)), int(rng.integers(1, 4))
    parent = np.array([rng.integers(-1, v) if v else -1 for v in range(count)], np.int32)
    error = rng.integers(0, 5, (members, count)).astype(dtype)
    tolerance = rng.integers(0, 5, members).astype(dtype)
    found = threshold_cut(parent, error, tolerance, backend=backend)
    assert found.shape == error.shape and found.dtype == np.bool_
    for row, limit, drawn in zip(error, tolerance, found, strict=True):
        above = [np.inf if p < 0 else row[p] for p in parent]
        assert drawn.tolist() == [bool(own <= limit < up) for own, up in zip(row, above, strict=True)]


@given(seed=seeds)
def test_monotone_errors_draw_every_point_once(seed):
    rng = np.random.default_rng(seed)
    built = build_tree(rng.random((int(rng.integers(1, 60)), 3)))
    parent = built.tree.parent
    heights = rng.random((len(built.order), 1))
    low, high = (reduce_up(built.tree, heights, name)[:, 0] for name in ("min", "max"))
    error = high - low  # 0 at single points, and never falls from child to parent
    drawn = compact(threshold_cut(parent, error[None], np.array([0.3 * error.max()]))[0])
    covered = np.concatenate([built.order[built.begin[v] : built.end[v]] for v in drawn])
    assert sorted(covered.tolist()) == list(range(len(built.order)))
    hierarchy = Hierarchy.tree(parent, np.ones(parent.size))
    refined = error > 0.3 * error.max()
    taken = np.array(
        [refined[v] for r in range(len(hierarchy)) for v in np.flatnonzero(hierarchy.removed_by == r)], bool
    )
    assert np.flatnonzero(hierarchy.active_nodes(taken)).tolist() == drawn.tolist()


@pytest.mark.parametrize("backend", BACKENDS)
@given(flags=hnp.arrays(np.bool_, st.integers(0, 100)))
def test_compaction_lists_the_true_flags_in_order(backend, flags):
    found = compact(flags, backend=backend)
    assert found.dtype == np.int32 and found.tolist() == [i for i, flag in enumerate(flags) if flag]


@pytest.mark.parametrize("backend", BACKENDS)
def test_flags_and_errors_with_gaps(backend):
    rng = np.random.default_rng(0)
    flags, error = rng.random(90) < 0.5, rng.random((2, 90))
    parent, limit = np.arange(-1, 29, dtype=np.int32), np.array([0.3, 0.6])
    np.testing.assert_array_equal(compact(flags[::3], backend=backend), np.flatnonzero(flags[::3]))
    expected = threshold_cut(parent, error[:, ::3].copy(), limit, backend="reference")
    np.testing.assert_array_equal(threshold_cut(parent, error[:, ::3], limit, backend=backend), expected)


def test_wrong_arguments_are_named():
    parent, error, limit = np.array([-1, 0], np.int32), np.zeros((1, 2)), np.zeros(1)
    for arguments, match in (
        ((parent.astype(np.int64), error, limit), "parent"),
        ((parent[:1], error, limit), "parent"),
        ((np.array([-1, 2], np.int32), error, limit), "parent"),
        ((np.array([-2, 0], np.int32), error, limit), "parent"),
        ((parent, error[0], limit), "error"),
        ((parent, error.astype(np.int64), limit), "error"),
        ((parent, error, np.zeros(2)), "tolerance"),
        ((parent, error, np.zeros(1, np.float32)), "tolerance"),
    ):
        with pytest.raises(ArrayError, match=match):
            threshold_cut(*arguments)
    for flags in (np.zeros((2, 2), np.bool_), np.zeros(2, np.uint8)):
        with pytest.raises(ArrayError, match="flags"):
            compact(flags)
    with pytest.raises(BackendUnavailable, match="backend 'cl' is unknown"):
        compact(np.zeros(2, np.bool_), backend="cl")

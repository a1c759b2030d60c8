"""PruneVid over frames: small cases by hand, exact counts, every cell in one token at most."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hra.domains import tokens
from hra.domains.tokens.methods.reducers.prunevid_frames import _whole_runs
from hra.errors import ArrayError


@pytest.mark.parametrize(
    ("labels", "whole"),
    [
        ([0, 0, 0, 1, 0, 1, 1, 2], [0, 0, 0, 0, 0, 1, 1, 1]),  # the fourth and fifth join the longer run on the left
        ([1, 0, 0, 2, 2, 2], [0, 0, 0, 2, 2, 2]),
        ([0, 0, 1, 2, 2, 2], [0, 0, 2, 2, 2, 2]),
        ([0, 0, 1, 0, 0], [0, 0, 0, 0, 0]),  # both runs are the longest of their cluster
        ([0, 1, 2], [0, 0, 0]),
    ],
)
def test_segments_are_whole_runs(labels, whole):
    assert _whole_runs(np.array(labels)).tolist() == whole


def test_still_and_moving_cells_by_hand():
    # Two frames of three cells: the first stays, the second turns round, the third turns by 60 degrees (cosine 0.5).
    third = [[1, 0], [0.5, 0.75**0.5]]
    features = np.array([[[[3.0, 4.0], [1, 0], third[0]]], [[[6.0, 8.0], [-1, 0], third[1]]]])
    made = tokens.prunevid_frames(features, budget=5)
    assert made.segments.tolist() == [0, 0]
    assert made.places.tolist() == [[0, 0, 0], [0, 0, 1], [0, 0, 2], [1, 0, 1], [1, 0, 2]]
    assert made.merges.token.tolist() == [0, 0, 1, 2, 3, 4] and made.merges.cell.tolist() == [0, 3, 1, 2, 4, 5]
    assert made.merges.weight.tolist() == [0.5, 0.5, 1, 1, 1, 1]
    # A lower bar makes the third still, too: four tokens hold everything.
    assert tokens.prunevid_frames(features, budget=9, similarity=0.4).places[:, 1:].tolist() == [
        [0, 0], [0, 2], [0, 1], [0, 1],
    ]  # fmt: skip


def test_scenes_are_told_apart():
    scenes = np.repeat(np.eye(2), 4, axis=0)[:, None, None] + 0.01 * np.random.default_rng(0).normal(size=(8, 2, 2, 2))
    made = tokens.prunevid_frames(scenes, budget=8)
    assert made.segments.tolist() == [0, 0, 0, 0, 1, 1, 1, 1]
    assert sorted(made.places[:, 0].tolist()) == [0, 0, 0, 0, 4, 4, 4, 4]


@given(st.integers(1, 9), st.integers(1, 4), st.integers(1, 4), st.integers(1, 160), st.integers(0, 2**31))
@settings(max_examples=40)
def test_counts_are_exact_and_tokens_are_means(frames, rows, columns, budget, seed):
    rng = np.random.default_rng(seed)
    features = rng.normal(size=(frames, rows, columns, 6))
    features[1:, : rows // 2] = features[:1, : rows // 2]  # the upper half stays
    made = tokens.prunevid_frames(features, budget)
    most = len(tokens.prunevid_frames(features, 10**6).places)
    assert len(made.places) == min(budget, most) and most <= frames * rows * columns
    np.testing.assert_allclose(np.bincount(made.merges.token, made.merges.weight), 1)
    assert len(np.unique(made.merges.cell)) == len(made.merges.cell)
    # The place of a token is one of its own cells.
    frame, row, column = made.places.T
    middles = (frame * rows + row) * columns + column
    assert all(middle in made.merges.cell[made.merges.token == k] for k, middle in enumerate(middles))


@pytest.mark.parametrize(("features", "budget"), [(np.ones((2, 2, 3)), 1), (np.ones((1, 2, 2, 3)), 0),
                                                  (np.full((1, 1, 1, 2), np.nan), 1)])  # fmt: skip
def test_what_is_no_video_is_refused(features, budget):
    with pytest.raises(ArrayError, match=r"budget|features"):
        tokens.prunevid_frames(features, budget)

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hra.domains import tokens
from hra.domains.tokens.methods.reducers.merges import Clustered, Dropped, Nearest


def context_of(seed: int) -> tuple[tokens.TokenContext, np.ndarray]:
    features = np.random.default_rng(seed).normal(size=(4, 5, 6)).astype(np.float32)
    return tokens.TokenContext.of_features(features), features.reshape(20, 6)


@given(st.integers(0, 10**6), st.integers(1, 20), st.sampled_from(["cosine", "distance"]))
def test_every_cell_is_in_the_token_that_is_nearest(seed: int, count: int, by: str):
    context, vectors = context_of(seed)
    cut = np.sort(np.random.default_rng(seed).permutation(20)[:count])
    found = (Nearest() if by == "cosine" else Clustered()).merge(context, cut)
    table = np.zeros((count, 20))
    np.add.at(table, (found.token, found.cell), found.weight)
    np.testing.assert_allclose(table.sum(axis=1), 1)
    unit = vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
    apart = -unit @ unit[cut].T if by == "cosine" else np.linalg.norm(vectors[:, None] - vectors[cut], axis=2)
    for cell in range(20):
        (owner,) = np.flatnonzero(table[:, cell])
        expected = cut.tolist().index(cell) if cell in cut else apart[cell].argmin()
        assert owner == expected or apart[cell][owner] == pytest.approx(apart[cell][expected], rel=1e-5)


def test_what_is_dropped_is_in_no_token():
    context, _ = context_of(0)
    found = Dropped().merge(context, np.array([3, 7]))
    assert (found.token.tolist(), found.cell.tolist(), found.weight.tolist()) == ([0, 1], [3, 7], [1.0, 1.0])

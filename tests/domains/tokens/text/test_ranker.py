from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hra.domains.tokens.text.candidates import FEATURES
from hra.domains.tokens.text.ranker import PAGE_FEATURES, Network, Ranker, page_features, ranker


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 12), st.integers(1, 3), st.integers(0, 2**31))
def test_probabilities_are_the_mean_of_softmaxes_with_elsewhere(count, several, seed):
    random = np.random.default_rng(seed)
    rows, size = random.normal(size=(count, len(FEATURES))), len(FEATURES)
    networks = tuple(
        Network(((random.normal(size=(1, size)), np.zeros(1)),), random.normal(size=PAGE_FEATURES + 1))
        for _ in range(several)
    )
    shares = Ranker(np.zeros(size), np.ones(size), networks).probabilities(rows)
    assert shares.shape == (count,) and shares.sum() <= 1 + 1e-12 and (shares >= 0).all()
    if count:
        fits, free = (rows[:, FEATURES.index(name)] for name in ("kind fits", "kind open"))
        expected = np.zeros(count)
        for one in networks:
            scores = rows @ one.layers[0][0][0] - 1.0 * ((fits == 0) & (free == 0))
            none = one.elsewhere[:-1] @ page_features(rows) + one.elsewhere[-1]
            expected += [1 / sum(np.exp(other - score) for other in (*scores, none)) for score in scores]
        assert shares == pytest.approx(expected / several)


def test_the_shipped_ranker_is_small_and_of_these_features():
    from importlib.resources import files

    assert len(files("hra.domains.tokens.text").joinpath("ranker.json").read_bytes()) <= 300_000
    assert len(ranker().mean) == len(FEATURES)
    assert all(network.layers[0][0].shape[1] == len(FEATURES) for network in ranker().networks)

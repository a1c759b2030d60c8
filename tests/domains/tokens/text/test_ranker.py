from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hra.domains.tokens.text.candidates import FEATURES
from hra.domains.tokens.text.ranker import PAGE_FEATURES, Ranker, page_features, ranker


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 12), st.integers(0, 2**31), st.floats(0.1, 5))
def test_probabilities_are_a_softmax_with_elsewhere(count, seed, sharpness):
    random = np.random.default_rng(seed)
    rows, size = random.normal(size=(count, len(FEATURES))), len(FEATURES)
    net = Ranker(
        np.zeros(size),
        np.ones(size),
        ((random.normal(size=(1, size)), np.zeros(1)),),
        random.normal(size=PAGE_FEATURES + 1),
        sharpness,
    )
    shares = net.probabilities(rows)
    assert shares.shape == (count,) and shares.sum() <= 1 + 1e-12 and (shares >= 0).all()
    if count:
        scores = rows @ net.layers[0][0][0]
        none = net.elsewhere[:-1] @ page_features(rows) + net.elsewhere[-1]
        fits, free = (rows[:, FEATURES.index(name)] for name in ("kind fits", "kind open"))
        scores = scores - 1.0 * ((fits == 0) & (free == 0))
        expected = [1 / (sum(np.exp(sharpness * (other - one)) for other in (*scores, none))) for one in scores]
        assert shares == pytest.approx(expected)


def test_the_shipped_ranker_is_small_and_of_these_features():
    from importlib.resources import files

    assert len(files("hra.domains.tokens.text").joinpath("ranker.json").read_bytes()) <= 300_000
    assert ranker().layers[0][0].shape[1] == len(FEATURES) == len(ranker().mean)

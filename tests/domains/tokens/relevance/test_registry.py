from __future__ import annotations

import numpy as np
import pytest

from hra.domains import tokens
from hra.errors import HraError

CONTEXT = tokens.TokenContext.of(np.random.default_rng(0).random((64, 96, 3), dtype=np.float32), "what is on the left?")


@pytest.mark.parametrize("name", ["cues", "layout", "uniform"])
def test_a_relevance_by_name_scores_every_patch(name: str):
    scores = np.asarray(tokens.relevance_named(name)(CONTEXT))
    assert scores.shape == CONTEXT.grid
    assert np.isfinite(scores).all()


def test_an_unknown_name_lists_the_known_ones():
    with pytest.raises(HraError, match="'nothing'") as caught:
        tokens.relevance_named("nothing")
    assert all(name in caught.value.fix for name in (*tokens.RELEVANCES, "model:NAME"))

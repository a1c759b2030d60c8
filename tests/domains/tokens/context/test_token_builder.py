from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from hra.domains import tokens
from hra.domains.tokens.context.token_builder import Choice, best_of

CONTEXT = tokens.TokenContext.of(np.random.default_rng(0).random((64, 64, 3), dtype=np.float32))


@given(st.integers(1, 15), st.integers(0, 10**6))
def test_the_best_are_those_that_a_sort_finds(budget: int, seed: int):
    score = np.random.default_rng(seed).permutation(16).astype(float)
    choice = best_of(CONTEXT, score, budget, certified=True)
    assert choice is not None
    assert set(choice.cut.tolist()) == set(np.argsort(-score)[:budget].tolist())


def test_a_choice_holds_what_its_allocation_does():
    allocation = tokens.PyramidSampling().allocate(CONTEXT, 10)
    choice = Choice.of(allocation)
    assert choice.allocation is allocation
    np.testing.assert_array_equal(choice.cut, allocation.cut)

"""The token bank: one count of tokens over a batch of images of different difficulty."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest

import hra
from hra.domains import tokens
from hra.domains.tokens.context.context import TokenContext
from hra.errors import BudgetTooSmall
from hra.pooling.pool import PooledAllocation, pool

# Each image repeats white noise in a growing part of its area, the rest is grey: easy to hard.
NOISY = (0.05, 0.2, 0.5, 1.0)


@pytest.fixture(scope="module")
def allocator() -> tokens.PyramidSampling:
    return tokens.PyramidSampling(tokens.UniformRelevance(), patch=8)


@pytest.fixture(scope="module")
def contexts(allocator) -> list[TokenContext]:
    rng, images = np.random.default_rng(0), []
    for share in NOISY:
        image = np.full((128, 128, 3), 0.5, np.float32)
        rows = int(128 * share)
        image[:rows] = rng.random((rows, 128, 3)) * np.linspace(0.5, 1, 128)[:, None]
        images.append(allocator.context(image, ""))
    return images


def bank(allocator, contexts, budget: int, limits=None) -> PooledAllocation:
    members = [allocator] * len(contexts)
    return pool(*members, traversal=hra.Hull(spend_all=True), limits=limits).allocate(contexts, budget)


@pytest.mark.parametrize("budget", [4, 5, 137, 400, 1000, 1024])
@pytest.mark.parametrize("limits", [None, [(20, 150)] * 4, [(None, None), (1, 2), (40, None), (None, 200)]])
def test_the_whole_count_is_exact(allocator, contexts, budget, limits):
    lows, highs = ([p[k] for p in limits] if limits else [None] * 4 for k in (0, 1))
    least = sum(max(low or 1, 1) for low in lows)
    if budget < least:
        with pytest.raises(BudgetTooSmall, match=f"{least} tokens"):
            bank(allocator, contexts, budget, limits)
        return
    result = bank(allocator, contexts, budget, limits)
    counts = [len(allocator.realize(member)) for member in result.members]
    assert sum(counts) == min(budget, sum(256 if high is None else high for high in highs))
    for count, low, high in zip(counts, lows, highs, strict=True):
        assert count >= (low or 0)
        assert count <= (high or np.inf)


def test_hard_images_take_more_tokens(allocator, contexts):
    for limits in (None, [(20, 150)] * 4):
        counts = [member.cost for member in bank(allocator, contexts, 300, limits).members]
        assert all(easier < harder for easier, harder in pairwise(counts)) or limits
        assert counts == sorted(counts) and counts[0] < counts[-1]


def test_a_bank_leaves_less_error_than_equal_shares(allocator, contexts):
    whole = bank(allocator, contexts, 300).whole
    equal = sum(allocator.allocate(context, 75).residual for context in contexts)
    limited = bank(allocator, contexts, 300, [(70, 80)] * 4).whole
    assert whole.residual < limited.residual < equal
    assert whole.gap < 0.01 and limited.gap < 0.01


def test_the_order_of_the_members_does_not_matter(allocator, contexts):
    limits = [(10 * i, 50 + 50 * i) for i in range(4)]
    forth = bank(allocator, contexts, 300, limits)
    back = bank(allocator, contexts[::-1], 300, limits[::-1])
    assert [member.cost for member in back.members] == [member.cost for member in forth.members][::-1]
    assert back.whole.upper_bound == pytest.approx(forth.whole.upper_bound)


def test_a_conversation_keeps_its_tokens(allocator, contexts):
    coherent = pool(*[allocator] * 4, traversal=hra.Coherent(hra.Hull(spend_all=True), hysteresis=0.5))
    first = coherent.allocate(contexts, 300)
    again = coherent.allocate(contexts, 300, previous=first)
    fewer = coherent.allocate(contexts, 280, previous=first)
    assert again.whole.churn == 0
    assert 0 < (fewer.whole.churn or 0) < 60
    single = allocator.allocate(contexts[1], 60)
    assert allocator.allocate(contexts[1], 60, previous=single).churn == 0

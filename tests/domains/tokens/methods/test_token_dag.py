"""The token DAG: its order, exact counts, and what its groups promise."""

from __future__ import annotations

import itertools
import warnings

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hra.domains import tokens
from hra.domains.tokens.methods.token_dag import TokenDAG, TokenDAGBuilder
from hra.errors import BudgetTooSmall, ImageError, MetricError
from tests.helpers.noise import noise


def expected_order(pyramid: tokens.PatchPyramid) -> set[tuple[int, int]]:
    """(node that must be there, node that may be refined then): all pairs of a group, by comparing positions."""
    groups: dict[tuple[int, int, int], list[int]] = {}
    for number, (level, x, y) in enumerate(pyramid.positions.tolist()):
        if level:
            groups.setdefault((level, (x + 1) // 2, (y + 1) // 2), []).append(number)
    return {pair for members in groups.values() for pair in itertools.product(members, members)}


@given(st.integers(1, 90), st.integers(1, 90))
def test_a_token_is_refined_after_its_whole_group_is_there(height, width):
    context = TokenDAG(patch=8).context(noise(height, width), "")
    hierarchy = TokenDAGBuilder().build(context)
    parent, added = context.pyramid.parents, hierarchy.added_by
    steps = [set() for _ in range(parent.size)]
    for node in np.flatnonzero(parent >= 0):
        steps[parent[node]].add(int(added[node]))
    edges = {tuple(edge) for edge in hierarchy.edges.tolist()}
    first = [min(own) if own else -1 for own in steps]
    expected = {(int(added[a]), first[b]) for a, b in expected_order(context.pyramid) if added[a] >= 0}
    chains = {(before, after) for before, after in edges if any({before, after} <= own for own in steps)}
    assert edges - chains == expected
    assert len(chains) == sum(max(len(own) - 1, 0) for own in steps)


def test_groups_make_it_a_graph(smooth_noise):
    context = TokenDAG().context(smooth_noise(256, 256), "")
    hierarchy = TokenDAGBuilder().build(context)
    assert hierarchy.parent is None
    assert hierarchy.total_cost == 256 and hierarchy.base_cost == 1


@pytest.mark.parametrize("size", [(1, 1), (37, 500), (1, 700), (333, 257), (512, 384), (1024, 1024)])
def test_exactly_the_budget_or_the_whole_image(smooth_noise, size):
    allocator = TokenDAG()
    context = allocator.context(smooth_noise(*size), "what is on the left?")
    for budget in (1, 16, 64, 137, 150, 273, 529):
        allocation = allocator.allocate(context, budget)
        assert allocation.cost == min(budget, context.pyramid.offsets[1])
        assert len(allocator.realize(allocation)) == allocation.cost


@given(st.integers(1, 150), st.integers(1, 150), st.integers(1, 60), st.integers(0, 5))
def test_every_pixel_is_shown_and_detail_changes_gradually(height, width, budget, seed):
    allocator = TokenDAG(patch=8)
    context = allocator.context(noise(height, width, seed), "top")
    allocation = allocator.allocate(context, budget)
    token_set = allocator.realize(allocation)
    assert len(token_set) == min(budget, context.pyramid.offsets[1])
    assert token_set.token_map().min() >= 0
    hierarchy = allocation.hierarchy
    there = (hierarchy.added_by < 0) | np.append(allocation.selected, False)[hierarchy.added_by]
    parent = context.pyramid.parents
    refined = np.zeros(parent.size, bool)
    refined[parent[there & (parent >= 0)]] = True
    for before, after in expected_order(context.pyramid):
        assert there[before] or not refined[after]


def test_gradual_detail_costs_error_and_both_stay_within_their_bound(smooth_noise):
    image = smooth_noise(256, 320)
    dag, tree = TokenDAG(), tokens.PyramidSampling()
    context = dag.context(image, "")
    for budget in (20, 80, 200):
        graded, free = dag.allocate(context, budget), tree.allocate(context, budget)
        assert graded.base_error == pytest.approx(free.base_error)
        assert free.residual * (1 - 1e-9) <= graded.residual
        assert graded.gain <= graded.upper_bound * (1 + 1e-9)
        assert graded.residual_gap < 0.1


def test_the_allocation_predicts_the_reconstruction(smooth_noise):
    image = smooth_noise(256, 256)
    allocator = TokenDAG(tokens.UniformRelevance())
    allocation = allocator.allocate((image, ""), 100)
    error = np.mean((allocator.realize(allocation).reconstruct() - image) ** 2)
    assert error == pytest.approx(allocation.residual, rel=0.05)


def test_equal_scores_are_deterministic_and_exact():
    constant = np.full((160, 160, 3), 0.5, np.float32)
    cuts = [TokenDAG(tokens.UniformRelevance()).allocate((constant, ""), 37).cut.tolist() for _ in range(2)]
    assert cuts[0] == cuts[1] and len(cuts[0]) == 37


def test_nothing_needs_repair_and_bad_input_is_refused(smooth_noise):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        TokenDAG().allocate((smooth_noise(100, 120), ""), 20)
    with pytest.raises(ImageError):
        TokenDAG().allocate((np.full((32, 32, 3), np.nan), ""), 5)
    with pytest.raises(MetricError):
        TokenDAG(lambda context: np.full((2, 2), np.nan)).allocate((np.zeros((32, 32, 3)), ""), 3)
    with pytest.raises(BudgetTooSmall, match="16"):
        TokenDAG(levels=3).allocate((smooth_noise(256, 256), ""), 15)

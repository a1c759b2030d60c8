"""Copies of a few hierarchies under one budget: valid, within it, and bounded as exact enumeration says.

Gains in many contexts at once, against those of each context alone.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import hra
from hra.errors import HierarchyError, MetricError, RepairWarning
from hra.model.gains import gains_from_errors
from hra.model.hierarchy import Hierarchy
from hra.model.problem import Problem
from hra.pooling.copies import allocate_copies, can_share, gains_each
from hra.pooling.copies_allocation import CopiesAllocation, Kind
from tests.helpers.claims import is_true
from tests.helpers.copies_cases import Rows, answers, drawn


@given(drawn())
def test_what_is_stated_of_all_copies_is_true(case: Any) -> None:
    found = answers(*case)
    assert is_true(found.whole)
    assert not hra.verify(found.whole).refuted
    assert found.cost == found.whole.cost <= found.budget


@given(drawn(), st.booleans())
def test_parts_and_whole_agree(case: Any, spend_all: bool) -> None:
    given_kinds, order, budget = case
    found = answers(given_kinds, order, budget, hra.Hull(spend_all=spend_all))
    contexts = [(kind.hierarchy, context) for kind in given_kinds for context in kind.contexts]
    for place, member, cut in zip(order.tolist(), found.members, found.cuts, strict=True):
        hierarchy, context = contexts[place]
        assert member.hierarchy is hierarchy and member.context is context
        assert np.array_equal(member.cut, cut)
    assert sum(member.selected.sum() for member in found.members) == found.whole.selected.sum()
    assert np.isclose(sum(member.gain for member in found.members), found.whole.gain)


@given(drawn())
def test_nothing_that_gains_and_fits_is_left(case: Any) -> None:
    whole = answers(*case).whole
    hierarchy, selected = whole.hierarchy, whole.selected
    waiting = np.bincount(hierarchy.edges[:, 1], ~selected[hierarchy.edges[:, 0]], len(hierarchy)) > 0
    left = whole.problem.capacity - whole.problem.cost[selected].sum()
    assert not (~selected & ~waiting & (whole.problem.cost <= left) & (whole.problem.gain > 0)).any()


@given(drawn())
def test_equal_input_gives_equal_output_whatever_the_guess(case: Any) -> None:
    kinds, order, budget = case
    first, again = answers(*case), answers(*case)
    assert np.array_equal(first.whole.selected, again.whole.selected)
    assert first.price == again.price
    for guess in (0.0, 1e-300, 1.0, 1e300, first.price * 1.01):
        assert is_true(allocate_copies(kinds, order, budget, hra.Hull(), price=guess).whole)


def flat_copies(cost: list[float], gains: list[list[float]], budget: float, traversal: Any = None) -> CopiesAllocation:
    kind = Kind(Hierarchy.flat(cost), Rows(), [np.array(gain) for gain in gains])
    return allocate_copies([kind], np.arange(len(gains)), budget, traversal or hra.Hull())


def test_the_gap_is_of_the_least_error_that_is_possible() -> None:
    found = flat_copies([2, 3], [[0.6, 0.1], [0.4, 0.2]], 6)
    assert 0 < found.shortfall < found.residual < 1
    assert found.residual_gap == found.shortfall / (found.residual - found.shortfall)
    assert flat_copies([2], [[6.0]], 2).residual_gap == 0


def test_prices_and_guesses_are_per_cost_unit() -> None:
    whole, quarters = (flat_copies([unit, unit], [[6.0, 1.0], [4.0, 2.0]], 2 * unit) for unit in (1.0, 0.25))
    assert quarters.price == 4 * whole.price and whole.price == 2


def test_what_was_chosen_cannot_be_changed() -> None:
    found = flat_copies([1, 1], [[6.0, 1.0]], 1)
    with pytest.raises(ValueError, match="read-only"):
        found.selected[0][0, 0] = False


def test_the_finish_is_that_of_the_hull() -> None:
    filled, bare = (flat_copies([3.0, 1.0], [[9.0, 1.0], [6.0, 0.5]], 4, hra.Hull(finish=f)) for f in ("fill", "none"))
    assert (filled.cost, bare.cost) == (4, 3)
    idle, spent = (flat_copies([2.0, 1.0], [[8.0, 0.0]], 3, hra.Hull(spend_all=s)) for s in (False, True))
    assert (idle.cost, spent.cost) == (2, 3)


def test_what_may_be_shared_out_so() -> None:
    whole, parts = Hierarchy.flat([1.0]), Hierarchy.flat([0.1])
    odd, shrinking = Hierarchy.flat([1 / 3, 0.7**9]), Hierarchy.tree([-1, 0], [3, 1])
    assert can_share(hra.Hull(), [whole, whole], [2, 3]) and can_share(hra.Coherent(), [whole], [9])
    assert not can_share(hra.Coherent(max_churn=3), [whole], [9])
    assert not can_share(hra.Threshold(), [whole], [9]) and not can_share(hra.Exact(), [whole], [9])
    for others in ([parts, whole], [odd], [shrinking]):
        assert not can_share(hra.Hull(), others, [1] * len(others))


@dataclass(frozen=True, eq=False)
class Given(hra.ErrorMetric):
    """The context is an error per node; ``together`` fills in many at once."""

    together: bool = True

    def evaluate(self, hierarchy: hra.Hierarchy, context: Any) -> np.ndarray:
        return context

    def gains_each(
        self, hierarchy: hra.Hierarchy, contexts: Sequence[Any], gain: np.ndarray, least_error: np.ndarray
    ) -> bool:
        for i, context in enumerate(contexts if self.together else []):
            gain[:, i], least_error[i] = gains_from_errors(hierarchy, context, None)
        return self.together


def groups(rng: np.random.Generator) -> hra.Hierarchy:
    """A group graph of three levels."""
    added = np.repeat([-1, 0, 1, 2], [2, 4, 3, 5])
    removed = np.array([0, 0, 1, 1, 2, 2, -1, -1, -1, -1, -1, -1, -1, -1])
    return hra.Hierarchy.groups(rng.integers(1, 5, 14), added, removed)


@pytest.mark.filterwarnings("ignore::hra.errors.RepairWarning")
@given(st.integers(0, 2**32 - 1))
def test_as_one_by_one(seed: int) -> None:
    """Also where finer nodes have more error, which is repaired; more contexts than go together."""
    rng = np.random.default_rng(seed)
    hierarchy, count = groups(rng), int(rng.integers(1, 140))
    contexts = list(
        rng.random((count, 14))
        * rng.choice([0.0, 1.0, 1e-9], (count, 14))
        * 4.0 ** -np.repeat([0, 1, 2, 3], [2, 4, 3, 5])
    )
    for metric in (Given(), Given(together=False)):
        gain, least = np.empty((3, count)), np.empty(count)
        gains_each(hierarchy, metric, contexts, gain, least)
        for i, context in enumerate(contexts):
            alone = Problem.of(hierarchy, metric, context, np.inf)
            np.testing.assert_allclose(gain[:, i], alone.gain, rtol=1e-12, atol=1e-15)
            np.testing.assert_allclose(least[i], alone.least_error, rtol=1e-12)


def test_repairs_are_told() -> None:
    hierarchy = groups(np.random.default_rng(0))
    with pytest.warns(RepairWarning, match="not monotone"):
        gains_each(hierarchy, Given(), [np.arange(14.0)], np.empty((3, 1)), np.empty(1))


@pytest.mark.filterwarnings("ignore::hra.errors.RepairWarning")
@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf, -1.0])
@pytest.mark.parametrize("node", range(14))
def test_bad_errors_are_refused_wherever_they_are(node: int, bad: float) -> None:
    contexts = [np.ones(14) for _ in range(3)]
    contexts[1][node] = bad
    with pytest.raises(MetricError, match="Given returned"):
        gains_each(groups(np.random.default_rng(0)), Given(False), contexts, np.empty((3, 3)), np.empty(3))


@dataclass(frozen=True, eq=False)
class Wrong(Given):
    """One value is wrong: of the ``gain``, or of the errors that are left."""

    bad: float = np.nan
    of_gain: bool = True

    def gains_each(
        self, hierarchy: hra.Hierarchy, contexts: Sequence[Any], gain: np.ndarray, least_error: np.ndarray
    ) -> bool:
        gain[:], least_error[:] = 1.0, 1.0
        (gain if self.of_gain else least_error)[..., 1] = self.bad
        return True


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf, -1e-9])
@pytest.mark.parametrize("of_gain", [True, False])
def test_bad_gains_are_refused(bad: float, of_gain: bool) -> None:
    wrong, contexts = Wrong(bad=bad, of_gain=of_gain), [np.ones(14)] * 3
    with pytest.raises(MetricError, match="negative or not finite"):
        gains_each(groups(np.random.default_rng(0)), wrong, contexts, np.empty((3, 3)), np.empty(3))


def test_gains_that_overflow_are_refused() -> None:
    contexts = [np.array([1e307] * 2 + [0.0] * 12)] * 3
    with pytest.raises(MetricError, match="too large"):
        gains_each(groups(np.random.default_rng(0)), Given(), contexts, np.empty((3, 3)), np.empty(3))


def test_copies_whose_costs_do_not_add_up_exactly_are_refused() -> None:
    # Units of 1e-15: one copy has some 1e15 of them, which doubles count, and ten copies have more than they count.
    hierarchy = Hierarchy.flat([0.312345678901235, 0.712345678901237])
    few, many = (Kind(hierarchy, Rows("gain"), [[1.0, 2.0]] * count) for count in (2, 10))
    assert allocate_copies([few], np.arange(2), np.inf, hra.Hull()).cost == 2.049382715604944
    assert can_share(hra.Hull(), [hierarchy], [2]) and not can_share(hra.Hull(), [hierarchy], [10])
    with pytest.raises(HierarchyError, match="too many units"):
        allocate_copies([many], np.arange(10), 1.5, hra.Hull())

"""Copies of a few hierarchies under one budget: valid, within it, and bounded as exact enumeration says.

Gains in many contexts at once, against those of each context alone.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

import hra
from hra.errors import BudgetTooSmall, InvalidBudget, MetricError, RepairWarning, UnitMismatch
from hra.model.gains import gains_from_errors
from hra.model.hierarchy import Hierarchy
from hra.model.precise import ceiling
from hra.model.problem import Problem
from hra.pooling.copies import allocate_copies, can_share, gains_each
from hra.pooling.copies_allocation import CopiesAllocation, Kind
from hra.solvers.copies.copies import Copies
from tests.helpers.allocators import Plain, Table
from tests.helpers.claims import is_true, stating
from tests.helpers.instances import COSTS, GAINS, SHAPES

MOST = 12  # refinements of all copies, of which every set is enumerated


@dataclass(frozen=True, eq=False)
class Rows(Table):
    """The context is a gain per node; all at once for errors."""

    kind: Any = "gain"

    def evaluate(self, hierarchy: Hierarchy, context: Any) -> Any:
        return context


@st.composite
def drawn(draw: Any) -> tuple[list[Kind], np.ndarray, float]:
    """One to three kinds with a copy or several of each, in any order, and a budget."""
    kinds, left, costs = [], MOST, COSTS[draw(st.sampled_from(["whole", "tenths", "eighths", "same", "free"]))]
    gains = GAINS[draw(st.sampled_from(list(GAINS)))]
    for _ in range(draw(st.integers(1, 3))):
        hierarchy = SHAPES[draw(st.sampled_from(["add", "chain", "flat", "dag", "swaps", "mixed"]))](draw, costs, 6)
        count = draw(st.integers(1, 3))
        if not 0 < count * len(hierarchy) <= left:
            continue
        left -= count * len(hierarchy)
        kinds.append(Kind(hierarchy, Rows(), [gains(draw, hierarchy.node_cost.size) for _ in range(count)]))
    assume(kinds and Copies.suits([kind.hierarchy for kind in kinds]))
    copies = sum(len(kind.contexts) for kind in kinds)
    order = np.array(draw(st.permutations(range(copies))))
    base, most = (
        sum(len(kind.contexts) * cost for kind, cost in zip(kinds, part, strict=True))
        for part in zip(*[(k.hierarchy.base_cost, k.hierarchy.total_cost) for k in kinds], strict=True)
    )
    budget = draw(st.sampled_from([base, most, np.inf, None]))
    return kinds, order, budget or base + draw(st.floats(0.0, 1.0)) * (most - base)


def answers(kinds: Sequence[Kind], order: np.ndarray, budget: float, traversal: Any = None) -> CopiesAllocation:
    try:
        return allocate_copies(kinds, order, budget, traversal or hra.Hull())
    except BudgetTooSmall:  # the base in floating point, where units are parts of ten
        assume(False)
        raise


@given(drawn())
def test_what_is_stated_of_all_copies_is_true(case: Any) -> None:
    found = answers(*case)
    assert is_true(found.whole)
    assert not hra.verify(found.whole).refuted
    assert found.cost == found.whole.cost <= found.budget


@given(drawn())
def test_the_shortfall_needs_no_union(case: Any) -> None:
    """It is as true as that of the whole, and hardly larger."""
    found = answers(*case)
    whole = found.whole
    assert is_true(stating(whole, shortfall=found.shortfall, upper_bound=ceiling((*whole._gain, found.shortfall))))
    assert found.shortfall <= whole.shortfall * (1 + 1e-9) + 1e-300
    assert np.isclose(found.residual, whole.residual, rtol=1e-12, atol=1e-300)


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


@given(st.integers(0, 2**32 - 1))
def test_many_copies_come_near_what_a_pool_of_them_finds(seed: int) -> None:
    """On random graphs that are far rougher than clusters of a mesh; shares of surplus are common to all copies."""
    rng = np.random.default_rng(seed)
    size = int(rng.integers(5, 20))
    edges = [(a, b) for b in range(size) for a in range(b) if rng.random() < 2 / size]
    hierarchy = Hierarchy.dag(rng.integers(1, 9, size), np.array(edges, np.int32).reshape(-1, 2))
    count = int(rng.choice([40, 200]))  # with shares of their own, and more
    contexts = [rng.random(size) * 2.0 ** rng.integers(0, 12) for _ in range(count)]
    budget = float(rng.uniform(0.1, 0.8)) * count * hierarchy.total_cost
    found = allocate_copies([Kind(hierarchy, Rows(), contexts)], np.arange(count), budget, hra.Hull())
    pooled = hra.pool(*[Plain(hierarchy, Rows(), hra.Hull())] * count).allocate(contexts, budget)
    assert found.whole.gain >= 0.97 * pooled.whole.gain
    assert found.whole.upper_bound >= pooled.whole.gain


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


def test_the_base_alone_is_affordable() -> None:
    kind = Kind(Hierarchy.tree([-1, 0], [2, 3]), Rows(), [np.ones(2)] * 3)
    assert allocate_copies([kind], np.arange(3), 6, hra.Hull()).cost == 6


def test_the_finish_is_that_of_the_hull() -> None:
    filled, bare = (flat_copies([3.0, 1.0], [[9.0, 1.0], [6.0, 0.5]], 4, hra.Hull(finish=f)) for f in ("fill", "none"))
    assert (filled.cost, bare.cost) == (4, 3)
    idle, spent = (flat_copies([2.0, 1.0], [[8.0, 0.0]], 3, hra.Hull(spend_all=s)) for s in (False, True))
    assert (idle.cost, spent.cost) == (2, 3)


def test_the_union_has_the_shares_of_graphs() -> None:
    graph = Hierarchy.dag([2.0, 1, 1], np.array([[0, 2], [1, 2]], np.int32))
    kind = Kind(graph, Rows(), [np.array([0.0, 3, 1]), np.array([0.0, 1, 2])])
    found = allocate_copies([kind], np.arange(2), 4, hra.Hull()).whole
    assert found.solution.share is not None and found.solution.share.shape == (4,)


class TestSequences:
    def test_hysteresis_counts_what_is_there(self) -> None:
        pixels = Hierarchy.flat([1, 1])
        before = np.array([[True, False], [False, False]])
        kind = Kind(pixels, Rows(), [np.array([1.0, 0.5]), np.array([1.1, 0.4])], before)
        plain, held = (allocate_copies([kind], np.arange(2), 1, t) for t in (hra.Hull(), hra.Coherent(hysteresis=0.2)))
        assert [part.tolist() for part in plain.cuts] == [[], [0]] and plain.churn == 2
        assert [part.tolist() for part in held.cuts] == [[0], []] and held.churn == 0
        assert is_true(held.whole) and held.whole.churn == 0 and held.members[0].churn == 0
        swapped = allocate_copies([kind], np.arange(2), 1, hra.Coherent(hysteresis=0.05))
        assert [part.tolist() for part in swapped.cuts] == [[], [0]]

    def test_outside_of_a_sequence_nothing_changes(self) -> None:
        kind = Kind(Hierarchy.flat([1]), Rows(), [np.ones(1)])
        assert allocate_copies([kind], np.arange(1), 1, hra.Hull()).churn is None


class TestBadInput:
    KIND = Kind(Hierarchy.tree([-1, 0], [2, 3]), Rows(), [np.ones(2)] * 3)

    def test_budgets(self) -> None:
        with pytest.raises(BudgetTooSmall, match="costs 6 units"):
            allocate_copies([self.KIND], np.arange(3), 5, hra.Hull())
        with pytest.raises(InvalidBudget):
            allocate_copies([self.KIND], np.arange(3), float("nan"), hra.Hull())

    def test_units_of_error(self) -> None:
        other = Kind(Hierarchy.flat([1]), Rows(unit="px2"), [np.ones(1)])
        with pytest.raises(UnitMismatch, match="error, px2"):
            allocate_copies([self.KIND, other], np.arange(4), 9, hra.Hull())

    def test_gains_that_overflow(self) -> None:
        kind = Kind(Hierarchy.flat([1]), Rows(), [np.full(1, 1e307)] * 3)
        with pytest.raises(MetricError, match="too large"):
            allocate_copies([kind], np.arange(3), 1, hra.Hull())


def test_what_may_be_shared_out_so() -> None:
    whole, parts = Hierarchy.flat([1.0]), Hierarchy.flat([0.1])
    odd, shrinking = Hierarchy.flat([1 / 3, 0.7**9]), Hierarchy.tree([-1, 0], [3, 1])
    assert can_share(hra.Hull(), [whole, whole]) and can_share(hra.Coherent(), [whole])
    assert not can_share(hra.Coherent(max_churn=3), [whole])
    assert not can_share(hra.Threshold(), [whole]) and not can_share(hra.Exact(), [whole])
    for others in ([parts, whole], [odd], [shrinking]):
        assert not can_share(hra.Hull(), others)


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

"""The independent check: true statements pass, forged ones do not."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

import hra
from hra.allocating import verification
from hra.allocating.allocation import Allocation
from hra.allocating.verification import verify
from hra.errors import BudgetTooSmall
from hra.model.hierarchy import Hierarchy
from hra.solvers.duals import Certificate
from hra.traversals.base import Traversal
from tests.helpers.allocators import allocate
from tests.helpers.claims import forgeries, is_true, reshaping, small, stating
from tests.helpers.rational import Exactly, reader
from tests.helpers.verification_cases import taking

pytestmark = pytest.mark.unverified
TRAVERSALS: tuple[Traversal, ...] = (hra.Hull(), hra.Exact(), hra.BestFirst(), hra.Exact(max_states=1))


def honest(seed: int) -> Allocation | None:
    """A true allocation; None where nothing can be chosen, or pinned nodes cost too much."""
    rng = np.random.default_rng(seed)
    instance = small(rng)
    if not len(instance.hierarchy):
        return None
    if seed % 2 == 0:
        instance = replace(instance, pinned=(int(rng.integers(instance.hierarchy.node_cost.size)),))
    try:
        return instance.allocate(TRAVERSALS[seed % len(TRAVERSALS)])
    except BudgetTooSmall:
        return None


def test_more_than_a_thousand_forgeries_of_many_kinds_are_refuted():
    caught: Counter[str] = Counter()
    for seed in range(400):
        true = honest(seed)
        if true is None:
            continue
        assert is_true(true)
        assert verify(true).ok
        for kind, forged in forgeries(true, np.random.default_rng(seed)):
            if is_true(forged):
                continue
            assert not verify(forged).ok, (seed, kind)
            caught[kind] += 1
    assert caught.total() >= 1000
    assert len(caught) >= 20
    assert min(caught.values()) >= 10


def test_what_is_true_is_never_refuted_even_with_another_proof():
    # Any price and any flows prove something; where that is not enough, small allocations are searched.
    for seed in range(100):
        true = honest(seed)
        if true is None:
            continue
        for kind, forged in forgeries(true, np.random.default_rng(seed)):
            if is_true(forged):
                assert verify(forged).ok, (seed, kind)


def test_the_statements_are_those_of_the_allocation():
    found = verify(allocate(Hierarchy.flat([1, 2]), [1.0, 3.0], 2, hra.Exact(), "gain"))
    assert found.bound >= 3
    assert found.ok
    assert not found.unproven
    assert any("gain is 3.0" in text for text in found.proven)
    assert any("answer is optimal" in text for text in found.proven)


def test_the_bound_is_that_of_price_and_flows():
    true = allocate(Hierarchy.dag([1, 1, 2], [(0, 2), (1, 2)]), [1.0, 1.0, 8.0], 3, hra.Hull(), "gain")
    gained = Fraction(true.gain)
    assert verify(true).bound <= gained + Fraction(true.certificate.shortfall)


def test_status_optimal_needs_a_bound_that_proves_it():
    true = allocate(Hierarchy.flat([2, 3]), [2.0, 4.0], 4, hra.Hull(), "gain")
    assert true.status == "certified" or true.shortfall == 0
    lie = stating(true, shortfall=0.0, upper_bound=true.gain, solution=replace(true.solution))
    assert lie.status == "optimal"
    assert verify(lie).ok == (true.gain == 4.0)


def test_without_additive_gains_no_bound_is_checked():
    found = verify(allocate(Hierarchy.flat([1, 2]), [1.0, 3.0], 2, hra.Hull(), "gain", additive=False))
    assert found.ok
    assert any("gains do not add up" in text for text in found.proven)


def test_what_a_search_ruled_out_on_a_large_forest_is_stated_as_not_proven_here():
    rng = np.random.default_rng(0)
    parent = (np.arange(400) - 1) // 4
    parent[0] = -1
    hierarchy = Hierarchy.tree(parent, rng.integers(1, 30, parent.size), mode="add")
    true = allocate(hierarchy, rng.random(parent.size), 700, hra.Exact(), "gain")
    found = verify(true)
    assert found.ok
    assert true.certificate.shortfall >= true.shortfall
    assert not found.unproven or true.certificate.shortfall > true.shortfall


@pytest.mark.parametrize("traversal", TRAVERSALS)
def test_no_refinements_at_all(traversal):
    found = verify(allocate(Hierarchy.tree([-1, -1], [1, 1]), [1.0, 2.0], 2, traversal))
    assert found.ok
    assert not found.unproven


# ---- what the check derives itself ----

ORDER, NUMBERS = "every node comes before it goes", "costs, gains, errors and the budget are numbers"


def reshaped(true: Allocation, **arrays: object) -> Allocation:
    """``true`` with arrays of its hierarchy replaced, beside any constructor."""
    changed = {name: np.array(values, np.int32) for name, values in arrays.items()}
    if "edges" in changed:
        changed["edges"] = changed["edges"].reshape(-1, 2)
    return stating(true, problem=replace(true.problem, hierarchy=reshaping(true.hierarchy, **changed)))


def chain() -> Allocation:
    """Two steps, 0 > 1 > 2, of which the budget covers either."""
    return allocate(Hierarchy.tree([-1, 0, 1], [1, 2, 3]), [8.0, 4.0, 1.0], 3, hra.Exact())


def test_a_chain_without_its_edge_lets_root_and_grandchild_be_there_at_once():
    true = chain()
    assert verify(true).ok and true.hierarchy.edges.tolist() == [[0, 1]]
    flow = replace(true.certificate, flow=np.zeros(0))
    forged = stating(taking(reshaped(true, edges=[]), 1), cost=2.0, gain=3.0, residual=5.0, certificate=flow)
    found = verify(forged)
    assert [text[: len(ORDER)] for text in found.refuted] == [ORDER]
    assert [text[: len(NUMBERS)] for text in found.proven] == [NUMBERS]
    assert found.bound == 0


@pytest.mark.parametrize(
    ("edges", "added_by", "removed_by", "holds"),
    [
        ([(0, 1), (1, 2), (2, 3)], [-1, 0, 1], [0, 3, 2], True),  # three edges from what adds to what removes
        ([(0, 1), (2, 3)], [-1, 0, 1], [0, 3, -1], False),
        ([(0, 2), (1, 2), (2, 3)], [-1, 0, 1], [-1, 3, 3], True),
        ([(0, 3), (1, 3), (2, 3)], [-1, 0, 1], [-1, 3, 3], True),
        ([(0, 1), (0, 2), (1, 3), (2, 3)], [-1, 0, 0], [-1, 3, 3], True),
        ([(0, 2), (1, 2), (1, 3), (2, 3)], [-1, 0, 1], [-1, 3, 2], True),
        ([(0, 2), (1, 3)], [-1, 0, -1], [-1, 3, -1], False),
        ([(1, 2), (1, 3), (2, 3)], [-1, 0, 1], [-1, 3, -1], False),
        ([(0, 1), (1, 2), (2, 3)], [-1, 2, -1], [-1, 2, -1], False),  # comes and goes in one step
        ([(0, 1), (1, 2), (2, 3)], [-1, 2, -1], [-1, 1, -1], False),  # goes first
        ([(0, 1), (1, 2), (2, 3)], [-1, 2, -1], [-1, 0, -1], False),
        ([(0, 1), (1, 2), (2, 3)], [-1, 0, -1], [0, -1, 3], True),
        ([(0, 0)], [-1, -1, -1], [-1, -1, -1], False),
        ([(1, 0)], [-1, -1, -1], [-1, -1, -1], False),
        ([(-1, 0)], [-1, -1, -1], [-1, -1, -1], False),
        ([(3, 4)], [-1, -1, -1], [-1, -1, -1], False),
        ([(2, 3)], [-1, -1, -1], [-1, -1, -1], True),
        ([], [-2, -1, -1], [-1, -1, -1], False),
        ([], [4, -1, -1], [-1, -1, -1], False),
        ([], [3, -1, -1], [-1, -1, -1], True),
        ([], [-1, -1, -1], [-2, -1, -1], False),
        ([], [-1, -1, -1], [4, -1, -1], False),
        ([], [-1, -1, -1], [3, -1, -1], True),
        ([(1, 3), (0, 1)], [-1, 0, 1], [-1, 3, 3], True),  # edges in any order
        ([(2, 3), (0, 1), (1, 3)], [-1, 0, 2], [-1, 3, 3], True),
    ],
)
def test_what_adds_a_node_precedes_what_removes_it(edges, added_by, removed_by, holds):
    true = allocate(Hierarchy.dag([1, 1, 1, 1], []), [1.0] * 4, 0, hra.Hull(), "gain")
    one = reshaping(true.hierarchy, node_cost=np.ones(3))
    base = stating(true, problem=replace(true.problem, hierarchy=one))
    found = verify(reshaped(base, edges=edges, added_by=added_by, removed_by=removed_by))
    assert any(text.startswith(ORDER) for text in (found.proven if holds else found.refuted))
    assert holds or found.bound == 0


def test_a_negative_least_error_remains_nowhere():
    true = allocate(Hierarchy.flat([1, 2]), [1.0, 3.0], 2, hra.Exact(), "gain")
    forged = stating(true, problem=replace(true.problem, least_error=-995.0), residual=-994.0)
    found = verify(forged)
    assert not any("remains" in text for text in found.proven)
    assert [text[: len(NUMBERS)] for text in found.refuted] == [NUMBERS]


@pytest.mark.parametrize("value", [-1.0, -5e-324, np.nan, np.inf, -np.inf])
@pytest.mark.parametrize("name", ["least_error", "gain", "node_cost", "budget"])
def test_what_is_negative_or_no_number_is_refuted(name, value):
    true = allocate(Hierarchy.flat([1, 2]), [1.0, 3.0], 2, hra.Exact(), "gain")
    problem, forged = true.problem, reshaping(true.hierarchy, node_cost=np.array([value, 2.0]))
    changed = {
        "least_error": {"least_error": value},
        "budget": {"budget": value},
        "gain": {"gain": np.array([1.0, value])},
        "node_cost": {"hierarchy": forged},
    }[name]
    found = verify(stating(true, problem=replace(problem, **changed)))
    assert any(text.startswith(NUMBERS) for text in found.refuted) == (name != "budget" or value != np.inf)


def test_a_bad_choice_that_keeps_further_rules_is_not_proven_optimal():
    true = allocate(Hierarchy.flat([1, 1]), [1.0, 3.0], 1, hra.Exact(), "gain")
    solution = replace(taking(true, 0).solution, restricted=True)
    claims = {"gain": 1.0, "residual": 3.0, "shortfall": 0.0, "upper_bound": 1.0}
    found = verify(stating(true, solution=solution, **claims))
    assert found.ok
    assert found.unproven == (
        "no choice within the budget gains more than 1.0, if it keeps further rules",
        "the answer is optimal",
    )
    plain = verify(stating(true, solution=replace(solution, restricted=False), **claims))
    assert plain.refuted == ("no choice within the budget gains more than 1.0", "the answer is optimal")


def test_a_bound_that_price_and_flow_prove_needs_no_rules():
    true = allocate(Hierarchy.flat([1, 1]), [1.0, 3.0], 1, hra.Hull(), "gain")
    found = verify(stating(true, solution=replace(true.solution, restricted=True)))
    assert found.proven[-2:] == ("no choice within the budget gains more than 3.0", "the answer is optimal")


def test_certified_is_as_proven_as_its_bound():
    true = allocate(Hierarchy.flat([2, 3]), [2.0, 4.0], 4, hra.Hull(finish="none"), "gain")
    assert verify(true).proven[-1] == "the answer is certified"
    rules = replace(true.solution, restricted=True)
    less = {"shortfall": true.shortfall / 2, "upper_bound": true.gain + true.shortfall / 2}
    assert verify(stating(true, solution=rules, **less)).unproven[-1] == "the answer is certified"


@pytest.mark.parametrize(("missed", "holds"), [(1e-12, True), (1.00005e-12, True), (1.001e-12, False)])
def test_optimal_is_what_misses_no_more_than_a_part_in_1e12(missed, holds, monkeypatch):
    monkeypatch.setattr(Allocation, "status", "optimal")
    true = allocate(Hierarchy.flat([1, 1]), [1.0, 0.0], 2, hra.Hull(), "gain")
    problem = replace(true.problem, least_error=1.0)
    claims = stating(true, problem=problem, residual=1.0, shortfall=missed, upper_bound=1.0 + 2 * missed)
    assert ("the answer is optimal" in verify(claims).proven) == holds


def test_what_is_no_allocation_is_refused():
    with pytest.raises(hra.HraError, match="allocation"):
        verify(Hierarchy.flat([1]))  # pyright: ignore[reportArgumentType]


# ---- the bound, with nothing left to chance ----


def anything(hierarchy: Hierarchy, gains: list[float], budget: float, price: float, flow: list[float], most: float):
    """A claim that nothing gains more than ``most``, of an empty choice, with any price and flows."""
    proof = Certificate(price, Fraction(1), np.array(flow, float), 0.0)
    true = allocate(hierarchy, [0.0] * hierarchy.node_cost.size, budget, hra.Hull(finish="none"), "gain")
    problem = replace(true.problem, gain=np.array(gains))
    claims = {"gain": 0.0, "residual": float(sum(gains)), "shortfall": most, "upper_bound": most}
    return stating(taking(stating(true, problem=problem)), cost=hierarchy.base_cost, certificate=proof, **claims)


def test_small_searches_decide_every_bound_of_whole_numbers():
    rng = np.random.default_rng(0)
    for _ in range(150):
        size = int(rng.integers(1, 5))
        if rng.random() < 0.5:
            edges = [(a, b) for b in range(size) for a in range(b) if rng.random() < 0.4]
            hierarchy = Hierarchy.dag(rng.integers(0, 4, size), np.array(edges, np.int32).reshape(-1, 2))
        else:
            hierarchy = Hierarchy.tree(np.arange(-1, size), rng.integers(0, 4, size + 1))
        gains = rng.integers(0, 4, len(hierarchy)).astype(float).tolist()
        budget = hierarchy.base_cost + float(rng.integers(0, 6))
        flow = rng.integers(0, 3, len(hierarchy.edges)).astype(float).tolist()
        price = float(rng.integers(0, 3))
        exactly = Exactly.of(anything(hierarchy, gains, budget, price, flow, 0.0).problem)
        best = exactly.best()
        assert best is not None
        for most in range(int(sum(gains)) + 1):
            found = verify(anything(hierarchy, gains, budget, price, flow, float(most)))
            text = f"no choice within the budget gains more than {float(most)!r}"
            assert text in (found.proven if best <= most else found.refuted)


def test_a_search_is_given_up_after_so_many_decisions(monkeypatch):
    """Of two refinements that do not fit together: to begin, to take or leave each, the other one after the first."""
    claims = anything(Hierarchy.flat([1, 1]), [3.0, 3.0], 1, 0.0, [], 3.0)
    for decisions, proven in ((4, False), (5, True)):
        monkeypatch.setattr(verification, "_DECISIONS", decisions)
        assert (verify(claims).unproven == ()) == proven


@pytest.mark.parametrize(
    ("cost", "budget", "price"),
    [([1, 2], 2, 1.0), ([1, 2], 1, 3.0), ([0.1, 0.2], 0.2, 10.0), ([0.5, 0.25], 0.3, 8.0), ([1, 2], 0.5, 3.0)],
)
def test_price_and_room_are_in_the_costs_own_unit(cost, budget, price, monkeypatch):
    """By hand: price * room + what each gain is more than its price, of gains 4 and 5 that the budget covers."""
    monkeypatch.setattr(verification, "_DECISIONS", 0)
    found = verify(anything(Hierarchy.flat(cost), [4.0, 5.0], budget, price, [], 9.0))
    step = {0.3: 0.25, 0.5: 0.0}.get(budget, budget)
    covered = [(g, c) for g, c in zip((4, 5), cost, strict=True) if c <= budget]
    worth = sum(max(Fraction(g) - Fraction(price) * Fraction(repr(c)), 0) for g, c in covered)
    assert found.bound == min(Fraction(price) * Fraction(repr(step)) + worth, sum(g for g, _ in covered))


def test_the_unit_of_a_price_counts():
    claims = anything(Hierarchy.flat([1, 1]), [4.0, 4.0], 1.0, 5.0, [], 8.0)
    for unit, bound in ((Fraction(1), 5), (Fraction(4), 6.75), (Fraction(1, 4), 8)):
        assert verify(stating(claims, certificate=replace(claims.certificate, unit=unit))).bound == bound


def test_what_is_pinned_is_no_part_of_the_step_of_costs(monkeypatch):
    """Beside a pin of 1, a budget of 2 leaves nothing for what costs 2."""
    monkeypatch.setattr(verification, "_DECISIONS", 0)
    claims = anything(Hierarchy.flat([1, 2]), [0.0, 4.0], 2, 2.0, [], 0.0)
    pinned = stating(claims, problem=replace(claims.problem, pinned=np.array([True, False])))
    assert verify(stating(taking(pinned, 0), cost=1.0)).bound == 0


@pytest.mark.parametrize("cost", [[1e14 + 0.1] * 3, [3e13 + 0.01], [1e14 + 0.1], [1e13 + 0.01], [0.1], [1 / 3]])
def test_decimals_count_as_such_up_to_2_to_the_51(cost):
    assert verification._reader(cost)(0.1) == reader(np.array(cost))(0.1)


def test_flows_of_nothing_prove_a_bound_without_a_search(monkeypatch: pytest.MonkeyPatch):
    rng = np.random.default_rng(3)
    graph = hra.Hierarchy.dag(np.ones(40), np.array([(a, b) for b in range(2, 40) for a in (b // 2, b // 2 - 1)]))
    allocation = hra.solve(graph, 20, gains=rng.random(40), traversal=hra.Hull(finish="none"))
    assert (allocation.certificate.flow == 0).any() and allocation.certificate.price > 0
    monkeypatch.setattr(verification, "_DECISIONS", 0)
    found = hra.verify(allocation)
    assert found.ok and not found.unproven


def test_costs_count_as_decimals_up_to_the_largest_whole_number_and_with_it():
    costs = [0.47, 22517998136852.01]  # 2**51 hundredths; as doubles they add up to more
    allocation = hra.solve(hra.Hierarchy.flat(costs), 22517998136852.48, gains=[1.0, 1.0])
    assert allocation.selected.all() and hra.verify(allocation).ok


def test_an_edge_elsewhere_does_not_stand_for_the_one_that_is_missing():
    true = allocate(Hierarchy.dag([1] * 5, []), [1.0] * 5, 0, hra.Hull(), "gain")
    base = stating(true, problem=replace(true.problem, hierarchy=reshaping(true.hierarchy, node_cost=np.ones(1))))
    found = verify(reshaped(base, edges=[(2, 3)], added_by=[3], removed_by=[4]))
    assert any(text.startswith(ORDER) for text in found.refuted)

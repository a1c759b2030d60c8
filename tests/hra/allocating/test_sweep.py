"""Sweeps: each row is what the traversal finds by itself, and gaps are by the tightest bound of all."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from PIL import Image

import hra
from hra.errors import BudgetTooSmall, FileError, HraError
from tests.helpers.allocators import Plain, Table, allocate
from tests.helpers.hierarchies import KINDS, case

seeds = st.integers(0, 2**32 - 1)
TRAVERSALS = [hra.Exact(), hra.Hull(), hra.BestFirst(), hra.BestFirst(by="error"), hra.Threshold()]


@pytest.mark.parametrize("kind", KINDS)
@given(seed=seeds)
def test_rows_are_what_each_finds_alone(kind: str, seed: int) -> None:
    hierarchy, values, rng = case(kind, seed)
    budgets = [hierarchy.base_cost, hierarchy.base_cost + rng.random() * hierarchy.largest_cost]
    allocator = Plain(hierarchy, Table(values, kind="gain"), hra.Hull())
    found = hra.sweep(allocator, None, budgets, TRAVERSALS, repeat=1)
    assert len(found) == len(budgets) * len(TRAVERSALS)
    for row, (budget, traversal) in zip(found.rows, ((b, t) for b in budgets for t in TRAVERSALS), strict=True):
        alone = allocate(hierarchy, values, budget, traversal, "gain")
        assert (row.budget, row.cost, row.gain) == (budget, alone.cost, alone.gain)
        assert (row.residual, row.max_error) == (alone.residual, alone.max_error)
        assert 0 <= row.gap <= alone.gap and row.seconds >= 0 and not row.refused


def test_a_gap_is_by_the_tightest_bound() -> None:
    items = hra.Hierarchy.flat([3, 2, 2])
    found = hra.sweep(Plain(items, Table([6, 3.5, 3.4], kind="gain"), hra.Hull()), None, [4], TRAVERSALS[:2])
    assert [row.gap for row in found.rows] == pytest.approx([0, 0.9 / 6.9], abs=1e-12)


def test_columns_are_those_of_a_data_frame() -> None:
    found = hra.sweep(Plain(hra.Hierarchy.flat([1, 1]), Table([2, 1], kind="gain"), hra.Hull()), None, [0, 1, 2])
    columns = found.to_dict()
    assert {len(column) for column in columns.values()} == {15}
    assert columns["traversal"][:5] == ["Exact()", "Hull()", "BestFirst()", "BestFirst(by='error')", "Threshold()"]
    assert columns["gain"][::5] == [0, 2, 3]
    assert "BestFirst(by='error')" in str(found) and ">BestFirst(by=&#x27;error&#x27;)</td>" in found._repr_html_()
    assert repr(found) == "Sweep(5 traversals at 3 budgets)"


def test_who_does_not_serve_the_problem_says_so_in_its_row() -> None:
    tree = hra.Hierarchy.tree([-1, 0, 0], [1, 1, 1])
    found = hra.sweep(Plain(tree, Table([2, 1, 0]), hra.Hull()), None, [2], [hra.Apportion(), hra.Hull()])
    assert "stratum" in found.rows[0].refused and math.isnan(found.rows[0].gain)
    assert found.rows[1].gap == 0 and "refused" in str(found)


def test_bounds_of_restricted_choices_count_for_nobody() -> None:
    # Two levels: the rule spends on the one that gains little, and bounds only what keeps the rule.
    flat = hra.Hierarchy.flat([1, 1, 1, 1], attributes={"level": np.array([0, 0, 1, 1])})
    allocator = Plain(flat, Table([9, 9, 1, 1], kind="gain"), hra.Hull())
    shares = hra.LevelShares({1: 1.0})
    together = hra.sweep(allocator, None, [2], [shares, hra.Exact()])
    assert [row.gain for row in together.rows] == [2, 18]
    assert together.rows[0].gap == pytest.approx(16 / 18) and together.rows[1].gap == pytest.approx(0, abs=1e-12)
    assert math.isnan(hra.sweep(allocator, None, [2], [shares]).rows[0].gap)


def test_gains_that_do_not_add_up_have_no_gap() -> None:
    metric = Table([2, 1], kind="gain", additive=False)
    found = hra.sweep(Plain(hra.Hierarchy.flat([1, 1]), metric, hra.Hull()), None, [1], [hra.BestFirst()])
    assert math.isnan(found.rows[0].gap) and "-" in str(found)


@pytest.mark.parametrize("measure", ["residual", "max_error", "gain", "gap", "seconds", "cost"])
def test_plots_are_pictures(tmp_path: Path, measure: str) -> None:
    pytest.importorskip("matplotlib")
    tree = hra.Hierarchy.tree([-1, 0, 0, 1, 1, 2, 2], [1] * 7)
    found = hra.sweep(Plain(tree, Table([8, 4, 3, 1, 1, 1, 1]), hra.Hull()), None, [1, 2, 3, 4])
    figure = found.plot(tmp_path / "p.png", measure)
    assert len(figure.axes[0].lines) == 5
    assert Image.open(tmp_path / "p.png").convert("RGB").getcolors(5) is None  # there are more


def test_what_cannot_be_swept_is_refused(tmp_path: Path) -> None:
    allocator = Plain(hra.Hierarchy.tree([-1, 0, 0], [1, 1, 1]), Table([2, 1, 0]), hra.Hull())
    with pytest.raises(BudgetTooSmall):
        hra.sweep(allocator, None, [0])
    for budgets, traversals in (([], [hra.Hull()]), ([2], []), ([2], ["hull"]), ([2], {"a": hra.Hull}),
                                (np.array(2), [hra.Hull()]), ([2], np.array(2))):  # fmt: skip
        with pytest.raises(HraError):
            hra.sweep(allocator, None, budgets, traversals)  # pyright: ignore[reportArgumentType]
    with pytest.raises(HraError, match="not an allocator"):
        hra.sweep(None, allocator, [2])  # pyright: ignore[reportArgumentType]
    found = hra.sweep(allocator, None, [2])
    with pytest.raises(HraError, match=r"measure .* is unknown"):
        found.plot(measure="beauty")
    with pytest.raises(FileError, match="PNG"):
        found.plot(tmp_path / "a.pdf")


@given(seed=seeds)
def test_the_largest_error_goes_first(seed: int) -> None:
    hierarchy, values, rng = case("replace", seed, 40)
    budget = hierarchy.base_cost + rng.random() * (hierarchy.largest_cost - hierarchy.base_cost)
    found = allocate(hierarchy, np.abs(values), budget, hra.BestFirst(by="error"))
    taken, left = np.zeros(len(hierarchy), bool), found.problem.capacity
    while True:
        fits = ~taken & (found.problem.cost <= left) & (found.problem.peak > 0)
        for before, after in hierarchy.edges:
            fits[after] &= taken[before]
        if not fits.any():
            break
        first = np.flatnonzero(fits)[np.argmax(found.problem.peak[fits])]
        ties = fits & (found.problem.peak == found.problem.peak[first])
        if np.count_nonzero(ties) > 1:
            return  # settled by gain, cost and structure, which other tests are about
        taken[first] = True
        left -= found.problem.cost[first]
    assert np.array_equal(found.selected, taken)


def test_by_error_a_root_that_gains_nothing_is_passed() -> None:
    tree = hra.Hierarchy.tree([-1, 0, 0, 1, 1, 2, 2], [1] * 7)
    errors = [2.0, 1.0, 1.0, 0.0, 0.0, 0.0, 0.0]
    stuck, passed = (hra.solve(tree, 4, errors=errors, traversal=hra.BestFirst(by=rule)) for rule in ("ratio", "error"))
    assert (stuck.cost, passed.cost, passed.residual) == (1, 4, 0)


def test_another_rule_is_refused() -> None:
    with pytest.raises(HraError, match=r"by .* is unknown"):
        hra.BestFirst(by="luck")  # pyright: ignore[reportArgumentType]


def test_a_curve_is_that_of_the_hull_or_refused() -> None:
    tree = hra.Hierarchy.tree([-1, 0, 0], [1, 1, 1])
    for traversal in (hra.BestFirst(), hra.Exact(), hra.Threshold()):
        with pytest.raises(HraError, match="curves need"):
            Plain(tree, Table([2, 1, 0]), traversal).curve(None)

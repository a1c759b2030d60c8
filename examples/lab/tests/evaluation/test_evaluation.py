"""The evaluation: its rules against plain loops, its judging against known answers, its page against what it claims."""

from __future__ import annotations

import json
import re
from dataclasses import astuple, dataclass, replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from typer.testing import CliRunner

from hra.model.hierarchy import Hierarchy
from hra.model.problem import Problem
from hra.model.solution import Solution
from hra.traversals.base import Traversal
from hra.traversals.best_first import BestFirst
from hra.traversals.exact import Exact
from hra.traversals.hull import Hull
from hra_lab.commands.evaluate import evaluate
from hra_lab.evaluation.ablation import render
from hra_lab.evaluation.core import judge, mesh_cases, run, token_cases
from hra_lab.evaluation.rules import PROPOSED, RULES, RandomOrder, SortByRatio, SortWithAncestors
from hra_lab.evaluation.sizes import SMALL
from hra_lab.evaluation.tables import loss_table, percent
from hra_lab.evaluation.whole_levels import WholeLevels
from hra_lab.inputs.crops import crops
from tests.helpers.allocators import problem_of
from tests.helpers.hierarchies import KINDS, case
from tests.helpers.references import best_gain

DOCS = Path(__file__).parents[2] / "docs"
seeds = st.integers(0, 2**32 - 1)
kinds = pytest.mark.parametrize("kind", KINDS)


def random_problem(kind: str, seed: int) -> Problem:
    hierarchy, values, rng = case(kind, seed)
    budget = hierarchy.base_cost + float(rng.integers(0, int(hierarchy.cost.sum()) + 1))
    return problem_of(hierarchy, values + rng.random(values.size), "gain", budget)


# ---- rules ---


def predecessors(hierarchy: Hierarchy, r: int) -> set[int]:
    return set(hierarchy.edges[hierarchy.edges[:, 1] == r, 0].tolist())


def by_worth(problem: Problem) -> list[int]:
    hierarchy = problem.hierarchy

    def worth(r: int) -> tuple[bool, float]:
        cost = hierarchy.cost[r] or hierarchy.node_cost[hierarchy.added_by == r].sum()
        return (False, problem.gain[r] / cost) if cost else (True, problem.gain[r])

    return sorted(range(len(hierarchy)), key=worth, reverse=True)


@kinds
@given(seed=seeds)
def test_one_pass_passes_over_what_is_not_ready(kind: str, seed: int):
    problem = random_problem(kind, seed)
    taken: set[int] = set()
    left = problem.capacity
    for r in by_worth(problem):
        if problem.cost[r] <= left and predecessors(problem.hierarchy, r) <= taken:
            taken.add(r)
            left -= problem.cost[r]
    assert np.flatnonzero(SortByRatio().solve(problem).selected).tolist() == sorted(taken)


@kinds
@given(seed=seeds)
def test_ancestors_come_along_if_all_fit(kind: str, seed: int):
    problem = random_problem(kind, seed)
    taken: set[int] = set()
    for r in by_worth(problem):
        wanted, new = taken | {r}, {r}
        while new:
            new = set().union(*(predecessors(problem.hierarchy, s) for s in new)) - wanted
            wanted |= new
        if problem.cost[sorted(wanted)].sum() <= problem.capacity:
            taken = wanted
    assert np.flatnonzero(SortWithAncestors().solve(problem).selected).tolist() == sorted(taken)


def quadtree() -> Hierarchy:
    """One node, its 4 children and their 16 children, of cost 1."""
    parent = [-1, *[0] * 4, *np.repeat([1, 2, 3, 4], 4)]
    level = np.repeat([2, 1, 0], [1, 4, 16])
    return Hierarchy.tree(parent, np.ones(21), attributes={"level": level})


@pytest.mark.parametrize(("budget", "expected"), [(3, []), (4, [0]), (9, [0]), (10, [0, 1, 2]), (16, [0, 1, 2, 3, 4])])
def test_whole_levels_fill_the_next_level_in_storage_order(budget: int, expected: list[int]):
    problem = problem_of(quadtree(), np.arange(21.0), "gain", budget)
    taken = np.flatnonzero(WholeLevels().solve(problem).selected).tolist()
    assert taken == (expected if budget != 9 else [0, 1])


@kinds
@given(seed=seeds)
def test_random_order_is_valid_maximal_and_repeats(kind: str, seed: int):
    problem = random_problem(kind, seed)
    selected = RandomOrder().solve(problem).selected
    assert np.array_equal(selected, RandomOrder().solve(problem).selected)
    left = problem.capacity - problem.cost[selected].sum()
    assert problem.hierarchy.is_valid(selected) and left >= 0
    ready = ~selected & (problem.cost <= left)
    for before, after in problem.hierarchy.edges:
        ready[after] &= selected[before]
    assert not ready.any()


def test_another_seed_is_another_order():
    problem = problem_of(Hierarchy.flat(np.ones(20)), np.ones(20), "gain", 10)
    assert not np.array_equal(RandomOrder(0).solve(problem).selected, RandomOrder(1).solve(problem).selected)


# ---- judging ---


@kinds
@given(seed=seeds)
def test_losses_are_what_is_missing_to_the_best_of_all_sets(kind: str, seed: int):
    problem = random_problem(kind, seed)
    rules = {"exact": Exact(), "hull": Hull(), "best first": BestFirst()}
    judged, best = judge(problem, rules), best_gain(problem)
    # Where nothing is gained, what the search rounds up is a bound all the same.
    assert best == 0 or (judged.proven and judged.losses["exact"].gain_lost <= 1e-12)
    for name, rule in rules.items():
        gain = problem.gain[rule.solve(problem).selected].sum()
        lost = (best - gain) / best if best else 0.0
        if best:
            assert judged.losses[name].gain_lost == pytest.approx(lost, abs=1e-9)
        least = problem.base_error - best
        if least > 1e-9:
            assert judged.losses[name].residual_excess == pytest.approx((best - gain) / least, abs=1e-9)


@dataclass(frozen=True)
class Claims(Traversal):
    """Takes nothing and claims a bound."""

    bound: float

    def select(self, problem: Problem) -> Solution:
        return Solution(np.zeros(len(problem.hierarchy), np.bool_), upper_bound=self.bound)


def test_without_a_proof_the_least_bound_judges():
    problem = problem_of(Hierarchy.flat([2, 2]), [1.0, 1.0], "gain", 3)
    judged = judge(problem, {"loose": Claims(1.6), "tight": Claims(1.25), "best first": BestFirst()})
    assert not judged.proven
    assert astuple(judged.losses["best first"]) == pytest.approx((0.2, 1 / 3, 1 / 3))
    assert astuple(judged.losses["loose"]) == pytest.approx((1, 5 / 3, 1))


# ---- cases ---


def test_crops_repeat_and_come_from_all_images():
    first, again = list(crops(4, 64)), list(crops(4, 64))
    assert [name.split()[0] for name, _ in first] == ["photo.jpg", "page.png", "earth.jpg", "photo.jpg"]
    assert all(image.shape == (64, 64, 3) for _, image in first)
    assert first[0][0] != first[3][0]
    assert all(np.array_equal(a[1], b[1]) for a, b in zip(first, again, strict=True))


def test_token_cases_are_trees_at_every_budget():
    cases = list(token_cases(replace(SMALL, crops=1)))
    assert [one.problem.budget for one in cases] == list(SMALL.tokens)
    assert cases[0].problem.hierarchy.parent is not None
    assert cases[0].problem.hierarchy.total_cost == (SMALL.side // 16) ** 2


def test_mesh_cases_are_graphs_from_all_sides():
    cases = list(mesh_cases(SMALL))
    assert [one.source for one in cases] == ["azimuth 0", "azimuth 180"]
    assert cases[0].problem.hierarchy.parent is None
    assert cases[0].problem.budget == int(0.3 * cases[0].problem.hierarchy.total_cost)
    assert not np.array_equal(cases[0].problem.gain, cases[1].problem.gain)


# ---- results ---


@pytest.fixture(scope="module")
def record() -> dict:
    return run(SMALL, progress=lambda name: None)


def test_there_is_a_row_for_every_rule_and_no_rule_beats_the_bound(record: dict):
    budgets = [("tokens", "16 tokens"), ("tokens", "32 tokens"), ("mesh", "30 % of triangles")]
    expected = [(*budget, rule) for budget in budgets for rule in RULES]
    assert [(row["data"], row["budget"], row["rule"]) for row in record["rows"]] == expected
    assert record["problems"] == 3 * 2 + 2
    for row in record["rows"]:
        values = row["residual_excess"]["all"]
        assert len(values) == row["n"] and min(values) >= 0
        assert row["residual_excess"]["worst"] == max(values)
        assert row["residual_excess"]["mean"] == pytest.approx(sum(values) / len(values))


def test_a_proof_loses_nothing_and_chance_loses_most_of_the_proposed_rules(record: dict):
    mean = {(row["budget"], row["rule"]): row["gain_lost"]["mean"] for row in record["rows"]}
    for budget in {key[0] for key in mean}:
        assert mean[budget, "Exact"] <= 1e-12 or record["proven"] < record["problems"]
        assert all(mean[budget, rule] < mean[budget, "random order"] for rule in PROPOSED)


def test_the_page_and_its_pictures_repeat(record: dict):
    files, again = render(record, SMALL), render(record, SMALL)
    assert files == again
    assert set(files) == {"ablation.md", "pictures/ablation_tokens.png", "pictures/ablation_mesh.png"}
    assert all(content.startswith(b"\x89PNG") for name, content in files.items() if name.endswith(".png"))
    assert "$" not in files["ablation.md"].decode()


def test_percent():
    shares = (0.0, 1e-15, 1e-6, 0.0123456, 0.5, 12.345)
    assert [percent(share) for share in shares] == ["0", "0", "< 0.001", "1.2", "50", "1,234"]


def test_a_table_has_mean_and_worst_of_every_budget():
    rows = [
        {"rule": rule, "budget": budget, "gain_lost": {"mean": 0.01, "worst": worst}}
        for rule in ("a", "b")
        for budget, worst in (("1", 0.2), ("2", 0.3))
    ]
    table = loss_table(rows, "gain_lost").splitlines()
    assert table[0] == "| rule | 1: mean | worst | 2: mean | worst |"
    assert table[2:] == ["| a | 1 | 20 | 1 | 30 |", "| b | 1 | 20 | 1 | 30 |"]


def test_the_committed_page_is_of_these_rules_and_shows_its_pictures():
    page = (DOCS / "ablation.md").read_text(encoding="utf-8")
    for rule in RULES:
        assert len(re.findall(rf"^\| {re.escape(rule)} \|", page, re.MULTILINE)) == 5
    for picture in re.findall(r"\]\((\S+\.png)\)", page):
        assert 0 < (DOCS / picture).stat().st_size <= 100_000


def test_the_command_writes_page_pictures_and_figures(tmp_path: Path):
    arguments = ["core", "--scale", "small", "--out", str(tmp_path / "docs"), "--json", str(tmp_path / "eval.json")]
    result = CliRunner().invoke(evaluate, arguments)
    assert result.exit_code == 0, result.output
    assert "best first" in result.output
    assert (tmp_path / "docs/pictures/ablation_mesh.png").exists()
    assert len(json.loads((tmp_path / "eval.json").read_text())["rows"]) == 3 * len(RULES)

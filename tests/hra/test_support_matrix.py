"""The page docs/support-matrix.md is true: every entry is run on small instances against all valid sets."""

from __future__ import annotations

import re
import warnings
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any, Literal

import numpy as np
import pytest

import hra
from hra.allocating.allocation import Allocation
from hra.errors import BackendUnavailable, InfeasibleShares, RepairWarning
from hra.model.hierarchy import Hierarchy
from hra.traversals.exact import Exact
from tests.helpers.allocators import Plain, Table, problem_of
from tests.helpers.hierarchies import KINDS, case
from tests.helpers.references import affordable_sets, closed_sets

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs/support-matrix.md").read_text(encoding="utf-8")
NOT_ASKED_FOR, REFUSED = "—", "refused"
INSTANCES = 4

TRAVERSALS: dict[str, Any] = {
    "Hull()": hra.Hull(),
    'Hull(finish="none")': hra.Hull(finish="none"),
    "Hull(spend_all=True)": hra.Hull(spend_all=True),
    "Exact()": Exact(),
    "Exact(spend_all=True)": Exact(spend_all=True),
    "BestFirst()": hra.BestFirst(),
    'BestFirst(by="error")': hra.BestFirst(by="error"),
    "Threshold()": hra.Threshold(),
    "Coherent()": hra.Coherent(),
    "LevelShares({0: 0.2}, spend_all=True)": hra.LevelShares({0: 0.2}, spend_all=True),
    "Apportion()": hra.Apportion(),
    "SoftCut(0.1)": hra.SoftCut(0.1),
    "LazyBestFirst()": hra.LazyBestFirst(),
}


# ---- the page ---


def table(title: str) -> dict[str, dict[str, str]]:
    """The table below a heading: cells by row and column."""
    section = PAGE.split(f"\n## {title}\n")[1].split("\n## ")[0]
    rows = [line.strip("| ").split(" | ") for line in section.splitlines() if line.startswith("|")]
    names = rows[0][1:]
    return {row[0].strip("`"): dict(zip(names, row[1:], strict=True)) for row in rows[2:]}


ON_KINDS, WITH_MODIFIERS, REFERENCES = table("Hierarchies"), table("Modifiers"), table("References")
ON_BACKENDS = table("Backends")
CELLS = [(name, kind, cell) for name, row in ON_KINDS.items() for kind, cell in row.items()]
MODIFIED = [(name, modifier, cell) for name, row in WITH_MODIFIERS.items() for modifier, cell in row.items()]


def supported(cell: str) -> bool:
    return cell not in (REFUSED, NOT_ASKED_FOR)


def test_the_page_lists_every_traversal_kind_and_modifier():
    assert list(ON_KINDS) == list(WITH_MODIFIERS) == list(TRAVERSALS)
    assert {name.split("(")[0] for name in TRAVERSALS} >= {
        name for name in dir(hra) if hasattr(getattr(hra, name), "solve") and name != "Traversal"
    }
    assert all(list(row) == list(KINDS) for row in ON_KINDS.values())
    assert all(list(row) == list(MODIFIERS) for row in WITH_MODIFIERS.values())


def test_every_supported_cell_names_references_and_these_are_tests():
    named = {name for *_, cell in CELLS + MODIFIED if supported(cell) for name in cell.split(", ")}
    assert named == set(REFERENCES)
    for row in REFERENCES.values():
        for file, function in re.findall(r"`(\S+)::(\w+)`", row["tests"]):
            assert f"\ndef {function}(" in (ROOT / file).read_text(encoding="utf-8")


# ---- instances ---


def instances(name: str, kind: str) -> Iterator[tuple[Hierarchy, np.ndarray, np.random.Generator]]:
    """Small hierarchies of a kind that are of no simpler kind, with values for their nodes."""
    found = 0
    for seed in range(1000):
        hierarchy, values, rng = case(kind, seed, 8)
        if name == "Apportion()" and kind == "flat":
            strata = {"stratum": rng.integers(0, 3, values.size)}
            hierarchy = Hierarchy.flat(np.full(values.size, 2.0), attributes=strata)
        if name.startswith("LevelShares"):
            hierarchy = replace(hierarchy, node={"level": rng.integers(0, 2, values.size)})
        if is_proper(kind, hierarchy):
            yield hierarchy, values, rng
            found += 1
        if found == INSTANCES:
            return


def is_proper(kind: str, hierarchy: Hierarchy) -> bool:
    if kind in ("dag", "groups"):
        return hierarchy.parent is None
    return kind == "flat" or len(hierarchy.edges) > 0


def room(rng: np.random.Generator, hierarchy: Hierarchy) -> float:
    return hierarchy.base_cost + float(rng.integers(0, int(hierarchy.cost.sum()) + 1))


def allocator(name: str, hierarchy: Hierarchy) -> Plain:
    return Plain(hierarchy, Table(kind="gain"), TRAVERSALS[name])


def meet_minimums(name: str, hierarchy: Hierarchy, sets: np.ndarray, budget: float) -> np.ndarray:
    """Which sets [S] spend a fifth of the budget on level 0; all for traversals without minimums."""
    if not name.startswith("LevelShares"):
        return np.ones(len(sets), bool)
    here = np.where(hierarchy.node["level"] == 0, hierarchy.node_cost, 0.0)
    spent = np.array([here[hierarchy.active_nodes(selected)].sum() for selected in sets])
    return spent >= 0.2 * min(budget, hierarchy.total_cost) * (1 - 1e-12)


def check(name: str, allocation: Allocation, required: np.ndarray | None = None) -> None:
    """Valid, affordable, no better than the best of all sets, which is no better than the bound."""
    problem, hierarchy = allocation.problem, allocation.hierarchy
    sets = affordable_sets(problem)
    sets = sets[meet_minimums(name, hierarchy, sets, problem.budget)]
    assert meet_minimums(name, hierarchy, allocation.selected[None], problem.budget).all()
    if required is not None:
        sets = sets[sets[:, required].all(axis=1)]
        assert allocation.selected[required].all()
    assert hierarchy.is_valid(allocation.selected)
    assert hierarchy.base_cost + hierarchy.cost[allocation.selected].sum() <= problem.budget
    best = float((sets @ problem.gain).max())
    assert allocation.gain <= best * (1 + 1e-12) + 1e-12
    assert best <= allocation.upper_bound * (1 + 1e-12) + 1e-12
    if allocation.status == "optimal":
        assert allocation.gain == pytest.approx(best)


# ---- kinds ---


def plainly(name: str, hierarchy: Hierarchy, values: np.ndarray, rng: np.random.Generator) -> None:
    if name == "LazyBestFirst()":
        lazily(hierarchy, values, rng)
    else:
        check(name, allocator(name, hierarchy).allocate(values, room(rng, hierarchy)))


class Lazy(hra.LazyHierarchy):
    """A hierarchy node by node; of a graph its refinements, step by step."""

    def __init__(self, hierarchy: Hierarchy):
        self.hierarchy, self.parent = hierarchy, hierarchy.node_parent
        self.mode: Literal["replace", "add"] = "replace" if hierarchy.replaces else "add"

    def roots(self) -> list[int]:
        if self.parent is None:
            return np.flatnonzero(np.diff(self.hierarchy.predecessors[0]) == 0).tolist()
        return np.flatnonzero(self.parent < 0).tolist()

    def expand(self, node: int) -> list[int]:
        if self.parent is None:
            offsets, successors = self.hierarchy.successors
            return successors[offsets[node] : offsets[node + 1]].tolist()
        return np.flatnonzero(self.parent == node).tolist()

    def cost(self, nodes: Any) -> Any:
        return np.ones(len(nodes)) if self.parent is None else self.hierarchy.node_cost[nodes]


class LazyError(hra.LazyMetric):
    def __init__(self, error: np.ndarray):
        self.error = error

    def evaluate(self, nodes: Any, context: Any) -> Any:
        return self.error[nodes]


def lazily(hierarchy: Hierarchy, values: np.ndarray, rng: np.random.Generator) -> None:
    """Errors are sums over subtrees, so that nothing has to be repaired."""
    parent = hierarchy.node_parent
    if parent is None:
        level = np.repeat(np.arange(hierarchy.level_offsets.size - 1), np.diff(hierarchy.level_offsets))
        hra.LazyBestFirst().allocate(Lazy(hierarchy), LazyError(0.01**level), 100)
        return
    error = np.zeros(values.size)
    for v, value in enumerate(values):
        while v >= 0:
            error[v] += value
            v = parent[v]
    budget = room(rng, hierarchy)
    found = hra.LazyBestFirst().allocate(Lazy(hierarchy), LazyError(error), budget)
    problem = problem_of(hierarchy, error, "error", budget)
    best = float((affordable_sets(problem) @ problem.gain).max())
    assert found.cost == hierarchy.node_cost[found.cut].sum() <= budget
    assert found.gain <= best * (1 + 1e-12) + 1e-12
    assert best <= found.upper_bound * (1 + 1e-12) + 1e-12


def served(run: Callable[..., None], name: str, instance: tuple[Any, ...]) -> bool:
    """Whether there was an answer, which is checked; only minimums may exclude one."""
    try:
        run(name, *instance)
    except InfeasibleShares:
        assert name.startswith("LevelShares")
        return False
    return True


@pytest.mark.parametrize(("name", "kind"), [c[:2] for c in CELLS if supported(c[2])])
def test_every_kind(name: str, kind: str):
    assert any([served(plainly, name, instance) for instance in instances(name, kind)])


@pytest.mark.parametrize(("name", "kind"), [c[:2] for c in CELLS if c[2] == REFUSED])
def test_every_refused_kind(name: str, kind: str):
    for hierarchy, values, rng in instances(name, kind):
        with warnings.catch_warnings(), pytest.raises(hra.HraError):
            warnings.simplefilter("ignore", RepairWarning)
            plainly(name, hierarchy, values, rng)


# ---- modifiers ---


def pinned(name: str, hierarchy: Hierarchy, values: np.ndarray, rng: np.random.Generator) -> None:
    node = int(rng.choice(np.flatnonzero(hierarchy.added_by >= 0)))
    required = hierarchy.added_by[[node]]
    sets = closed_sets(hierarchy)
    least = hierarchy.base_cost + (sets[sets[:, required[0]]] @ hierarchy.cost).min()
    check(name, allocator(name, hierarchy).allocate(values, max(least, room(rng, hierarchy)), pinned=[node]), required)


def previous(name: str, hierarchy: Hierarchy, values: np.ndarray, rng: np.random.Generator) -> None:
    first = allocator(name, hierarchy).allocate(values, room(rng, hierarchy))
    second = allocator(name, hierarchy).allocate(rng.permutation(values), room(rng, hierarchy), previous=first)
    check(name, second)
    assert second.churn == np.count_nonzero(first.selected != second.selected)


def pool(name: str, hierarchy: Hierarchy, values: np.ndarray, rng: np.random.Generator) -> None:
    other = Hierarchy.flat([1.0, 2.0, 1.0], attributes={"stratum": [0, 0, 1]})
    members = Plain(hierarchy, Table(values, kind="gain"), hra.Hull()), Plain(other, Table(kind="gain"), hra.Hull())
    budget = room(rng, hierarchy) + 2
    shared = hra.pool(*members, traversal=TRAVERSALS[name]).allocate((None, rng.random(3)), budget)
    check(name, shared.whole)
    assert sum(member.gain for member in shared.members) == pytest.approx(shared.whole.gain)
    assert sum(member.cost for member in shared.members) == pytest.approx(shared.whole.cost)


def exact(name: str, hierarchy: Hierarchy, values: np.ndarray, rng: np.random.Generator) -> None:
    allocation = allocator(name, hierarchy).allocate(np.where(values > 0.5, values, 0), room(rng, hierarchy))
    check(name, allocation)
    ready = ~allocation.selected & (hierarchy.cost <= allocation.budget - allocation.cost)
    for before, after in hierarchy.edges:
        ready[after] &= allocation.selected[before]
    further = allocation.selected | np.eye(len(hierarchy), dtype=bool)[ready]
    assert not meet_minimums(name, hierarchy, further, allocation.budget).any()


def curve(name: str, hierarchy: Hierarchy, values: np.ndarray, rng: np.random.Generator) -> None:
    points = allocator(name, hierarchy).curve(values)
    for cost, gain in zip(points.cost, points.gain, strict=True):
        problem = problem_of(hierarchy, values, "gain", float(cost))
        assert gain == pytest.approx((affordable_sets(problem) @ problem.gain).max())


MODIFIERS: dict[str, Callable[..., None]] = {
    "pinned": pinned,
    "previous": previous,
    "pool": pool,
    "exact": exact,
    "curve": curve,
}


@pytest.mark.parametrize(("name", "modifier"), [c[:2] for c in MODIFIED if supported(c[2])])
def test_every_modifier_on_every_kind(name: str, modifier: str):
    for kind, on_kind in ON_KINDS[name].items():
        if supported(on_kind):
            assert any([served(MODIFIERS[modifier], name, instance) for instance in instances(name, kind)])


@pytest.mark.parametrize(("name", "modifier"), [c[:2] for c in MODIFIED if c[2] == REFUSED])
def test_every_refused_modifier(name: str, modifier: str):
    for kind, on_kind in ON_KINDS[name].items():
        if supported(on_kind):
            for instance in instances(name, kind):
                with pytest.raises(hra.HraError):
                    MODIFIERS[modifier](name, *instance)


# ---- backends ---


ON_EACH = [(name, backend, cell) for name, row in ON_BACKENDS.items() for backend, cell in row.items()]


def test_the_page_lists_every_traversal_on_every_backend():
    assert set(ON_BACKENDS) == set(TRAVERSALS)
    assert all(set(row) == {"numba", "reference", "warp"} for row in ON_BACKENDS.values())


@pytest.mark.parametrize(("name", "backend"), [each[:2] for each in ON_EACH if each[2] == "equal"])
def test_a_batch_takes_what_the_traversal_takes_on_every_backend(name: str, backend: str):
    """On every kind that the traversal works on; of these, "reference" and "warp" refuse graphs."""
    traversal = TRAVERSALS[name]
    for kind in (kind for kind, cell in ON_KINDS[name].items() if cell != REFUSED):
        for hierarchy, _, rng in instances(name, kind):
            gain, budget = rng.random((2, len(hierarchy))), room(rng, hierarchy)
            run = partial(hra.allocate_batch, hierarchy, gain, budget, traversal=traversal, backend=backend)
            if backend != "numba" and hierarchy.parent is None:
                with pytest.raises(hra.HraError, match="DAG"):
                    run()
                continue
            try:
                alone = [traversal.solve(problem_of_gain(hierarchy, row, budget)) for row in gain]
            except InfeasibleShares:
                with pytest.raises(InfeasibleShares):
                    run()
                continue
            found = run()
            for row, selected, solution in zip(gain, found.selected, alone, strict=True):
                if isinstance(traversal, Exact):  # several sets may be the best
                    assert row[selected].sum() == pytest.approx(row[solution.selected].sum(), rel=1e-12)
                else:
                    np.testing.assert_array_equal(selected, solution.selected)


def problem_of_gain(hierarchy: Hierarchy, gain: np.ndarray, budget: float) -> hra.Problem:
    """Peaks are the largest gain of what each refinement opens up."""
    peak, (offsets, after) = gain.copy(), hierarchy.successors
    for r in reversed(range(gain.size)):
        peak[r] = max(peak[r], peak[after[offsets[r] : offsets[r + 1]]].max(initial=0.0))
    return hra.Problem(hierarchy, gain, 0.0, budget, "gain", True, lambda: peak)


@pytest.mark.parametrize(("name", "backend"), [each[:2] for each in ON_EACH if each[2] == REFUSED])
def test_what_a_backend_cannot_do_it_refuses_by_name(name: str, backend: str):
    with pytest.raises(BackendUnavailable, match="the backend finds hull points"):
        hra.allocate_batch(Hierarchy.flat(np.ones(3)), np.ones((1, 3)), 2, traversal=TRAVERSALS[name], backend=backend)

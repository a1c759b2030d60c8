"""The page docs/support-matrix.md is true: every entry is run on small instances against all valid sets."""

from __future__ import annotations

import re
import warnings
from collections.abc import Callable, Iterator
from dataclasses import replace
from fractions import Fraction
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Literal

import numpy as np
import pytest

import hra
from hra.allocating.allocation import Allocation
from hra.errors import BackendUnavailable, InfeasibleShares, RepairWarning
from hra.model.hierarchy import Hierarchy
from hra.testing.traversal import closed_sets
from hra.traversals.exact import Exact
from tests.helpers.allocators import Plain, Table, problem_of
from tests.helpers.hierarchies import FORESTS, KINDS, case
from tests.helpers.references import affordable_sets

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs/support-matrix.md").read_text(encoding="utf-8")
NOT_ASKED_FOR, REFUSED = "—", "refused"
INSTANCES = 4
# What a checked cell of the conditions says.
CHECKED_BY = {
    "tenths": "tens", "reals": "rational", "cheaper": "sets", "held": "sets, bias", "limited": "sets, churn",
    "kept": "file",
}  # fmt: skip

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
    cells = [cell for *_, cell in CELLS + MODIFIED if supported(cell)] + list(CHECKED_BY.values())
    named = {name for cell in cells for name in cell.split(", ")}
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
    error, budget = sums_below(hierarchy, values), room(rng, hierarchy)
    found = hra.LazyBestFirst().allocate(Lazy(hierarchy), LazyError(error), budget)
    problem = problem_of(hierarchy, error, "error", budget)
    best = float((affordable_sets(problem) @ problem.gain).max())
    assert found.cost == pytest.approx(hierarchy.node_cost[found.cut].sum(), rel=1e-12) and found.cost <= budget
    assert found.gain <= best * (1 + 1e-12) + 1e-12
    assert best <= found.upper_bound * (1 + 1e-12) + 1e-12


def sums_below(hierarchy: Hierarchy, values: np.ndarray) -> np.ndarray:
    """The sum of ``values`` [N] below each node and at it."""
    error, parent = np.zeros(values.size), hierarchy.node_parent
    assert parent is not None
    for v, value in enumerate(values):
        while v >= 0:
            error[v] += value
            v = parent[v]
    return error


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


# ---- costs, sequences and files ---


def priced(hierarchy: Hierarchy, cost: np.ndarray) -> Hierarchy:
    """The same refinements at other costs of nodes [N]."""
    made = Hierarchy.from_topology(cost, hierarchy.topology, node_parent=hierarchy.node_parent)
    return replace(made, node=hierarchy.node)


def tenths(name: str, hierarchy: Hierarchy, values: np.ndarray, rng: np.random.Generator) -> None:
    """Costs and budget in tenths choose what ten times as much does."""
    budget, fine = room(rng, hierarchy), priced(hierarchy, np.round(hierarchy.node_cost / 10, 1))
    if name == "LazyBestFirst()":
        error = sums_below(hierarchy, values)
        cuts = [
            hra.LazyBestFirst().allocate(Lazy(one), LazyError(error), limit).cut
            for one, limit in ((hierarchy, budget), (fine, budget / 10))
        ]
        assert cuts[0] == cuts[1]
        return
    whole = allocator(name, hierarchy).allocate(values, budget)
    part = allocator(name, fine).allocate(values, budget / 10)
    check(name, whole)
    np.testing.assert_array_equal(part.selected, whole.selected)
    assert (part.gain, part.cost, part.status) == (whole.gain, whole.cost / 10, whole.status)


def reals(name: str, hierarchy: Hierarchy, values: np.ndarray, rng: np.random.Generator) -> None:
    """Costs without a common unit: what is spent and the best of all sets in rational arithmetic."""
    noise = rng.random(values.size if name != "Apportion()" else 1)
    odd = priced(hierarchy, hierarchy.node_cost * (1 + noise / 10))
    budget = odd.base_cost * (1 + 1e-12) + float(rng.random() * odd.cost.sum())
    if name == "LazyBestFirst()":
        lazily(odd, values, rng)
        return
    found = allocator(name, odd).allocate(values, budget)
    spent, sets = sum(map(Fraction, odd.node_cost[found.cut].tolist())), closed_sets(odd)
    assert spent <= Fraction(budget) and odd.is_valid(found.selected)
    paid = [sum(map(Fraction, odd.node_cost[odd.active_nodes(row)].tolist())) for row in sets]
    meet = meet_minimums(name, odd, sets, budget) & [cost <= Fraction(budget) for cost in paid]
    best = float((sets[meet] @ found.problem.gain).max())
    assert found.gain <= best * (1 + 1e-12) + 1e-12 and best <= found.upper_bound * (1 + 1e-12) + 1e-12


def cheaper(name: str, hierarchy: Hierarchy, values: np.ndarray, rng: np.random.Generator) -> None:
    """Fine nodes that may cost less than the coarse ones that they replace."""
    cost = rng.integers(0, 5, values.size).astype(np.float64)
    any_price = priced(hierarchy, cost)
    least = any_price.base_cost + np.minimum(any_price.cost, 0).sum()
    budget = max(any_price.base_cost, least) + float(rng.integers(0, int(np.abs(any_price.cost).sum()) + 1))
    check(name, allocator(name, any_price).allocate(values, budget))


def held(name: str, hierarchy: Hierarchy, values: np.ndarray, rng: np.random.Generator) -> None:
    """With hysteresis: the traversal's choice where what is there gains half as much again."""
    rule, budgets = hra.Coherent(TRAVERSALS[name], hysteresis=0.5), (room(rng, hierarchy), room(rng, hierarchy))
    first = allocator(name, hierarchy).allocate(values, budgets[0])
    second = Plain(hierarchy, Table(kind="gain"), rule).allocate(rng.permutation(values), budgets[1], previous=first)
    check(name, second)
    if name != "Threshold()":  # of which the error counts, see tests/hra/traversals/test_coherent.py
        gain = second.problem.gain * np.where(first.selected, 1.5, 1.0)
        alone = TRAVERSALS[name].solve(replace(second.problem, gain=gain)).selected
        assert gain[second.selected].sum() == pytest.approx(gain[alone].sum())


def limited(name: str, hierarchy: Hierarchy, values: np.ndarray, rng: np.random.Generator) -> None:
    """At most two changes at the same budget."""
    rule, budget = hra.Coherent(TRAVERSALS[name], max_churn=2), room(rng, hierarchy)
    first = allocator(name, hierarchy).allocate(values, budget)
    second = Plain(hierarchy, Table(kind="gain"), rule).allocate(rng.permutation(values), budget, previous=first)
    check("", second)  # minimums give way to the limit
    assert second.churn is not None and second.churn <= 2


def kept(name: str, hierarchy: Hierarchy, values: np.ndarray, rng: np.random.Generator) -> None:
    """A file has the same answer with its proof, and is where the next step goes on from."""
    allocation, budget = allocator(name, hierarchy).allocate(values, room(rng, hierarchy)), room(rng, hierarchy)
    with TemporaryDirectory() as folder:
        allocation.save(Path(folder) / "a.hra")
        again = Allocation.load(Path(folder) / "a.hra")
    np.testing.assert_array_equal(again.selected, allocation.selected)
    assert repr(again) == repr(allocation) and hra.verify(again).ok
    after = [allocator(name, hierarchy).allocate(values[::-1], budget, previous=one) for one in (allocation, again)]
    np.testing.assert_array_equal(after[0].selected, after[1].selected)


CONDITIONS: dict[str, Callable[..., None]] = {
    "tenths": tenths, "reals": reals, "cheaper": cheaper, "held": held, "limited": limited, "kept": kept
}  # fmt: skip


ON_CONDITIONS = table("Costs, sequences and files")
CONDITIONED = [(name, condition, cell) for name, row in ON_CONDITIONS.items() for condition, cell in row.items()]


def outcome(name: str, condition: str) -> str:
    """What comes out of all instances: what checks them, or a refusal of each kind on which it can happen."""
    refused = served_ones = 0
    for kind in (kind for kind, cell in ON_KINDS[name].items() if supported(cell)):
        for instance in instances(name, kind):
            try:
                served_ones += served(CONDITIONS[condition], name, instance)
            except hra.HraError:
                refused += 1
    assert not (refused and served_ones), "one answer for all"
    return REFUSED if refused else CHECKED_BY[condition]


def test_the_page_lists_every_condition():
    assert list(ON_CONDITIONS) == list(TRAVERSALS)
    assert all(list(row) == list(CONDITIONS) for row in ON_CONDITIONS.values())


@pytest.mark.parametrize(("name", "condition"), [each[:2] for each in CONDITIONED if each[2] != NOT_ASKED_FOR])
def test_every_condition(name: str, condition: str):
    assert outcome(name, condition) == ON_CONDITIONS[name][condition]


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


def tied(hierarchy: Hierarchy, gain: np.ndarray) -> tuple[Hierarchy, np.ndarray]:
    return hierarchy, np.floor(3 * gain)


def in_tenths(hierarchy: Hierarchy, gain: np.ndarray) -> tuple[Hierarchy, np.ndarray]:
    return priced(hierarchy, np.round(hierarchy.node_cost / 10, 1)), gain


def in_reals(hierarchy: Hierarchy, gain: np.ndarray) -> tuple[Hierarchy, np.ndarray]:
    return priced(hierarchy, hierarchy.node_cost * np.sqrt(2 + np.arange(hierarchy.node_cost.size) / 99)), gain


def shrinking(hierarchy: Hierarchy, gain: np.ndarray) -> tuple[Hierarchy, np.ndarray]:
    cost = np.arange(hierarchy.node_cost.size)[::-1] % 5
    return priced(hierarchy, cost.astype(np.float64)), gain


def single(hierarchy: Hierarchy, gain: np.ndarray) -> tuple[Hierarchy, np.ndarray]:
    return hierarchy, gain.astype(np.float32)


ROWS: dict[str, Callable[..., tuple[Hierarchy, np.ndarray]]] = {
    "ties": tied, "tenths": in_tenths, "reals": in_reals, "cheaper": shrinking, "float32": single
}  # fmt: skip
ON_ROWS = table("Backends, costs and ties")


def test_the_page_lists_every_kind_of_rows():
    assert list(ON_ROWS) == list(ROWS)
    assert all(set(row) == {"numba", "reference", "warp"} for row in ON_ROWS.values())


@pytest.mark.parametrize("backend", ["numba", "reference", "warp"])
@pytest.mark.parametrize("rows", ROWS)
def test_rows_of_every_kind_on_every_backend(rows: str, backend: str):
    """On forests, each row with a budget of its own, by every traversal that the backend serves but `Apportion`."""
    found = set()
    for name in (n for n, row in ON_BACKENDS.items() if row[backend] == "equal" and n != "Apportion()"):
        for kind in (kind for kind in FORESTS if ON_KINDS[name][kind] != REFUSED):
            for shape, _, rng in instances(name, kind):
                hierarchy, gain = ROWS[rows](shape, rng.random((2, len(shape))))
                if rows == "cheaper" and not hierarchy.shrinks:
                    continue
                budgets = hierarchy.base_cost * (1 + 1e-12) + rng.random(2) * np.abs(hierarchy.cost).sum()
                alone = (
                    [
                        TRAVERSALS[name].solve(problem_of_gain(hierarchy, row.astype(np.float64), float(limit)))
                        for row, limit in zip(gain, budgets, strict=True)
                    ]
                    if not name.startswith("LevelShares")
                    else []
                )
                try:
                    batch = hra.allocate_batch(hierarchy, gain, budgets, traversal=TRAVERSALS[name], backend=backend)
                except InfeasibleShares:
                    continue
                except hra.HraError:
                    found.add(REFUSED)
                    continue
                found.add("equal")
                for row, selected, solution in zip(gain, batch.selected, alone, strict=False):
                    if isinstance(TRAVERSALS[name], Exact):
                        assert row[selected].sum() == pytest.approx(row[solution.selected].sum(), rel=1e-12)
                    else:
                        np.testing.assert_array_equal(selected, solution.selected)
    assert found == {ON_ROWS[rows][backend]}

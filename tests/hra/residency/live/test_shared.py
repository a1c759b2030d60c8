"""One pool for members of both kinds, with and without reads, on a virtual clock."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import hra
from hra.errors import ArrayError, BudgetTooSmall, FileError, HierarchyError, HraError, InvalidBudget
from hra.pooling.pool import PooledAllocation
from hra.residency import ForestItems, PagedHierarchy, PagedItems, Reading, SharedResidency
from tests.helpers.allocators import Plain, Table
from tests.helpers.virtual_reads import Flaky, VirtualReads

pytestmark = pytest.mark.filterwarnings("ignore::hra.errors.RepairWarning")
SEEDS = st.integers(0, 10**6)
TILE, SLOT = 4, 8


def forest(random: np.random.Generator) -> hra.Hierarchy:
    parents = np.array([-1, -1, *(random.integers(0, k) for k in range(2, 14))])
    return hra.Hierarchy.tree(parents, np.full(14, TILE), mode="add", cost_unit="bytes")


def pages(random: np.random.Generator) -> PagedHierarchy:
    parents = np.array([-1, *(random.integers(0, k) for k in range(1, 20))])
    return PagedHierarchy.of(hra.Hierarchy.tree(parents, np.ones(20)), np.arange(20) // 3, np.full(7, SLOT))


class Paged(Plain):
    """Content in pages, whose context is its errors."""

    def __init__(self, paged: PagedHierarchy, traversal: hra.Traversal) -> None:
        super().__init__(paged.hierarchy, Table(), traversal)
        self.paged = paged

    def problem_for(self, hierarchy, context, budget):
        return self.paged.problem(hra.Problem.of(self.paged.content, self.metric, context, budget), budget)


class World:
    """A pool of a forest and of pages, whose views are random errors."""

    def __init__(self, seed: int, traversal: hra.Traversal | None = None) -> None:
        self.random = np.random.default_rng(seed)
        self.forest, self.paged = forest(self.random), pages(self.random)
        traversal = traversal or hra.Hull()
        self.allocators = (Plain(self.forest, Table(), traversal), Paged(self.paged, traversal))
        self.pool = hra.pool(*self.allocators, traversal=traversal)
        self.items = [ForestItems(self.forest), PagedItems(self.paged)]
        self.cost = np.concatenate([item.cost for item in self.items])
        self.parents = np.concatenate([self.items[0].parents, self.items[1].parents])
        self.base = int(self.forest.base_cost + self.paged.hierarchy.base_cost)
        self.before: PooledAllocation | None = None

    def view(self) -> tuple[np.ndarray, np.ndarray]:
        """Errors of both members; some see nothing."""
        first, second = (self._errors(h) * self.random.integers(0, 2) for h in (self.forest, self.paged.content))
        return first, second

    def _errors(self, hierarchy: hra.Hierarchy) -> np.ndarray:
        parent, error = hierarchy.node_parent, np.empty(hierarchy.node_cost.size)
        assert parent is not None
        children = np.bincount(parent[parent >= 0], minlength=error.size)
        for v in range(error.size):
            most = 100.0 if parent[v] < 0 else error[parent[v]] / (children[parent[v]] or 1)
            error[v] = self.random.uniform(0, most)
        return error

    def allocate(self, view, budget: float):
        pooled = self.before = self.pool.allocate(view, budget, previous=self.before)
        return pooled.members


def follow(frame, there: set[int], world: World, first: int = 14) -> None:
    """Carry out a frame as an engine does, one step after the other."""
    for m, part in enumerate(frame.members):
        for item in part.evictions.tolist():
            there.remove(item + m * first)
        for item in part.loads.tolist():
            assert item + m * first not in there
            there.add(item + m * first)
        mine = {item - m * first for item in there if (item >= first) == bool(m)}
        assert mine == set(np.flatnonzero(part.resident).tolist())
        assert not set(part.evictions.tolist()) & (set(part.wanted.tolist()) | set(part.loads.tolist()))
        assert set(part.queued.tolist()) == set(part.wanted.tolist()) - mine


@given(seed=SEEDS, extra=st.integers(0, 90), upload=st.none() | st.integers(SLOT, 30))
def test_both_members_advance_one_pool(seed: int, extra: int, upload: int | None) -> None:
    world = World(seed)
    shared, there = SharedResidency(world.items, world.base + extra, upload_bytes=upload), set()
    views = [world.view() for _ in range(6)]
    for k, view in enumerate(views):
        soon = [world.pool.allocate(ahead, shared.budget).members for ahead in views[k + 1 : k + 3]]
        frame = shared.advance(world.allocate(view, shared.budget), soon)
        follow(frame, there, world)
        assert world.cost[list(there)].sum() == shared.used_bytes == frame.held_bytes <= world.base + extra
        loaded = sum(world.cost[part.loads + 14 * m].sum() for m, part in enumerate(frame.members))
        assert upload is None or loaded - (world.base if k == 0 else 0) <= upload
        assert upload is not None or not any(part.queued.size for part in frame.members)
        assert all(world.parents[i] < 0 or world.parents[i] in there for i in there)
    assert shared.peak_bytes <= world.base + extra


@given(seed=SEEDS, share=st.floats(0, 0.8), extra=st.integers(0, 90), limit=st.integers(SLOT + 1, 60))
def test_frames_go_on_while_reads_are_late_and_fail(seed: int, share: float, extra: int, limit: int) -> None:
    """Teleports on every frame; reads end in any order, up to ten frames late."""
    world, machine = World(seed), VirtualReads(seed)
    flaky = Flaky(lambda item: ("data", item), 0.0, seed)
    reading = Reading(flaky, world.cost + 1, limit, executor=machine, clock=machine.clock)
    pinned = int((world.cost + 1)[world.parents == -1].sum())
    pool = world.base + max(limit, pinned) + extra
    shared, there, failures = SharedResidency(world.items, pool, reading=reading), set(), 0
    for k in range(16):
        frame = shared.advance(world.allocate(world.view(), shared.budget), [])
        flaky.share = share
        follow(frame, there, world)
        assert frame.held_bytes <= pool and shared.used_bytes <= pool
        assert set(frame.data) == {(m, i) for m, part in enumerate(frame.members) for i in part.loads.tolist()}
        assert all(data == ("data", item + 14 * m) for (m, item), data in frame.data.items())
        failures += len(frame.failures)
        machine.now += 0.01
        assert k or {i for i in range(len(world.cost)) if world.parents[i] == -1} == there
    assert failures <= flaky.failed and shared.peak_bytes <= pool
    shared.close()


@given(seed=SEEDS, share=st.floats(0, 0.8), limit=st.integers(SLOT + 1, 60))
def test_a_view_that_stays_gets_all_that_it_wants(seed: int, share: float, limit: int) -> None:
    world, machine = World(seed), VirtualReads(seed)
    flaky = Flaky(lambda item: item, 0.0, seed)
    reading = Reading(flaky, world.cost + 1, limit, executor=machine, clock=machine.clock)
    shared = SharedResidency(world.items, world.base + 150, upload_bytes=SLOT, reading=reading)
    allocations = world.allocate(tuple(world._errors(h) for h in (world.forest, world.paged.content)), shared.budget)
    frame = shared.advance(allocations)
    flaky.share = share
    for _ in range(2000):
        machine.now += 0.5
        frame = shared.advance(allocations)
        if not any(part.queued.size for part in frame.members):
            break
    assert all(part.resident[part.wanted].all() for part in frame.members)
    gain, chosen = (
        values[world.paged.refinements] for values in (allocations[1].problem.gain, allocations[1].selected)
    )
    shown = world.paged.shown(gain, frame.members[1].resident)
    assert (shown | ~chosen | (gain == 0)).all()


def test_hysteresis_keeps_what_is_nearly_as_good() -> None:
    changes = {}
    for name, traversal in (("plain", hra.Hull()), ("coherent", hra.Coherent(hysteresis=1.0))):
        world = World(3, traversal)
        shared, noise = SharedResidency(world.items, world.base + 24), np.random.default_rng(0)
        still = tuple(world._errors(h) for h in (world.forest, world.paged.content))
        moved = 0
        for _ in range(60):
            view = tuple(errors * noise.uniform(0.7, 1.0, errors.size) for errors in still)
            frame = shared.advance(world.allocate(view, shared.budget))
            moved += sum(part.loads.size for part in frame.members)
        changes[name] = moved
    assert changes["coherent"] < changes["plain"] / 2


def test_every_item_says_why_it_is_there() -> None:
    world = World(1)
    shared = SharedResidency(world.items, world.base + 16)
    shared.advance(world.allocate(world.view(), shared.budget))
    texts = [str(shared.explain(item, member)) for member, count in ((0, 14), (1, 7)) for item in range(count)]
    assert all("item" in text for text in texts)
    assert sum("the coarsest items always are" in text for text in texts) == int((world.parents == -1).sum())


def test_what_cannot_work_is_refused_with_what_would() -> None:
    world = World(0)
    with pytest.raises(HraError, match="at least one member"):
        SharedResidency([], 100)
    with pytest.raises(BudgetTooSmall, match=f"use at least {world.base}"):
        SharedResidency(world.items, world.base - 1)
    with pytest.raises(BudgetTooSmall, match=f"use at least {SLOT}"):
        SharedResidency(world.items, world.base + 50, upload_bytes=SLOT - 1)
    held = np.full(21, 5)
    with pytest.raises(BudgetTooSmall, match=f"use at least {world.base + 40}"):
        SharedResidency(world.items, world.base + 39, reading=Reading(int, held, 40))
    SharedResidency(world.items, world.base + 40, reading=Reading(int, held, 40))
    shared = SharedResidency(world.items, world.base + 8)
    members = world.allocate(world.view(), shared.budget)
    with pytest.raises(HierarchyError, match="other textures"):
        shared.advance(members[::-1])
    with pytest.raises(HraError, match="1 allocations for 2 members"):
        shared.advance(members[:1])
    everything = world.allocate(tuple(world._errors(h) + 1 for h in (world.forest, world.paged.content)), np.inf)
    with pytest.raises(InvalidBudget, match="allocate within"):
        shared.advance(everything)

    def broken(item: int) -> int:
        raise OSError("unplugged")

    shared = SharedResidency(world.items, world.base + 90, reading=Reading(broken, held, 40))
    for _ in range(2):  # nothing has changed after the first one
        with pytest.raises(FileError, match="unplugged"):
            shared.advance(world.allocate(world.view(), shared.budget))


def test_a_lane_without_reads_has_nothing_to_close() -> None:
    world = World(0)
    SharedResidency(world.items, world.base).close()
    machine = VirtualReads(0)
    shared = SharedResidency(world.items, world.base + 48, reading=Reading(int, np.full(21, 8), 48, executor=machine))
    assert shared.budget == world.base  # what is in flight takes its part of the pool
    shared.advance(world.allocate(world.view(), shared.budget))
    shared.close()
    assert world.base <= shared.used_bytes <= world.base + 48


def test_a_refused_frame_loses_no_failure() -> None:
    world, machine = World(3), VirtualReads(0)
    flaky = Flaky(lambda item: item, 0.0, 0)
    reading = Reading(flaky, world.cost, 16, executor=machine, clock=machine.clock)
    shared = SharedResidency(world.items, world.base + 64, reading=reading)
    errors = tuple(world._errors(h) + 1 for h in (world.forest, world.paged.content))
    everything, fits = (world.allocate(errors, budget) for budget in (np.inf, shared.budget))
    shared.advance(fits)
    flaky.share = 1.0
    shared.advance(fits)
    machine.now = 0.2  # all reads have failed
    with pytest.raises(InvalidBudget, match="allocate within"):
        shared.advance(everything)
    assert len(shared.advance(fits).failures) == flaky.failed > 0
    assert not shared.advance(fits).failures


def test_a_closed_pool_loads_no_more_and_says_so() -> None:
    """What the last frame uploaded was looked for in vain."""
    world, machine = World(3), VirtualReads(0)
    reading = Reading(lambda item: item, world.cost, 16, executor=machine, clock=machine.clock)
    shared = SharedResidency(world.items, world.base + 64, reading=reading)
    fits = world.allocate(tuple(world._errors(h) + 1 for h in (world.forest, world.paged.content)), shared.budget)
    for _ in range(2):
        shared.advance(fits)
        machine.now += 0.1
    assert shared.advance(fits).data
    shared.close()
    with pytest.raises(HraError, match="closed"):
        shared.advance(fits)


@pytest.mark.parametrize("wrong", [float("nan"), None, "90", True, -1])
def test_pools_that_are_no_numbers_are_refused(wrong: Any) -> None:
    with pytest.raises(InvalidBudget, match="pool_bytes must be a number"):
        SharedResidency(World(0).items, wrong)


@pytest.mark.parametrize("count", [5, 50])
def test_reads_of_another_number_of_items_are_refused(count: int) -> None:
    with pytest.raises(ArrayError, match=f"{count} numbers of bytes"):
        SharedResidency(World(0).items, 500, reading=Reading(lambda item: item, np.ones(count), 10))


def test_an_item_of_another_member_is_not_explained() -> None:
    shared = SharedResidency(World(0).items, 500)
    for item, member in ((14, 0), (-1, 1), (0, 2), (0, -1)):
        with pytest.raises(ArrayError, match="out of range"):
            shared.explain(item, member)


def test_what_a_member_wants_beyond_its_own_items_is_refused() -> None:
    """It was taken for items of the next member."""
    mips = hra.Hierarchy.chains([3], [4, 16, 64], cost_unit="bytes")

    class Wanting(ForestItems):
        def wanted(self, allocation):
            return np.array([0, 3]), np.ones(2)

    allocation = hra.solve(mips, 90, gains=[0, 1.0, 1.0])
    shared = SharedResidency([Wanting(mips), ForestItems(mips)], pool_bytes=160)
    with pytest.raises(ArrayError, match=r"wanted of Wanting\[1\] = 3"):
        shared.advance([allocation, allocation])


@pytest.mark.parametrize("given", [None, [None], 5], ids=repr)
def test_what_is_no_allocation_for_each_member_is_named(given: Any) -> None:
    mips = hra.Hierarchy.chains([3], [4, 16, 64], cost_unit="bytes")
    with pytest.raises(HraError, match="must be a"):
        SharedResidency([ForestItems(mips)], pool_bytes=160).advance(given)


def test_items_are_numbered_as_in_the_member_that_is_asked_for() -> None:
    mips = hra.Hierarchy.chains([3], [4, 64, 64], cost_unit="bytes")
    reading = Reading(abs, np.ones(6), 2, executor=VirtualReads(0))
    shared = SharedResidency([ForestItems(mips)] * 2, pool_bytes=400, reading=reading)
    shared.advance([hra.solve(mips, 4, gains=[0, 0.0, 0.0]), hra.solve(mips, 200, gains=[0, 1.0, 1.0])])
    why = shared.explain(2, 1)
    assert (why.item, why.missing_parent) == (2, 1) and str(why).startswith("item 2 is queued")


@pytest.mark.parametrize("item", [-1, 6, 0.5])
def test_only_items_there_are_belong_to_a_member(item: Any) -> None:
    shared = SharedResidency([ForestItems(hra.Hierarchy.chains([3, 3], [4, 16, 64] * 2))], pool_bytes=160)
    with pytest.raises(ArrayError, match=r"item\[0\]"):
        shared.member_of(item)


@pytest.mark.parametrize("members", [hra.Hierarchy.flat([1.0]), [hra.Hierarchy.flat([1.0])], [None]], ids=repr)
def test_what_is_no_member_is_named(members: Any) -> None:
    with pytest.raises(HraError, match="ForestItems"):
        SharedResidency(members, pool_bytes=160)


def test_what_is_no_reading_or_no_list_of_frames_to_come_is_named() -> None:
    mips = hra.Hierarchy.chains([3], [4, 16, 64], cost_unit="bytes")
    wrong: Any = 5
    with pytest.raises(HraError, match="reading must be a Reading"):
        SharedResidency([ForestItems(mips)], pool_bytes=160, reading=wrong)
    allocation = hra.solve(mips, 90, gains=[0, 1.0, 1.0])
    with pytest.raises(HraError, match="upcoming must be a Sequence"):
        SharedResidency([ForestItems(mips)], pool_bytes=160).advance([allocation], wrong)

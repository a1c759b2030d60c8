"""A pool of bytes through any sequence of frames, teleports and late data, beside a plain account of its events."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from hra.errors import InvalidBudget
from hra.residency import ResidentPool

ITEMS = 12


class Pool(RuleBasedStateMachine):
    """The plain model is a set of items that the events fill and empty."""

    @initialize(seed=st.integers(0, 10**6), upload=st.one_of(st.none(), st.integers(6, 20)))
    def make(self, seed: int, upload: int | None) -> None:
        random = np.random.default_rng(seed)
        self.cost = random.integers(1, 6, ITEMS)
        self.parents = np.r_[-1, -1, [random.integers(0, i) for i in range(2, ITEMS)]]
        coarsest = np.flatnonzero(self.parents == -1).tolist()
        least = int(self.cost[coarsest].sum())
        self.bytes, self.upload = least + int(random.integers(5, 25)), upload
        self.pool = ResidentPool(self.cost, self.parents, pool_bytes=self.bytes, upload_bytes=upload, prefetch=1)
        self.held, self.pinned, self.quiet, self.last = set(coarsest), set(coarsest), 0, set[int]()

    def _within(self, items: set[int]) -> set[int]:
        """Items with their ancestors, as many as fit beside the coarsest ones."""
        chosen: set[int] = set()
        for item in sorted(items):
            chain, at = {item}, item
            while self.parents[at] >= 0:
                at = int(self.parents[at])
                chain.add(at)
            if sum(self.cost[list(chosen | chain | self.pinned)]) <= self.bytes:
                chosen |= chain
        return chosen

    def _serve(self, wanted: set[int], **options: object) -> None:
        gain = 1.0 + np.arange(len(wanted))
        changes = self.pool.advance(sorted(wanted), gain, **options)  # pyright: ignore[reportArgumentType]
        loaded = 0
        for event in changes.events.tolist():
            if event >= 0:
                assert event not in self.held
                above = int(self.parents[event])
                assert above < 0 or above in self.held  # coarse before fine
                self.held.add(event)
                loaded += int(self.cost[event])
            else:
                gone = -1 - event
                assert gone in self.held and gone not in self.pinned
                assert not any(self.parents[item] == gone for item in self.held)
                self.held.remove(gone)
            assert sum(self.cost[list(self.held)]) <= self.bytes  # after each event, not only at the end
        assert self.upload is None or loaded <= self.upload
        assert set(changes.queued.tolist()) == wanted - self.held
        self.quiet = self.quiet + 1 if wanted == self.last and not options else 0
        self.last = wanted

    @rule(items=st.sets(st.integers(0, ITEMS - 1), max_size=6))
    def teleport(self, items: set[int]) -> None:
        self._serve(self._within(items))

    @rule()
    def stay(self) -> None:
        self._serve(self.last)

    @rule(
        items=st.sets(st.integers(0, ITEMS - 1), max_size=4), next_ones=st.sets(st.integers(0, ITEMS - 1), max_size=4)
    )
    def known_path(self, items: set[int], next_ones: set[int]) -> None:
        after = sorted(self._within(next_ones))
        self._serve(self._within(items), upcoming=[after])

    @rule(items=st.sets(st.integers(0, ITEMS - 1), max_size=6), late=st.sets(st.integers(0, ITEMS - 1)))
    def late_data(self, items: set[int], late: set[int]) -> None:
        ready = np.ones(ITEMS, np.bool_)
        ready[sorted(late)] = False
        before = set(self.held)
        self._serve(self._within(items), ready=ready)
        assert not (self.held - before) & late

    @rule()
    def too_much(self) -> None:
        if sum(self.cost) > self.bytes:
            before = self.pool.frame
            with pytest.raises(InvalidBudget):
                self.pool.advance(range(ITEMS))
            assert self.pool.frame == before  # a refused frame changes nothing

    @invariant()
    def the_pool_is_what_its_events_say(self) -> None:
        if hasattr(self, "pool"):
            assert set(np.flatnonzero(self.pool.resident).tolist()) == self.held
            assert self.pool.used_bytes == sum(self.cost[list(self.held)])
            assert self.pinned <= self.held

    @precondition(lambda self: getattr(self, "quiet", 0) >= ITEMS)
    @invariant()
    def a_view_that_stays_gets_everything(self) -> None:
        assert self.last <= self.held


TestPool = Pool.TestCase
TestPool.settings = settings(max_examples=60, stateful_step_count=30, deadline=None, derandomize=True)

"""The loader on a virtual clock and on threads."""

from __future__ import annotations

import gc
import sys
import threading
import time
import traceback
import weakref
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hra.errors import ArrayError, BudgetTooSmall, FileError, HraError
from hra.residency import Backoff, Loader, ReadFailure, Reading
from tests.helpers.virtual_reads import Flaky, VirtualReads

COUNT = 20


def loader_on(machine: VirtualReads, read, limit: int = 40, held: np.ndarray | None = None) -> Loader:
    held = np.full(COUNT, 10) if held is None else held
    reading = Reading(read, held, limit, executor=machine, clock=machine.clock)
    return Loader(reading)


@given(seed=st.integers(0, 10**6), share=st.floats(0, 0.9))
def test_bytes_stay_bounded_and_what_arrives_is_what_was_read(seed: int, share: float) -> None:
    random, machine = np.random.default_rng(seed), VirtualReads(seed)
    held = random.integers(1, 20, COUNT)
    loader = loader_on(machine, Flaky(lambda item: -item, share, seed), 30, held)
    for _ in range(60):
        wanted = random.permutation(COUNT)[: random.integers(0, 8)].tolist()
        loader.collect()
        loader.request(wanted)
        assert loader.held_bytes <= 30
        assert all(data == -item for item, data in loader.arrived.items())
        assert set(loader.arrived) <= set(wanted)
        assert loader.held_bytes >= held[list(loader.arrived)].sum()
        machine.now += random.uniform(0, 0.1)
    loader.request(())
    machine.now += 1
    loader.collect()
    assert loader.held_bytes == 0 and not loader.arrived


@given(seed=st.integers(0, 10**6))
def test_what_matters_most_arrives_whatever_fills_the_limit(seed: int) -> None:
    """Data that cannot be used yet makes room for what comes before it."""
    machine = VirtualReads(seed)
    loader = loader_on(machine, lambda item: item)
    loader.request([4, 5, 6, 7])
    machine.now = 1.0
    loader.collect()
    assert sorted(loader.arrived) == [4, 5, 6, 7] and loader.held_bytes == 40
    loader.request([1, 4, 5, 6, 7])
    assert loader.held_bytes == 40
    machine.now = 2.0
    loader.collect()
    assert sorted(loader.arrived) == [1, 4, 5, 6]


def test_faults_are_reported_once_and_retried_later_and_later() -> None:
    machine, calls = VirtualReads(0, slowest=1e-9), []

    def read(item: int) -> int:
        calls.append(machine.now)
        raise OSError("gone")

    loader = loader_on(machine, read)
    failures = []
    for _ in range(4000):
        failures += loader.collect()
        loader.request([3])
        machine.now += 0.05
    assert len(failures) == 1 and failures[0].item == 3 and "gone" in str(failures[0])
    waits = np.diff(calls)
    assert (np.diff(waits) > -0.11).all() and waits[0] == pytest.approx(0.25, abs=0.11)
    assert waits.max() == pytest.approx(30, abs=0.2)
    assert len(calls) < 15 and loader.held_bytes <= 10


def test_an_item_that_was_read_in_between_is_reported_again() -> None:
    machine, broken = VirtualReads(0, slowest=1e-9), [True]

    def read(item: int) -> int:
        if broken[0]:
            raise ValueError("truncated")
        return item

    loader, failures = loader_on(machine, read), []
    for state in (True, False, True):
        broken[0] = state
        loader.request([2])
        machine.now += 1
        failures += loader.collect()
        loader.request(())
        machine.now += 60
    assert [failure.item for failure in failures] == [2, 2]


def test_a_read_that_never_ends_holds_its_bytes_and_nothing_else() -> None:
    machine = VirtualReads(0, slowest=1e-9)
    loader = loader_on(machine, lambda item: item, limit=20)
    loader.request([1])
    setattr(loader._flying[1], "ends_at", np.inf)  # noqa: B010 (the virtual machine's own kind of future)
    machine.now = 1.0
    for items in ([2], [3], [4]):
        loader.request(items)
        machine.now += 1
        loader.collect()
        assert sorted(loader.arrived) == items and loader.held_bytes == 20
    loader.request([1])  # wanted again: the read goes on
    assert loader.held_bytes == 10 and 1 in loader._flying


def test_threads_read_and_close_ends_them() -> None:
    gate = threading.Event()

    def read(item: int) -> bytes:
        gate.wait(20)
        return bytes([item])

    with Loader(Reading(read, np.full(5, 1), 4, threads=2)) as loader:
        loader.request([0, 1, 2, 3, 4])
        assert loader.held_bytes == 4 and not loader.arrived
        loader.request([3])  # two run, two are cancelled before they begin
        assert loader.held_bytes == 3
        gate.set()
        while 3 not in loader.arrived or loader.held_bytes > 1:
            loader.collect()
        assert loader.arrived == {3: b"\x03"}


def test_a_read_that_exits_is_a_failure_and_gives_its_bytes_back() -> None:
    """What ends a thread ends no program: a decoder may call ``sys.exit``."""
    with Loader(Reading(lambda item: sys.exit(3), np.full(2, 5), 10)) as loader:
        loader.request([0, 1])
        failures: list[ReadFailure] = []
        while len(failures) < 2:
            failures += loader.collect()
        assert {type(failure.error) for failure in failures} == {SystemExit}
        assert loader.held_bytes == 0 and not loader.arrived


def test_what_is_always_held_and_exits_names_the_item() -> None:
    with (
        Loader(Reading(lambda item: sys.exit(3), np.full(2, 5), 10)) as loader,
        pytest.raises(FileError, match="item 1"),
    ):
        loader.read_now(1)


def test_an_executor_that_takes_no_call_is_a_failure_of_the_item_that_is_tried_again() -> None:
    class Full(ThreadPoolExecutor):
        refusing = True

        def submit(self, fn: Any, /, *args: Any, **kwargs: Any) -> Any:
            if self.refusing:
                raise RuntimeError("the queue is full")
            return super().submit(fn, *args, **kwargs)

    now = [0.0]
    with Full(1) as executor:
        loader = Loader(Reading(lambda item: item, np.full(2, 5), 10, executor=executor, clock=lambda: now[0]))
        loader.request([0, 1])
        (first, second) = loader.collect()
        assert (first.item, second.item, loader.held_bytes) == (0, 1, 0) and "queue is full" in str(first)
        loader.request([0])
        assert not loader.collect() and loader.held_bytes == 0  # it waits
        executor.refusing, now[0] = False, first.retry_at
        loader.request([0])
        while not loader.arrived:
            loader.collect()
        assert loader.arrived == {0: 0}


def test_bad_settings_are_refused() -> None:
    with pytest.raises(BudgetTooSmall, match="the limit is 9"):
        Loader(Reading(int, np.full(3, 10), 9))
    with pytest.raises(ArrayError):
        Loader(Reading(int, np.array([np.nan]), 9))
    for first, most in ((0, 1), (2, 1), (1, np.inf)):
        with pytest.raises(HraError, match="cannot wait"):
            Backoff(first, most)


def test_what_is_always_held_is_read_at_once_or_refused() -> None:
    tries = []

    def read(item: int) -> int:
        tries.append(item)
        if len(tries) < 3:
            raise OSError("busy")
        return 7

    loader = Loader(Reading(read, np.full(3, 1), 9))
    assert loader.read_now(1) == 7 and tries == [1, 1, 1]

    def broken(item: int) -> int:
        raise OSError("no such file")

    with pytest.raises(FileError, match="no such file"):
        Loader(Reading(broken, np.full(3, 1), 9)).read_now(0)


@pytest.mark.parametrize("held", [0, -5])
def test_reads_that_take_no_bytes_are_refused(held: int) -> None:
    """With bytes below 0 the limit held nothing back."""
    with pytest.raises(ArrayError, match=r"held_bytes\[0\]"):
        Loader(Reading(lambda item: item, np.full(3, held), 10))


def test_parts_of_bytes_are_rounded_up() -> None:
    loader = loader_on(VirtualReads(0), lambda item: item, 2, np.full(COUNT, 0.5))
    loader.request([1, 2, 3])
    assert loader.held_bytes == 2


@pytest.mark.parametrize("wrong", [{"limit_bytes": np.nan}, {"limit_bytes": None}, {"threads": 0}, {"threads": 1.5}])
def test_limits_and_threads_that_are_none_are_refused(wrong: dict[str, Any]) -> None:
    options: dict[str, Any] = {"limit_bytes": 10, **wrong}
    with pytest.raises(HraError, match=r"must be a number|threads"):
        Loader(Reading(lambda item: item, np.full(3, 1), **options))


def test_items_are_asked_for_once_and_only_those_there_are() -> None:
    """The second mention of an item made room for what is less important than its first."""
    loader = loader_on(VirtualReads(0), lambda item: item, 10)
    loader.request([1, 2, 1])
    assert loader.held_bytes == 10
    loader.request([1])
    assert len(loader._flying) == 1
    for wrong in (-1, COUNT):
        with pytest.raises(ArrayError, match="out of range"):
            loader.request([wrong])


def test_a_closed_loader_says_so() -> None:
    loader = Loader(Reading(lambda item: item, np.full(3, 1), 10))
    loader.close()
    loader.close()
    with pytest.raises(HraError, match="closed"):
        loader.request([1])


class Blob:
    """Data whose end can be seen."""


@pytest.mark.parametrize("keeps", [True, False], ids=["failures are kept", "failures are dropped"])
def test_what_failed_keeps_no_data_in_memory(keeps: bool) -> None:
    """By its traceback it held all that had arrived beside it, and what the read had made: bytes that nobody counts."""
    made: list[weakref.ref[Blob]] = []

    def read(item: int) -> Blob:
        blob = Blob()
        made.append(weakref.ref(blob))
        if item == 1:
            raise OSError("damaged")
        return blob

    def one_frame(loader: Loader) -> list[ReadFailure]:
        loader.request([0, 1, 2])
        while len(made) < 3 or not all(future.done() for future in loader._flying.values()):
            time.sleep(0.001)
        failures = loader.collect()
        uploaded = [loader.arrived[item] for item in (0, 2)]
        for item in (0, 2):
            loader.release(item)
        assert len(uploaded) == 2
        return failures if keeps else []

    gc.disable()
    try:
        with Loader(Reading(read, np.full(3, 10), 30, threads=1)) as loader:
            failures = one_frame(loader)
            assert loader.held_bytes == 0 and not any(blob() for blob in made)
    finally:
        gc.enable()
    for failure in failures:
        lines = [frame.name for frame in traceback.extract_tb(failure.error.__traceback__)]
        assert lines[-1] == "read"  # where it failed can still be seen


@pytest.mark.parametrize(
    ("reading", "named"),
    [
        (5, "reading must be a Reading"),
        (Reading(None, np.ones(3), 10), "read must be a function"),  # pyright: ignore
        (Reading(abs, np.array([1e300]), 2**60), "an item takes"),
    ],
)
def test_readings_that_can_read_nothing_are_refused(reading: Any, named: str) -> None:
    with pytest.raises(HraError, match=named):
        Loader(reading)


def test_seconds_are_numbers() -> None:
    with pytest.raises(HraError, match="cannot wait"):
        Backoff("1")  # pyright: ignore

"""A property computed once: kept, named, the same for all threads, and without a lock that a fork can inherit held."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest

from hra.caching import Scratch, cached_property
from tests.helpers.scripts import ROOT

SOURCES = [path for room in ("hra", "domains", "kernels") for path in (ROOT / room).rglob("*.py")]
_HELD = """
import os, signal, threading
from hra.caching import cached_property

inside = threading.Event()

class Slow:
    def __init__(self, wait): self.wait = wait
    @cached_property
    def value(self):
        if self.wait:
            inside.set()
            threading.Event().wait()
        return 7

threading.Thread(target=lambda: Slow(True).value, daemon=True).start()
inside.wait()
child = os.fork()
if child == 0:
    signal.alarm(5)
    os._exit(Slow(False).value)
print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), flush=True)
os._exit(0)
"""


@dataclass(frozen=True)
class Counted:
    """Counts how often its property was computed."""

    calls: list[int]

    @cached_property
    def value(self) -> list[int]:
        """A new list for each call."""
        self.calls.append(1)
        time.sleep(0.01)
        return [len(self.calls)]


def test_it_is_computed_once_and_kept_in_the_object() -> None:
    one = Counted([])
    assert one.value is one.value and one.calls == [1] and one.__dict__["value"] is one.value
    del one.__dict__["value"]
    assert one.value == [2]
    assert isinstance(Counted.value, cached_property) and Counted.value.__doc__ == "A new list for each call."


def test_an_error_is_not_kept() -> None:
    class Failing:
        tries = 0

        @cached_property
        def value(self) -> int:
            self.tries += 1
            if self.tries == 1:
                raise ValueError("the first time")
            return self.tries

    one = Failing()
    with pytest.raises(ValueError, match="first"):
        _ = one.value
    assert one.value == 2


def test_all_threads_get_the_same_value() -> None:
    one, seen = Counted([]), list[Any]()
    threads = [threading.Thread(target=lambda: seen.append(one.value)) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len({id(value) for value in seen}) == 1 and len(seen) == 8


@pytest.mark.case(95)
@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork on this system")
def test_a_forked_child_does_not_wait_for_a_property_that_the_parent_computes() -> None:
    done = subprocess.run([sys.executable, "-c", _HELD], capture_output=True, text=True, timeout=60)
    assert done.stdout.strip() == "7", f"{done.stdout}{done.stderr} ({-signal.SIGALRM}: it waited)"


def test_the_library_uses_no_other() -> None:
    lines = [line for path in SOURCES for line in path.read_text("utf-8").splitlines() if "cached_property" in line]
    assert sum("@cached_property" in line for line in lines) > 100
    assert not [line for line in lines if "functools" in line and "import" in line]


def test_memory_is_given_again_until_its_shape_changes():
    scratch = Scratch()
    first = scratch.array("a", (3, 2))
    assert first is scratch.array("a", (3, 2))
    assert scratch.array("b", (3, 2)) is not first
    wider = scratch.array("a", (4, 2), np.float32)
    assert (wider.shape, wider.dtype) == ((4, 2), np.float32)


def test_every_thread_has_its_own():
    scratch, found = Scratch(), []
    thread = threading.Thread(target=lambda: found.append(scratch.array("a", (2,))))
    thread.start()
    thread.join()
    assert found[0] is not scratch.array("a", (2,))

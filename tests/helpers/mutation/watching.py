"""Which lines of some files a test runs, and how many seconds of a processor it takes."""

from __future__ import annotations

import signal
import sys
import time
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from tests.helpers.mutation.changes import ROOT

# Steps of one function in one test, after which its lines are taken as known.
_EVENTS = 2_000


@dataclass
class Watch:
    """Notes lines from entering to leaving; a test that takes longer than ``most`` seconds is stopped."""

    files: frozenset[str]
    most: float
    found: set[tuple[str, int]] = field(default_factory=set)
    counts: Counter[Any] = field(default_factory=Counter)

    def run(self, item: pytest.Item) -> dict[str, Any]:
        """Run a test: its seconds, whether it passed, its lines."""
        failed, begin = item.session.testsfailed, time.process_time()
        signal.signal(signal.SIGVTALRM, _too_slow)
        signal.setitimer(signal.ITIMER_VIRTUAL, self.most, 0.5)  # again, if the first one was caught
        sys.settrace(self._called)
        try:
            item.ihook.pytest_runtest_protocol(item=item, nextitem=None)
        finally:
            sys.settrace(None)
            signal.setitimer(signal.ITIMER_VIRTUAL, 0)
        seconds = time.process_time() - begin
        passed = item.session.testsfailed == failed and seconds < self.most
        lines = sorted((_below(file), line) for file, line in self.found)
        return {"seconds": round(seconds, 3), "passed": passed, "lines": lines}

    def _called(self, frame: Any, event: str, argument: Any) -> Any:
        code = frame.f_code
        if code.co_filename not in self.files or self.counts[code] > _EVENTS:
            return None
        self.found.add((code.co_filename, code.co_firstlineno))
        return self._line

    def _line(self, frame: Any, event: str, argument: Any) -> Any:
        self.found.add((frame.f_code.co_filename, frame.f_lineno))
        self.counts[frame.f_code] += 1
        frame.f_trace_lines = self.counts[frame.f_code] <= _EVENTS
        return self._line


def _below(file: str) -> str:
    return Path(file).resolve().relative_to(ROOT).as_posix()


def _too_slow(*_: object) -> None:
    raise TimeoutError("too many seconds")

"""A session of pytest that collects tests once, and judges each change in a fork of itself."""

from __future__ import annotations

import contextlib
import json
import os
import resource
import signal
import sys
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

from tests.helpers.mutation.changes import ROOT, Mutant
from tests.helpers.mutation.forking import forked
from tests.helpers.mutation.putting import Unchanged, living, put
from tests.helpers.mutation.watching import Watch

OPTIONS = ("-q", "-s", "-n", "0", "-p", "no:cacheprovider", "--assert=plain", "--disable-warnings", "--tb=no")
# Seconds of a processor: a test that judges, with its lines counted; all tests of one change, likewise; what a test
# may take beyond thrice its own. Bytes of addresses; the exit code of a change that is not there.
_SLOW, _ALL, _PATIENCE, _MEMORY, _UNCHANGED = 5.0, 20.0, 2.0, 8 << 30, 77


class Session:
    """A plug-in of pytest: the tests of some folders judge changes of some files, in a loop that the caller gives."""

    def __init__(self, files: list[str], seen: Path, loop: Callable[[Session], None]) -> None:
        self.files, self.store, self.loop = files, seen, loop
        self.items: dict[str, pytest.Item] = {}
        self.seconds: dict[str, float] = {}
        self.of_line: dict[tuple[str, int], set[str]] = {}

    def run(self, tests: tuple[str, ...]) -> None:
        """Collect, watch, judge."""
        for file in self.files:  # what is imported on first use is not there to be changed
            import_module(_module(file))
        os.chdir(ROOT)
        with open(os.devnull, "w") as nowhere, contextlib.redirect_stdout(nowhere):
            pytest.main([*OPTIONS, *tests], plugins=[self])

    def pytest_collection(self) -> None:
        """Let Hypothesis end at the first failure, and not look for a smaller one."""
        from hypothesis import Phase, settings

        phases = (Phase.explicit, Phase.generate)
        settings.register_profile("mutants", settings(), phases=phases, report_multiple_bugs=False, database=None)
        settings.load_profile("mutants")

    def pytest_runtestloop(self, session: pytest.Session) -> bool:
        """Watch the tests that were not watched before, then let the caller judge."""
        self.items = {item.nodeid: item for item in session.items}
        self.functions = living(self.files)
        lines = self.store.read_text().splitlines() if self.store.exists() else []
        seen = {test: one for line in lines for test, one in json.loads(line).items()}
        seen |= {test: self._watched(item) for test, item in self.items.items() if test not in seen}
        for test in self.items:
            if seen[test]["passed"]:
                self.seconds[test] = seen[test]["seconds"]
                for file, line in seen[test]["lines"]:
                    self.of_line.setdefault((file, line), set()).add(test)
        self.loop(self)
        return True

    def _watched(self, item: pytest.Item) -> dict[str, Any]:
        sources = frozenset(one.__code__.co_filename for found in self.functions.values() for one in found)

        def watch() -> int:
            found = Watch(sources, _SLOW).run(item)
            with self.store.open("a") as out:
                out.write(json.dumps({item.nodeid: found}) + "\n")
            return 0

        ended = forked(watch, 10 * _SLOW)
        if ended == 0:
            return json.loads(self.store.read_text().splitlines()[-1])[item.nodeid]
        none = {"seconds": _SLOW, "passed": False, "lines": []}
        with self.store.open("a") as out:
            out.write(json.dumps({item.nodeid: none}) + "\n")
        return none

    def of(self, mutant: Mutant) -> list[str]:
        """The tests that run the line of a change, the quickest first, then those that run its function."""
        line, function = (self.of_line.get((mutant.file, at), set()) for at in (mutant.line, mutant.function))
        ordered = [*sorted(line, key=self.seconds.__getitem__)]
        return [*ordered, *sorted(function - line, key=self.seconds.__getitem__)]

    def judge(self, mutant: Mutant) -> int | None:
        """0 for a change that survives, nothing or a signal for one that takes too long, else an exit code."""
        names, left = [], _ALL
        for test in self.of(mutant):
            left -= self.seconds[test]
            if left > 0:
                names.append(test)
        found = forked(lambda: self._judge(mutant, names), 120) if names else 0
        if found == _UNCHANGED:
            raise Unchanged(mutant)
        return found

    def _judge(self, mutant: Mutant, names: list[str]) -> int:
        resource.setrlimit(resource.RLIMIT_AS, (_MEMORY, _MEMORY))
        try:
            put(mutant, self.functions[mutant.file])
        except Unchanged:
            return _UNCHANGED
        for name, following in zip(names, [*names[1:], None], strict=True):
            signal.setitimer(signal.ITIMER_PROF, _PATIENCE + 3 * self.seconds[name])  # ends the process
            item, after = self.items[name], self.items[following] if following else None
            item.ihook.pytest_runtest_protocol(item=item, nextitem=after)
            if item.session.testsfailed:
                return 1
        return 0


def _module(file: str) -> str:
    name = file.removesuffix(".py").removesuffix("/__init__").replace("/", ".")
    return name if name.startswith("hra.") else f"hra.{name}"


def warm() -> None:
    """Kernels without Numba's compiler, and what every test imports; before anything of hra is imported."""
    os.environ["NUMBA_DISABLE_JIT"] = "1"
    os.environ.setdefault("HRA_NO_GL", "1")
    if "numba" in sys.modules or str(ROOT) not in sys.path:
        raise SystemExit("mutants are judged in a process of their own")

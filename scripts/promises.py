#!/usr/bin/env python
"""Run the tests of all promises and print their tables: case, outcome, tests, result.

Run ``python scripts/promises.py [--docs docs/promises.md]`` (`make promises`). The cases stand in tests/cases.toml,
what holds for everything in tests/promises.toml. ``--docs`` puts the tables into that page. The exit code is 1 if a
promise has no test, or one that failed.
"""

from __future__ import annotations

import argparse
import sys
from collections import Counter
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT))

from tests.helpers.promises import everywhere, marked_tests, promises  # noqa: E402

HEAD = ("| | case | outcome | tests | runs | result |", "| --: | -- | -- | -- | --: | -- |")
ALL = ("| promise | tests | runs | result | the long run |", "| -- | -- | --: | -- | -- |")
BEGIN, END = "<!-- made by scripts/promises.py -->", "<!-- until here -->"


class Results:
    """Runs the tests that are wanted, and collects what came of each function, over all its parameters."""

    def __init__(self, wanted: set[str]) -> None:
        self.of: dict[str, Counter[str]] = {}
        self.wanted = wanted

    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        """Leave out what is neither named nor in a file that is named."""
        items[:] = [item for item in items if {_function(item.nodeid), item.nodeid.split("::")[0]} & self.wanted]

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Count calls, and set-ups that failed or were skipped."""
        if report.when == "call" or report.outcome != "passed":
            self.of.setdefault(_function(report.nodeid), Counter())[report.outcome] += 1


def _function(node: str) -> str:
    """File and function; methods have the name of their class in between."""
    path, *_, name = node.split("[")[0].split("::")
    return f"{path}::{name}"


def main() -> int:
    """Run, print, write; the exit code."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--docs", type=Path, help="page whose table is replaced")
    chosen = parser.parse_args()
    tests = marked_tests()
    wanted = {test for found in tests.values() for test in found} | {file for one in everywhere() for file in one.files}
    results = Results(wanted)
    files = sorted({test.split("::")[0] for test in wanted})
    pytest.main(["-q", "-n", "0", "--disable-warnings", *files], plugins=[results])
    table, failed = rows(tests, results.of)
    lines, broken = general(results.of)
    table, failed = table + lines, failed + broken
    print(table)
    if chosen.docs is not None:
        head, _, rest = chosen.docs.read_text().partition(BEGIN)
        chosen.docs.write_text(head + f"{BEGIN}\n{table}{END}" + rest.partition(END)[2])
    print(f"{len(promises())} cases and {len(everywhere())} other promises, {failed} not kept")
    return 1 if failed else 0


def rows(tests: dict[int, list[str]], results: dict[str, Counter[str]]) -> tuple[str, int]:
    """The tables as Markdown, one for each area, and the number of cases that are not kept."""
    lines, area, failed = [], "", 0
    for promise in promises():
        if promise.area != area:
            area = promise.area
            lines += ["", f"### {area}", "", *HEAD]
        found = tests.get(promise.number, [])
        sums = sum((results.get(test, Counter()) for test in found), Counter())
        kept = bool(found) and all(results.get(test, Counter())["passed"] for test in found) and not sums["failed"]
        failed += not kept
        names = "; ".join(test.split("::")[1].removeprefix("test_").replace("_", " ") for test in found)
        cells = (promise.number, promise.case, promise.outcome, names, sums.total(), "kept" if kept else "NOT KEPT")
        lines.append("| " + " | ".join(map(str, cells)) + " |")
    return "\n".join(lines)[1:] + "\n\n", failed


def general(results: dict[str, Counter[str]]) -> tuple[str, int]:
    """The table of what holds for everything, and how many of it are not kept; slow tests are deselected."""
    lines, failed = ["### Everywhere", "", *ALL], 0
    for one in everywhere():
        found = [sums for test, sums in results.items() if test.split("::")[0] in one.files]
        sums = sum(found, Counter())
        kept = bool(sums["passed"]) and not sums["failed"]
        failed += not kept
        files = "; ".join(f"`{file}`" for file in one.files)
        cells = (one.promise, files, sums["passed"], "kept" if kept else "NOT KEPT", one.long)
        lines.append("| " + " | ".join(map(str, cells)) + " |")
    return "\n".join(lines) + "\n\n", failed


if __name__ == "__main__":
    sys.exit(main())

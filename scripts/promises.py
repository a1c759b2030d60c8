#!/usr/bin/env python
"""Run the tests of all cases of tests/cases.toml and print the table: case, outcome, tests, result.

Run ``python scripts/promises.py [--docs docs/promises.md]`` (`make promises`). ``--docs`` puts the
table into that page. The exit code is 1 if a case has no test, or one that failed.
"""

from __future__ import annotations

import argparse
import sys
from collections import Counter
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT))

from tests.helpers.promises import marked_tests, promises  # noqa: E402

HEAD = ("| | case | outcome | tests | runs | result |", "| --: | -- | -- | -- | --: | -- |")
BEGIN, END = "<!-- made by scripts/promises.py -->", "<!-- until here -->"


class Results:
    """Collects what came of each test function, over all its parameters."""

    def __init__(self) -> None:
        self.of: dict[str, Counter[str]] = {}

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Count calls, and set-ups that failed or were skipped."""
        if report.when == "call" or report.outcome != "passed":
            # Methods have the name of their class in between.
            path, *_, name = report.nodeid.split("[")[0].split("::")
            self.of.setdefault(f"{path}::{name}", Counter())[report.outcome] += 1


def main() -> int:
    """Run, print, write; the exit code."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--docs", type=Path, help="page whose table is replaced")
    chosen = parser.parse_args()
    tests = marked_tests()
    results = Results()
    files = sorted({test.split("::")[0] for found in tests.values() for test in found})
    names = " or ".join(sorted({test.split("::")[1] for found in tests.values() for test in found}))
    pytest.main(["-q", "-n", "0", "--disable-warnings", "-k", names, *files], plugins=[results])
    table, failed = rows(tests, results.of)
    print(table)
    if chosen.docs is not None:
        head, _, rest = chosen.docs.read_text().partition(BEGIN)
        chosen.docs.write_text(head + f"{BEGIN}\n{table}{END}" + rest.partition(END)[2])
    print(f"{len(promises())} cases, {failed} not kept")
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


if __name__ == "__main__":
    sys.exit(main())

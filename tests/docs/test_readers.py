"""The page of readers says of each file what comes of what it carries."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.helpers.kept import BEGIN, CASES, END, PAGE, Case, outcome


@pytest.mark.parametrize("case", CASES, ids=lambda case: f"{case.kind}: {case.what}")
def test_nothing_is_lost_without_a_warning_and_the_page_says_so(case: Case, tmp_path: Path):
    found = outcome(case, tmp_path)
    assert found != "lost"
    table = PAGE.read_text("utf-8").partition(BEGIN)[2].partition(END)[0]
    row = f"| {case.kind} | {case.what} | {found} |"
    assert row in table.splitlines(), "run python -m tests.helpers.kept"

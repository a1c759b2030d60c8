"""Every case of bad input has a number, an outcome and tests; the page shows them all."""

from __future__ import annotations

from tests.helpers.promises import ROOT, everywhere, marked_tests, promises


def test_there_are_100_cases_in_order() -> None:
    assert [promise.number for promise in promises()] == list(range(1, 101))
    assert len({promise.case for promise in promises()}) == 100


def test_every_case_has_a_test_and_no_other_number_has() -> None:
    assert sorted(marked_tests()) == [promise.number for promise in promises()]


def test_the_page_lists_every_case_with_its_tests() -> None:
    page = (ROOT / "docs/promises.md").read_text()
    for number, tests in marked_tests().items():
        (row,) = [line for line in page.split("\n") if line.startswith(f"| {number} |")]
        names = [test.partition("::")[2].removeprefix("test_").replace("_", " ") for test in tests]
        assert all(name in row for name in names), f"case {number}: run `make promises`"


def test_what_holds_everywhere_has_tests_and_stands_on_the_page() -> None:
    page, commands = (ROOT / "docs/promises.md").read_text(), (ROOT / "Makefile").read_text()
    for one in everywhere():
        assert one.files and all((ROOT / file).is_file() for file in one.files), one
        assert f"| {one.promise} |" in page, "run `make promises`"
        assert all(f"\n{name.removeprefix('make ')}:" in commands for name in one.long.strip("`").split("`, `") if name)

"""The house style of prose fires on bad sentences, passes good ones, and holds in this repository."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.helpers.scripts import ROOT, script

pytest.importorskip("proselint")
prose = script("scripts/check_prose.py")
HOUSE = prose.House.read()
prose.register(HOUSE)

BAD = {
    "Two windows where the allocation shows most more.": "house.phrases",
    "Plans of anybody's tileset.": "house.phrases",
    "This is what the rest takes for known.": "house.phrases",
    "This is no allocation.": "house.phrases",
    "There is no such\nfile in the folder.": "house.phrases",
    "The fix is to leave it away.": "house.phrases",
    "Copies beside a view were kept in vain.": "house.phrases",
    "Refused are videos and sounds.": "house.inversions",
    "It reads files. Supported is the newest release.": "house.inversions",
    " ".join(f"word{k}" for k in range(41)) + ".": "house.length",
    "The the budget is never exceeded.": "lexical_illusions",
}
GOOD = (
    "An allocation never exceeds its budget. Every answer states its gap.",
    "There is no display; save a screenshot.",
    "The node is no longer resident, and the bound is no more than 1 pixel.",
    "Read the page. Shown values are means.",
    "- " + " ".join(f"first{k}" for k in range(30)) + "\n- " + " ".join(f"second{k}" for k in range(30)),
)


def rules(text: str) -> set[str]:
    """Rules that fire on a page."""
    return {one.rule for one in prose.findings("page.md", prose.prose_of_page(text), HOUSE.enabled)}


@pytest.mark.parametrize("text", BAD)
def test_a_bad_sentence_is_found(text: str) -> None:
    assert any(rule.startswith(BAD[text]) for rule in rules(text))


@pytest.mark.parametrize("text", GOOD)
def test_a_good_sentence_passes(text: str) -> None:
    assert not rules(text)


def test_code_tables_and_targets_of_links_are_not_read() -> None:
    page = "```\nmost more\n```\n\n| most more |\n\n`most more` and [a link](most more)\n\n    most more\n"
    assert not rules(page) and rules(page + "\nmost more\n") == {"house.phrases"}


def test_lines_are_those_of_the_file(tmp_path: Path) -> None:
    page, source = tmp_path / "page.md", tmp_path / "source.py"
    page.write_text("# Title\n\nGood.\n\nWrite it anew.\n")
    source.write_text('"""One.\n\nTwo anew.\n"""\n\nWHAT = "do it anew"\n')
    assert [one.line for one in prose.check(page, HOUSE)] == [5]
    assert [one.line for one in prose.check(source, HOUSE)] == [3, 6]


def test_the_repository_keeps_the_house_style() -> None:
    found = [one for path in prose.house_files(HOUSE) for one in prose.check(path, HOUSE)]
    assert not found
    assert len([*prose.house_files(HOUSE)]) > 500


def test_the_command_ends_with_exit_code_1_where_it_finds_something(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "page.md").write_text("This is no page.\n")
    assert prose.main([str(tmp_path / "page.md")]) == 1
    assert "house.phrases" in capsys.readouterr().out
    assert prose.main([str(ROOT / "README.md")]) == 0

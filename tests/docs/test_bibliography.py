"""The bibliography has every paper that the sources name, and none that they do not."""

from __future__ import annotations

from types import ModuleType

import pytest

from tests.helpers.scripts import script


@pytest.fixture(scope="module")
def bibliography() -> ModuleType:
    return script("scripts/bibliography.py")


def test_every_paper_that_is_named_is_listed(bibliography: ModuleType) -> None:
    found, unknown = bibliography.mentions(bibliography.papers())
    assert not unknown, "add these to docs/bibliography.txt and run scripts/bibliography.py"
    assert not [paper.title for paper, places in found.items() if not places], "no source names these"


def test_the_page_is_up_to_date(bibliography: ModuleType) -> None:
    assert bibliography.PAGE.read_text("utf-8") == bibliography.page(), "run scripts/bibliography.py"


def test_a_paper_in_a_docstring_is_seen_and_an_example_is_not(bibliography: ModuleType) -> None:
    source = '"""Source: J. Nobody, A Paper (2031).\n\n>>> f(2032)\n2032\n"""\n# As in Someone 2033.\nx = 2034\n'
    texts = bibliography.prose(source)
    years = [year[1] for text in texts for year in bibliography._YEAR.finditer(text)]
    assert years == ["2031", "2033"]

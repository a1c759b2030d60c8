"""The Python blocks of tutorials and of some other pages run as they stand, and print what is stated below them."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

DOCS = Path(__file__).parents[1] / "docs"
# The index has no blocks; it leads to the others.
TUTORIALS = [path for path in sorted((DOCS / "tutorials").glob("*.md")) if path.stem != "index"]
TUTORIALS += [DOCS / f"{name}.md" for name in ("how-to-choose", "pools", "residency", "start")]
PAGES = [*TUTORIALS, pytest.param(DOCS / "interop.md", marks=pytest.mark.gl)]
# A block, and what it prints where a block of text follows at once.
BLOCK = re.compile(r"```python\n(.*?)```(?:\n\n```text\n(.*?)```)?", re.DOTALL)


@pytest.mark.slow
@pytest.mark.parametrize("tutorial", PAGES, ids=lambda path: path.stem)
def test_every_python_block_runs(tutorial: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys):
    monkeypatch.chdir(tmp_path)
    names: dict[str, object] = {"__name__": "__main__"}  # as in a script
    for block, stated in BLOCK.findall(tutorial.read_text("utf-8")):
        exec(compile(block, str(tutorial), "exec"), names)
        printed = capsys.readouterr().out
        assert not stated or printed == stated


@pytest.mark.parametrize("tutorial", PAGES, ids=lambda path: path.stem)
def test_blocks_compile_and_links_lead_somewhere(tutorial: Path):
    text = tutorial.read_text("utf-8")
    assert BLOCK.search(text)
    for block, _ in BLOCK.findall(text):
        compile(block, str(tutorial), "exec")
    links = re.findall(r"\]\(([^)#]+)\)", text)
    assert not [link for link in links if "://" not in link and not (tutorial.parent / link).exists()]

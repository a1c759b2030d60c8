"""The Python blocks of every tutorial, and of the page on residency, run as they stand, one after the other."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

DOCS = Path(__file__).parents[1] / "docs"
# The index has no blocks; it leads to the others.
TUTORIALS = [path for path in sorted((DOCS / "tutorials").glob("*.md")) if path.stem != "index"]
TUTORIALS.append(DOCS / "residency.md")


@pytest.mark.slow
@pytest.mark.parametrize("tutorial", TUTORIALS, ids=lambda path: path.stem)
def test_every_python_block_runs(tutorial: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.chdir(tmp_path)
    names: dict[str, object] = {}
    for block in _blocks(tutorial):
        exec(compile(block, str(tutorial), "exec"), names)


@pytest.mark.parametrize("tutorial", TUTORIALS, ids=lambda path: path.stem)
def test_blocks_compile_and_links_lead_somewhere(tutorial: Path):
    assert _blocks(tutorial)
    for block in _blocks(tutorial):
        compile(block, str(tutorial), "exec")
    links = re.findall(r"\]\(([^)#]+)\)", tutorial.read_text("utf-8"))
    assert not [link for link in links if "://" not in link and not (tutorial.parent / link).exists()]


def _blocks(tutorial: Path) -> list[str]:
    return re.findall(r"```python\n(.*?)```", tutorial.read_text("utf-8"), re.DOTALL)

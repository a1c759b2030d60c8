"""Tutorials as notebooks: the same words and code as their pages, and they run."""

from __future__ import annotations

import re
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

from tests.helpers.scripts import ROOT, script

for package in ("jupytext", "nbformat"):  # importing nbformat takes seconds, and every process imports this file
    if find_spec(package) is None:
        pytest.skip(f"needs {package}", allow_module_level=True)
FOLDER = ROOT / "docs/tutorials/notebooks"
NAMES = ["273-tokens", "from-a-scan-to-a-budget", "streaming-textures"]


def kept(name: str) -> Any:
    """The notebook as its file has it."""
    import nbformat

    return nbformat.read(FOLDER / f"{name}.ipynb", as_version=4)


@pytest.mark.parametrize("name", NAMES)
def test_a_notebook_says_what_its_page_says(name: str) -> None:
    made = script("scripts/notebooks.py").notebook(name)
    written = kept(name)
    assert [cell.source for cell in made.cells] == [cell.source for cell in written.cells], "run scripts/notebooks.py"
    blocks = re.findall(r"```python\n(.*?)```", (FOLDER.parent / f"{name}.md").read_text("utf-8"), re.DOTALL)
    code = [cell.source for cell in written.cells if cell.cell_type == "code"]
    assert len(code) == len(blocks) and all(
        cell.startswith(block.strip()) for cell, block in zip(code, blocks, strict=True)
    )


@pytest.mark.parametrize("name", NAMES)
def test_links_of_a_notebook_lead_somewhere(name: str) -> None:
    cells = kept(name).cells
    text = "\n".join(cell.source for cell in cells if cell.cell_type == "markdown")
    links = re.findall(r"\]\(([^)#]+)[^)]*\)", text)
    assert not [link for link in links if "://" not in link and not (FOLDER / link).exists()]


@pytest.mark.slow
@pytest.mark.parametrize("name", NAMES)
def test_a_notebook_runs_and_shows_pictures(name: str, tmp_path: Path) -> None:
    client = pytest.importorskip("nbclient").NotebookClient
    ran = client(kept(name), resources={"metadata": {"path": str(tmp_path)}})
    cells = ran.execute().cells
    outputs = [output for cell in cells if cell.cell_type == "code" for output in cell.outputs]
    assert any("image/png" in output.get("data", {}) for output in outputs)

#!/usr/bin/env python
"""Write the tutorials that need nothing but the shipped samples as notebooks, to docs/tutorials/notebooks.

``make notebooks`` writes and runs them. The Markdown page is the source of both: its text is cells of text, its Python
blocks are cells of code, and where a block makes something that draws itself the notebook shows it.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import jupytext
import nbformat

TUTORIALS = Path(__file__).parents[1] / "docs/tutorials"
# The page, and by block (from 1) what its notebook shows at the end: pictures that the objects draw of themselves.
_PICTURE = "from PIL import Image\n\nImage.fromarray({})"
SHOWN = {
    "273-tokens": {1: "chosen", 2: "allocation", 4: _PICTURE.format("tokens.overlay(image, chosen)"), 11: "sets[0]"},
    "from-a-scan-to-a-budget": {1: "clusters", 3: "surface", 4: "best", 9: "chain"},
    "streaming-textures": {
        3: "allocation",
        4: _PICTURE.format("(255 * textures.render(scene, resident, camera)).round().astype(np.uint8)"),
    },
}


def notebook(name: str) -> Any:
    """The tutorial as a notebook without outputs."""
    text = (TUTORIALS / f"{name}.md").read_text("utf-8")
    made = jupytext.reads(linked(text), fmt="md")
    code = [cell for cell in made.cells if cell.cell_type == "code"]
    for number, shown in SHOWN[name].items():
        code[number - 1].source += f"\n{shown}"
    made.metadata["kernelspec"] = {"display_name": "Python 3", "language": "python", "name": "python3"}
    for number, cell in enumerate(made.cells):
        cell["id"] = f"cell-{number}"  # by chance otherwise, so that every run would differ
    return made


def linked(text: str) -> str:
    """The text with its links seen from the folder of the notebooks."""
    return re.sub(r"\]\((?!https?:|#)([^)]+)\)", r"](../\1)", text)


def main() -> None:
    """Write all notebooks."""
    folder = TUTORIALS / "notebooks"
    folder.mkdir(exist_ok=True)
    for name in SHOWN:
        nbformat.write(notebook(name), folder / f"{name}.ipynb")


if __name__ == "__main__":
    main()

"""Pages to move a budget on, of the shipped samples, which explore.md embeds."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from hra import samples
from hra.lab.commands.explore import explore

_PAGES = {
    "tokens.html": ("page.png", "what does the figure show?", None),
    "mesh.html": ("skull.ply", "", None),
    "texture.html": ("earth.jpg", "", "texture"),
}


def write_pages(app: Any) -> None:
    """Write the pages that are not there yet; ``make clean-docs`` removes them."""
    folder = Path(app.srcdir) / "_extra/explore"
    folder.mkdir(parents=True, exist_ok=True)
    for name, (sample, question, view) in _PAGES.items():
        if not app.config.hra_quick and not (folder / name).exists():
            explore([samples.path(sample)], question, view, None, folder / name)


def setup(app: Any) -> dict[str, Any]:
    """Called by Sphinx."""
    (Path(app.srcdir) / "_extra").mkdir(exist_ok=True)
    app.connect("builder-inited", write_pages)
    return {"parallel_read_safe": True}

"""Pages to move a budget on, of the shipped samples, which explore.md embeds."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from hra import samples
from hra.files.atomic_write import write_atomically
from hra.pages.explore.page import render
from hra.pages.explore.request import PageRequest, views_of

_QUESTION = "what does the figure show?"
# What each page shows: samples with the kind of each, and a question.
_PAGES = {
    "tokens.html": ({"page.png": "tokens"}, _QUESTION),
    "mesh.html": ({"skull.ply": "mesh"}, ""),
    "texture.html": ({"earth.jpg": "texture"}, ""),
    "flight.html": ({"earth.jpg": "flight"}, ""),
    "pool.html": ({"page.png": "tokens", "skull.ply": "mesh", "earth.jpg": "texture"}, _QUESTION),
}


def write_pages(app: Any) -> None:
    """Write the pages that are not there yet; ``make clean`` removes them."""
    folder = Path(app.srcdir) / "_extra/explore"
    folder.mkdir(parents=True, exist_ok=True)
    for name, (shown, query) in _PAGES.items():
        if not app.config.hra_quick and not (folder / name).exists():
            sources = tuple((samples.path(sample), kind) for sample, kind in shown.items())
            request = PageRequest(sources, query, None, len(sources) > 1)
            write_atomically(folder / name, render(request.title, views_of(request, lambda _: None)).encode())


def setup(app: Any) -> dict[str, Any]:
    """Called by Sphinx."""
    (Path(app.srcdir) / "_extra").mkdir(exist_ok=True)
    app.connect("builder-inited", write_pages)
    return {"parallel_read_safe": True}

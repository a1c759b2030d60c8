"""Pages to move a budget on, of the shipped samples, which explore.md embeds."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from hra import samples
from hra.cli.explore import explore

_QUESTION = "what does the figure show?"
_PAGES = {
    "tokens.html": {"inputs": ["page.png"], "query": _QUESTION},
    "mesh.html": {"inputs": ["skull.ply"]},
    "texture.html": {"inputs": ["earth.jpg"], "view": "texture"},
    "flight.html": {"inputs": ["earth.jpg"], "view": "flight"},
    "pool.html": {"inputs": ["page.png", "skull.ply"], "query": _QUESTION, "ground": "earth.jpg", "pool": True},
}


def write_pages(app: Any) -> None:
    """Write the pages that are not there yet; ``make clean-docs`` removes them."""
    folder = Path(app.srcdir) / "_extra/explore"
    folder.mkdir(parents=True, exist_ok=True)
    for name, options in _PAGES.items():
        if not app.config.hra_quick and not (folder / name).exists():
            explore(**{key: _found(value) for key, value in options.items()}, out=folder / name)


def _found(value: Any) -> Any:
    """Names of samples as their files."""
    if isinstance(value, list):
        return [_found(one) for one in value]
    return samples.path(value) if value in samples.names() else value


def setup(app: Any) -> dict[str, Any]:
    """Called by Sphinx."""
    (Path(app.srcdir) / "_extra").mkdir(exist_ok=True)
    app.connect("builder-inited", write_pages)
    return {"parallel_read_safe": True}

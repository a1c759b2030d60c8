"""One HTML file that holds its data, its style and its program."""

from __future__ import annotations

import html
import json
from importlib import resources
from typing import Any

from hra.domains.tokens.pictures.sheet import LEVEL_COLOURS

_PROGRAMS = ("unpack", "curve", "strip", "tokens", "mesh", "texture", "flight", "pool", "page")


def render(title: str, views: list[dict[str, Any]], controls: str = "") -> str:
    """The page.

    Parameters
    ----------
    views : one record for each thing to look at, with its "kind", its "tracks" (see `Track.record`) and what its view
        draws.
    controls : HTML above the views, trusted.
    """
    colours = ["#" + colour.tobytes().hex() for colour in LEVEL_COLOURS]
    # A closing tag within a name would end the element that holds the data.
    data = json.dumps({"title": title, "level_colours": colours, "views": views}, allow_nan=False).replace(
        "<", "\\u003c"
    )
    parts = {
        "title": html.escape(title),
        "controls": controls,
        "style": _file("page.css"),
        "data": data,
        "program": "\n".join(_file(f"{name}.js") for name in _PROGRAMS),
    }
    page = _file("page.html")
    for name, text in parts.items():
        page = page.replace(f"<!--{name}-->", text, 1)
    return page


def _file(name: str) -> str:
    return (resources.files("hra.pages.explore") / "web" / name).read_text("utf-8")

"""Links between the site of the library and that of its laboratory, which lies in the folder ``lab`` of the first.

Sphinx knows the pages of one site only. Sources link to files, so that they can be followed in the repository, too.
"""

from __future__ import annotations

import html
import os
import re
from pathlib import Path
from typing import Any

# Where the pages of each folder are found on the site of the library.
_SITES = {"docs": "", "examples/lab/docs": "lab/"}
_LINK = re.compile(r"\[([^\]]+)\]\(([^)\s:#]+)\.md(#[^)\s]*)?\)")


def link_sites(app: Any, name: str, content: list[str]) -> None:
    """Turn links to Markdown files of the other site into links to its pages."""
    source = Path(app.srcdir)
    here = "lab/" if (source / "decisions.md").exists() else ""

    def linked(found: re.Match[str]) -> str:
        target = os.path.normpath(source / Path(name).parent / f"{found[2]}.md")
        root = source.parents[2] if here else source.parent
        path = os.path.relpath(target, root)
        folder = next((one for one in sorted(_SITES, key=len, reverse=True) if path.startswith(f"{one}/")), None)
        if folder is None or _SITES[folder] == here:
            return found[0]
        page = _SITES[folder] + path.removeprefix(f"{folder}/").removesuffix(".md") + ".html"
        way = os.path.relpath(page, Path(here + name).parent)
        text = re.sub(r"`([^`]+)`", r"<code>\1</code>", html.escape(found[1], quote=False))
        return f'<a class="reference" href="{way}{found[3] or ""}">{text}</a>'

    content[0] = _LINK.sub(linked, content[0])


def setup(app: Any) -> dict[str, Any]:
    """Called by Sphinx."""
    app.connect("source-read", link_sites)
    return {"parallel_read_safe": True}

"""The report: one HTML file with its pictures inside, the pictures beside it, and the figures as JSON."""

from __future__ import annotations

import base64
import html
from string import Template
from typing import Any

from hra.pages.demo.words import conclusion, label, shown

_PAGE = Template("""<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<title>hra demo</title><style>
body { font: 16px/1.5 system-ui, sans-serif; max-width: 70rem; margin: 2rem auto; padding: 0 1rem; color: #222 }
h1 { font-size: 1.6rem; line-height: 1.25 } h2 { margin-top: 3rem } .found { font-size: 1.1rem; font-weight: 600 }
img { display: block; width: 100%; height: auto; margin: 1rem 0 } .scroll { overflow-x: auto }
table { border-collapse: collapse; width: 100%; margin: 1rem 0 }
th, td { border-bottom: 1px solid #ddd; padding: .3rem .8rem .3rem 0; text-align: left; vertical-align: top }
td + td, th + th { text-align: right; font-variant-numeric: tabular-nums }
</style></head><body><h1>hra: which level of detail where, within this budget?</h1>
<p>One allocator, three kinds of budget, real data. Every number was computed in the run that wrote this page. No budget
was exceeded, and every answer states how much more any other choice could have gained at most. Beside this file is
<a href="explore.html">a page on which you move the budget</a>: tokens, triangles and bytes from one pool.</p>
$sections</body></html>
""")

_WORDS = {
    "meshes": (
        "Meshes: triangles",
        "A skull as a graph of clusters of at most 64 triangles, cut to a triangle budget and to a pixel error.",
    ),
    "textures": (
        "Textures: bytes",
        "An Earth map of 4096 x 2048 texels in tiles, streamed along a flight; the pool holds in every frame.",
    ),
    "tokens": (
        "Visual tokens",
        "273 patches of 16 x 16 pixels at several levels. PSNR is measured on the image rebuilt from these tokens "
        "alone; the grid takes the 273 most relevant finest patches, uniform down-sampling spreads 273 patches evenly. "
        "The gains are relevance-weighted squared error removed from a canvas of mean colour. Relevance moves tokens "
        "to what the query is about, so the error of the whole image may well rise: compare the same pyramid without a "
        "question.",
    ),
    "pool": (
        "One pool for geometry and texture",
        "Both metrics measure squared screen displacement in pixels, so one byte budget can be spent on both at once.",
    ),
}


def render_html(record: dict[str, Any], pictures: dict[str, dict[str, bytes]]) -> str:
    """The self-contained page for the figures ``record`` and the PNG ``pictures`` of every section."""
    return _PAGE.substitute(sections="".join(_section(name, record[name], pictures[name]) for name in _WORDS))


def _section(name: str, figures: dict[str, Any], pictures: dict[str, bytes]) -> str:
    title, words = _WORDS[name]
    coded = {key: base64.b64encode(data).decode("ascii") for key, data in pictures.items()}
    inline = "".join(f'<img alt="{key}" src="data:image/png;base64,{data}">' for key, data in coded.items())
    found = html.escape(conclusion(name, figures))
    table = _table(figures.get("images", {"": figures}))
    return f'<h2>{html.escape(title)}</h2><p class="found">{found}</p><p>{html.escape(words)}</p>{inline}{table}'


def _table(columns: dict[str, dict[str, Any]]) -> str:
    """One column of figures per entry of ``columns``, all with the same rows."""
    names = next(iter(columns.values()))
    rows = [(label(name), *(shown(name, of[name]) for of in columns.values())) for name in names]
    head = f"<tr>{''.join(f'<th>{html.escape(name)}</th>' for name in ('', *columns))}</tr>" if len(columns) > 1 else ""
    lines = ("".join(f"<td>{html.escape(cell)}</td>" for cell in row) for row in rows)
    return f'<div class="scroll"><table>{head}{"".join(f"<tr>{line}</tr>" for line in lines)}</table></div>'


def picture_files(pictures: dict[str, dict[str, bytes]]) -> dict[str, bytes]:
    """Every picture by the name of a PNG file of its own."""
    return {f"{name}.png": data for section in pictures.values() for name, data in section.items()}

"""The report: one HTML file with its pictures inside, the pictures beside it, and the figures as JSON."""

from __future__ import annotations

import base64
import html
from string import Template
from typing import Any

from hra.console import readable

_PAGE = Template("""<!doctype html>
<html lang="en"><head><meta charset="utf-8"><title>hra demo</title><style>
body { font: 15px/1.5 system-ui, sans-serif; max-width: 70rem; margin: 2rem auto; padding: 0 1rem; color: #222 }
table { border-collapse: collapse; margin: 1rem 0 } td { border-bottom: 1px solid #ddd; padding: .2rem 1.2rem .2rem 0 }
td + td { text-align: right; font-variant-numeric: tabular-nums } img { max-width: 100%; margin: .5rem 0 }
</style></head><body><h1>hra: which level of detail where, within this budget?</h1>
<p>One allocator, three kinds of budget, real data. Every figure below was computed in the run that wrote this page.
<b>gap</b> bounds how much more any other choice could gain, as a share of the best possible gain;
<b>residual gap</b> does the same for the error that remains, which is the stricter test.</p>
$sections</body></html>
""")

_WORDS = {
    "meshes": (
        "Meshes: triangles",
        "A skull as a graph of clusters of at most 128 triangles, cut to a triangle budget and to a pixel error.",
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
        "to what the query is about, so the error of the whole image may well rise: compare oracle_psnr_db, the same "
        "pyramid with relevance 1 everywhere.",
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
    inline = "".join(f'<img alt="{key}" src="data:image/png;base64,{_base64(data)}">' for key, data in pictures.items())
    table = _table(figures.get("images", {"": figures}))
    return f"<h2>{html.escape(title)}</h2><p>{html.escape(words)}</p>{inline}{table}"


def _table(columns: dict[str, dict[str, Any]]) -> str:
    """One column of figures per entry of ``columns``, all with the same rows."""
    names = next(iter(columns.values()))
    rows = [("", *columns), *((name, *(figures[name] for figures in columns.values())) for name in names)]
    lines = ("".join(f"<td>{html.escape(readable(value))}</td>" for value in row) for row in rows)
    return f"<table>{''.join(f'<tr>{line}</tr>' for line in lines)}</table>"


def _base64(data: bytes) -> str:
    return base64.b64encode(data).decode("ascii")


def picture_files(pictures: dict[str, dict[str, bytes]]) -> dict[str, bytes]:
    """Every picture by the name of a PNG file of its own."""
    return {f"{name}.png": data for section in pictures.values() for name, data in section.items()}

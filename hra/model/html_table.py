"""Tables as notebooks show them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape


def html_table(rows: Iterable[Sequence[str]], head: Sequence[str] = ()) -> str:
    """``rows`` as an HTML table, under a ``head`` if there is one; the first column is aligned to the left."""
    body = "".join(_row(row, "td") for row in rows)
    return f"<table>{_row(head, 'th') if head else ''}{body}</table>"


def _row(cells: Sequence[str], kind: str) -> str:
    sides = ("left" if number == 0 else "right" for number in range(len(cells)))
    styled = (f'<{kind} style="text-align: {side}">{escape(text)}' for side, text in zip(sides, cells, strict=True))
    return f"<tr>{''.join(f'{cell}</{kind}>' for cell in styled)}</tr>"

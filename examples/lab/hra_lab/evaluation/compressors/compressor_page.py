"""The page about compressors."""

from __future__ import annotations

from typing import Any

from hra_lab.templates import template

_PAGE = template(__package__, "compressor_page.page.txt")


def render(record: dict[str, Any]) -> dict[str, bytes]:
    """The page by its path in the output folder.

    Parameters
    ----------
    record : of `hra_lab.evaluation.compressors.run.run`.
    """
    pictures = list(dict.fromkeys(row["picture"] for row in record["rows"]))
    text = _PAGE.substitute(
        cells=f"{record['cells']:,}",
        base=record["rows"][0]["single"],
        width=record["width"],
        steps=f"{record['steps']:,}",
        tables="\n".join(_table(name, record["rows"]) for name in pictures),
        findings="\n".join(f"- {line}" for line in findings(record["rows"])),
    )
    return {"compressors.md": text.encode()}


def line_of(row: dict[str, Any]) -> str:
    """Kind, counts and what is left, for a table or a terminal."""
    counts = f"{row['base']} | {row['single']} | {row['base'] + row['single']}"
    return f"{row['kind']} | {counts} | {100 * row['left']:.1f} | {100 * row['left_where_it_matters']:.1f}"


def findings(rows: list[dict[str, Any]]) -> list[str]:
    """Which way leaves least, by picture, at the count of compression alone."""
    alone = [row for row in rows if row["base"] + row["single"] == rows[0]["single"]]
    lines = []
    for name in dict.fromkeys(row["picture"] for row in alone):
        mine = [row for row in alone if row["picture"] == name]
        best, where = (min(mine, key=lambda row: row[key]) for key in ("left", "left_where_it_matters"))
        lines.append(f"`{name}`, {rows[0]['single']} tokens: everywhere {_best(best, 'left')}; "
                     f"where it matters {_best(where, 'left_where_it_matters')}.")  # fmt: skip
    return lines


def _best(row: dict[str, Any], key: str) -> str:
    counts = f"{row['base']} + {row['single']}"
    return f"*{row['kind']}* ({counts}) leaves least, {100 * row[key]:.1f} %"


def _table(picture: str, rows: list[dict[str, Any]]) -> str:
    head = "| | base tokens | single patches | together | left, % | left where it matters, % |\n"
    head += "| --- | --- | --- | --- | --- | --- |\n"
    lines = "".join(f"| {line_of(row)} |\n" for row in rows if row["picture"] == picture)
    return f"## {picture}\n\n{head}{lines}"

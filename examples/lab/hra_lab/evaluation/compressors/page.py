"""The page about compressors."""

from __future__ import annotations

from string import Template
from typing import Any

_PAGE = Template("""\
# Selection and compression

Made by `hra eval compressors --out examples/lab/docs`. Selection keeps some of an encoder's tokens; compression makes
few of all of them, $cells to $base here. The two are parts of their own and combine freely:

| | allocator |
| --- | --- |
| selection alone | `GridTopK()`, `UniformGrid()` or any reducer |
| compression alone | `GestaltSaccades(gestalt=CompressedGestalt(16, 16))` at a budget of 256 |
| both | the same at any larger budget: what is beyond the base are single patches |

`CompressedGestalt(compressor=...)` takes the mean over each cell by default, or a learned compressor such as
[`Resampler`](../../../domains/tokens/learned/resampler.py): cross-attention from each token to the features around
it, which starts as pooling. It is trained here on parts of the three samples and judged on others, for $steps steps
of some ten milliseconds. The features are $width projected numbers of each patch's pixels, **not those of a vision
encoder**, and nothing was asked of a language model: this shows what the parts do, not what they are worth in a model.

What is left: the share of the features' variance that the tokens do not tell, over all $cells patches and over the
tenth of most relevance. Single patches tell theirs exactly. Every other patch is taken for the kept one next to it
(selection), for the token of its cell (*repeated*), or for what a linear map makes of that token (*decoded*), fitted on
the parts that were trained on. 100 % is what the mean of the picture leaves.

$tables
## What this says

$findings
""")


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

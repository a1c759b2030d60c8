"""The page about reducers."""

from __future__ import annotations

import inspect
from typing import Any

from hra.domains import tokens
from hra_lab.evaluation.reducers.reducer_text import NEEDS, PAGE

# Of a language model of 32 layers, whose first two run once more to choose by its attention.
_LAYERS, _SCORING = 32, 2
_PLACES = {"tome": "middle of what was merged", "prunevid": "of the clusters' centres"}


def render(record: dict[str, Any]) -> dict[str, bytes]:
    """The page by its path in the output folder.

    Parameters
    ----------
    record : of `hra_lab.evaluation.reducers.run.run`.
    """
    cells, budget = record["side"] ** 2, record["budgets"][-1]
    text = PAGE.substitute(
        cells=f"{cells:,}",
        width=f"{record['width']:,}",
        budget=budget,
        budgets=", ".join(map(str, record["budgets"])),
        rows="\n".join(_line(row, cells, budget) for row in record["rows"]),
        compositions="\n".join(_composition(row["name"]) for row in record["rows"]),
        differences="\n".join(_difference(row["name"]) for row in record["rows"]),
    )
    return {"reducers.md": text.encode()}


def _line(row: dict[str, Any], cells: int, budget: int) -> str:
    average = budget + (_SCORING * cells / _LAYERS if row["needs"] == "language" else 0)
    plain = "-" if row["plain_cpu_s"] is None else f"{1e3 * row['plain_cpu_s']:.0f}"
    places = _PLACES.get(row["name"], "of the kept cells")
    numbers = f"{'yes' if row['exact'] else 'no'} | {1e3 * row['cpu_s']:.0f} | {plain} | {budget} | {average:.0f}"
    return f"| `{row['name']}` | {numbers} | {NEEDS[row['needs']]} | {places} |"


def _composition(name: str) -> str:
    allocator = tokens.REDUCERS[name]()
    rules = getattr(allocator.traversal, "rules", None)
    if allocator.relevance.__class__.__name__ == "PredictedRelevance":
        return f"| `{name}` | `{allocator.traversal!r}` by `{allocator.relevance!r}` | `{allocator.builder!r}` |"
    if rules is None:
        return f"| `{name}` | `{allocator.traversal!r}` by `{allocator.metric!r}` | `{allocator.builder!r}` |"
    parts = ", ".join(f"{share:g} `{rule!r}`" for share, rule in rules)
    return f"| `{name}` | {parts} | `{getattr(allocator.builder, 'merging', None)!r}` |"


def _difference(name: str) -> str:
    text = inspect.getdoc(tokens.REDUCERS[name]) or ""
    return f"- `{name}`: {' '.join(text.split())}"
